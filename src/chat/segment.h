/*
 * chat/segment.h - the only prompt representation: runs of bytes that are
 * either markup (the chat format wrote them) or content (a caller did).
 *
 * No format may lose that bit: only markup can become a control token. Each
 * segment is tokenised on its own; segments are never joined.
 */
#ifndef CHAT_SEGMENT_H
#define CHAT_SEGMENT_H

#include "base/vec.h"
#include "text/tok.h"

struct segment {
    enum tok_mode mode;  /* TOK_MARKUP or TOK_CONTENT */
    struct text text;    /* borrowed: the format's or the request's bytes */
};

struct segments {
    struct arena *arena; /* where the list grows */
    struct segment *p;
    size_t n, cap;
    bool failed;         /* sticks: out of arena */
};

void segments_init(struct segments *s, struct arena *a);
/* Empty text adds nothing. */
void segments_add(struct segments *s, enum tok_mode mode, const char *p,
                  size_t n);
/* The ids of the whole prompt, BOS first when the vocabulary wants one and
 * the first markup does not already spell it (case C36).
 * Errors: ST_LIMIT, ST_NOMEM. */
enum st segments_encode(const struct segments *s, const struct tok *t,
                        struct ids *out, struct err *e) MUST_CHECK;

#endif
