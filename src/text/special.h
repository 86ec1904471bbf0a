/*
 * text/special.h - tokens that are recognised before anything is merged.
 *
 * Threads: immutable after special_init.
 */
#ifndef TEXT_SPECIAL_H
#define TEXT_SPECIAL_H

#include "text/lex.h"

struct special {
    const struct lex *lex; /* borrowed */
    int32_t *id;           /* [n], ordered by raw spelling */
    size_t n;
    bool first[256];       /* does one begin with this byte? */
};

/* Which tokens a set holds; see tok.h for the reason. */
enum special_set {
    SPECIAL_MARKUP,  /* control and user-defined */
    SPECIAL_CONTENT, /* user-defined white space */
};

enum st special_init(struct special *p, const struct lex *lex,
                     enum special_set set, struct err *e) MUST_CHECK;
void special_release(struct special *p);

/* A recognised token: at is its offset, n its length; id -1 for none. */
struct special_hit {
    size_t at, n;
    int32_t id;
};
/* The leftmost one in s[0..n), the longest there. */
struct special_hit special_next(const struct special *p, const char *s,
                                size_t n);

#endif
