/*
 * chat/detok.h - pieces of tokens to whole characters.
 *
 * Holds back the head of a character whose end may come with the next token.
 * Bytes that cannot become a character are dropped: U+FFFD is never made.
 */
#ifndef CHAT_DETOK_H
#define CHAT_DETOK_H

#include "base/buf.h"

struct detok {
    char held[4];
    size_t n;
};

void detok_init(struct detok *d);
/* Append the whole characters of held + p[0..n) to `out`. */
void detok_feed(struct detok *d, const char *p, size_t n, struct buf *out);
/* The text is over, or another one begins: forget a cut character. */
void detok_end(struct detok *d);

#endif
