/*
 * chat/scan.h - markers by their spelling, in text that comes in pieces.
 *
 * Finds the leftmost marker, the longest of several there. What could still
 * become one is held back, never more than the longest marker less a byte.
 */
#ifndef CHAT_SCAN_H
#define CHAT_SCAN_H

#include "base/buf.h"

#define SCAN_MAX 32 /* markers */

struct scan {
    const char *mark[SCAN_MAX]; /* NULL: not looked for */
    size_t len[SCAN_MAX];
    int n;
    size_t longest;
    bool first[256]; /* does one begin with this byte? */
    struct buf held;
};

struct scan_sink {
    void (*text)(void *arg, const char *p, size_t n);
    void (*marker)(void *arg, int k);
    void *arg;
};

/* marks[k] NULL is skipped (k keeps its number); n at most SCAN_MAX. */
void scan_init(struct scan *s, const char *const *marks, int n);
void scan_release(struct scan *s);
void scan_feed(struct scan *s, const char *p, size_t n,
               const struct scan_sink *to);
/* Nothing more joins what is held: before a marker by id, and at the end. */
void scan_flush(struct scan *s, const struct scan_sink *to);

#endif
