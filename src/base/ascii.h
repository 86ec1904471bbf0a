/*
 * base/ascii.h - what bytes are in ASCII, whatever the locale.
 */
#ifndef BASE_ASCII_H
#define BASE_ASCII_H

#include "base/mem.h"

/* Space, tab, line feed, carriage return, vertical tab, form feed. */
static inline bool ascii_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The four of them that JSON knows (RFC 8259). */
static inline bool json_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* The value of a hexadecimal digit, -1: it is none. */
static inline int ascii_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Without white space at its ends. */
static inline struct span ascii_trim(const char *s, size_t n)
{
    while (n && ascii_space(s[0])) {
        s++;
        n--;
    }
    while (n && ascii_space(s[n - 1]))
        n--;
    return (struct span){s, n};
}

static inline bool ascii_blank(const char *s, size_t n)
{
    return !ascii_trim(s, n).n;
}

#endif
