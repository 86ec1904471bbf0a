/*
 * text/uni.h - what kind of character is this?
 *
 * Our own table, so that token ids depend neither on the PCRE2 nor on the
 * libc that is installed. Source: Unicode 14.0.0 general categories and
 * White_Space, folded to seven classes by contrib/gen-uni.
 */
#ifndef TEXT_UNI_H
#define TEXT_UNI_H

#include "base/err.h"

enum uni_class {
    UNI_OTHER, /* control, format, unassigned, private use */
    UNI_L,     /* letters */
    UNI_N,     /* numbers */
    UNI_SPACE, /* White_Space */
    UNI_P,     /* punctuation */
    UNI_S,     /* symbols */
    UNI_M,     /* combining marks */
};

/* Any value is accepted; above U+10FFFF it is UNI_OTHER. */
enum uni_class uni_class(uint32_t cp);

#endif
