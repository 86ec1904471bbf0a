/*
 * api/compat_rows.h - short words for the tables of compat_*.c alone.
 */
#ifndef API_COMPAT_ROWS_H
#define API_COMPAT_ROWS_H

#include "api/compat.h"

#include <math.h>

#define H USE_HONOURED
#define X USE_EXTENSION
#define N USE_NEUTRAL
#define R USE_REFUSED

#define OWN(text) 0, 0, 0, 0, NULL, 0, text
#define IS(types) types, 0, 0, 0, NULL, 0, NULL
#define INT(min, max) TYPE_INT, min, max, false, NULL, 0, NULL
#define NUM(min, max) TYPE_NUM, min, max, false, NULL, 0, NULL
#define ABOVE(min, max) TYPE_NUM, min, max, true, NULL, 0, NULL
#define WORD(words) TYPE_WORD, 0, 0, 0, words, 0, NULL
#define ANYTHING 0, 0, 0, 0, NULL, 0, NULL
#define NOT(harmless, text) 0, 0, 0, 0, NULL, harmless, text

#define EFFORT TYPE_WORD | TYPE_INT, 0, INT32_MAX, false, compat_efforts, 0, \
               NULL
/* Tokens of reasoning; 0 is no cap. */
#define BUDGET INT(0, 2147483648.0)
#define NO_CAP "no cap"

/* Sampling that is neither Responses' nor Messages' own. Its argument is the
 * member `use`. */
#define OUR_SAMPLING(...)                                                     \
    {"min_p", __VA_ARGS__, NUM(0, 1), "0 (off)"},                             \
    {"seed", __VA_ARGS__, TYPE_INT, -HUGE_VAL, HUGE_VAL, false, NULL, 0,      \
     "an integer from -2^63 to 2^63 - 1", "a new one per request"},           \
    {"presence_penalty", __VA_ARGS__, NUM(-2, 2), "0"},                       \
    {"frequency_penalty", __VA_ARGS__, NUM(-2, 2), "0"},                      \
    {"repetition_penalty", __VA_ARGS__, ABOVE(0, 100), "1 (off)"}

#endif
