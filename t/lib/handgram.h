/*
 * t/lib/handgram.h - a grammar whose automata are written down in C, so that
 * machine and masks are tested without the compiler.
 *
 * Rule 0, a list: `[` then values with commas, 1 to 3 of them, then `]`; white
 * space between. A value is a list, a string of at most 5 characters (UTF-8, no
 * controls, quotes, backslashes), or a word: `"`, at least 3 of a-z, `"`,
 * mark 2 (so "abc" can be read in two ways).
 */
#ifndef T_HANDGRAM_H
#define T_HANDGRAM_H

#include "gram/grammar.h"

extern struct grammar handgram;

#endif
