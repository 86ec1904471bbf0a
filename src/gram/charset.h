/*
 * gram/charset.h - a set of Unicode code points.
 *
 * Ranges, ascending, not touching one another, none above U+10FFFF and none
 * of surrogates: what UTF-8 can hold. Lives in an arena; a set that could not
 * grow is `failed`, looked at once at the end (gx_chars does).
 */
#ifndef GRAM_CHARSET_H
#define GRAM_CHARSET_H

#include "base/mem.h"

/* Adding anywhere but at the end moves what lies behind, so a set is bounded.
 * All classes of Unicode have far fewer ranges. */
#define CHARSET_MAX 8192

struct char_range {
    uint32_t lo, hi;
};

struct charset {
    struct arena *arena;
    struct char_range *p; /* [n] */
    size_t n, cap;
    bool failed; /* over CHARSET_MAX, or out of memory */
};

void charset_init(struct charset *c, struct arena *a);
/* The same, with room for n ranges that the caller has: most sets are small.
 * The set is gone when they are. */
void charset_init_few(struct charset *c, struct arena *a,
                      struct char_range *few, size_t n);
#define CHARSET_FEW 16 /* a good n */
/* Nothing is in it; the memory stays for what comes next. */
void charset_clear(struct charset *c);
/* lo..hi without surrogates and what is above U+10FFFF; lo > hi: nothing. */
void charset_add(struct charset *c, uint32_t lo, uint32_t hi);
void charset_add_set(struct charset *c, const struct charset *other);
/* Whatever was not in it. */
void charset_invert(struct charset *c);
/* And every character that differs only by case from one that is in it
 * (simple case folding). */
void charset_fold(struct charset *c);
/* General category by its short or long name ("L", "Lu", "Letter"), perhaps
 * behind gc= or General_Category=, or Any, ASCII, Assigned, White_Space;
 * false: there is no such class. */
bool charset_add_class(struct charset *c, struct span name) MUST_CHECK;
bool charset_has(const struct charset *c, uint32_t cp);

#endif
