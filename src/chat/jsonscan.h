/*
 * chat/jsonscan.h - the structure of JSON that arrives byte by byte.
 *
 * Says where strings and containers begin and end, and as early as it can
 * that something is no JSON. It keeps no text. Numbers and words are looked
 * at loosely: what it accepts still goes through json_parse().
 */
#ifndef CHAT_JSONSCAN_H
#define CHAT_JSONSCAN_H

#include "json/read.h"

enum js_event {
    JS_MORE,
    JS_OPEN,       /* { or [: depth counts it */
    JS_CLOSE,      /* } or ]: depth does not count it any more */
    JS_STRING,     /* the opening quote; see `key` */
    JS_STRING_END, /* the closing quote; see `key` */
    JS_BAD,
};

struct jsonscan {
    unsigned depth;             /* open containers */
    bool array[JSON_DEPTH_MAX]; /* [depth] what they are */
    bool in_string, escaped;
    bool key;                   /* this string is a member's name */
    bool bad;                   /* of jsonscan_until: it is no JSON */
    int want;
};

void jsonscan_init(struct jsonscan *s);
enum js_event jsonscan_byte(struct jsonscan *s, char c);
/* How many bytes of p[0..n) are ordinary ones of the string it is in: they
 * need not be fed. */
size_t jsonscan_plain(const struct jsonscan *s, const char *p, size_t n);
/* p[0..n), the next bytes, of which *at are read: reads on to the first `c`
 * outside of strings, or to n. What is no JSON has no strings either. */
void jsonscan_until(struct jsonscan *s, const char *p, size_t n, char c,
                    size_t *at);
/* Is the innermost open container an object? */
static inline bool jsonscan_in_object(const struct jsonscan *s)
{
    return s->depth && !s->array[s->depth - 1];
}

#endif
