/*
 * chat/turn.h - one turn of a model: text and markers in; reasoning, content
 * and calls out.
 *
 * What chat/reply.h (token ids) and chat/textreply.h (text) share: the pair
 * that opens and closes reasoning, and the dialect behind it. Whoever feeds
 * it decides what is a marker. Newlines that frame the two parts are dropped;
 * calls are never read in reasoning. Text comes in whole characters.
 */
#ifndef CHAT_TURN_H
#define CHAT_TURN_H

#include "chat/dialect.h"

/* Markers beside the dialect's, numbered after them. */
enum { THINK_OPEN, THINK_CLOSE, THINK_MARKS };

#define TURN_MARKS_MAX (DIALECT_MARKERS_MAX + THINK_MARKS)

struct turn_config {
    const struct dialect *dialect; /* NULL: content is what it is */
    const char *think[THINK_MARKS];/* spelled, borrowed; NULL: none. Not looked
                                    * at when the dialect has channels */
    bool think_open;               /* the prompt opened the channel */
    const struct tools *tools;     /* borrowed; NULL: none were offered */
    bool parallel_calls;
    uint64_t id_seed;
};

struct turn {
    const struct dialect *dialect;
    void *state;               /* the dialect's */
    const char *marks[TURN_MARKS_MAX]; /* [n_marks] spelled, or NULL */
    int n_marks, think;        /* marks[think + THINK_OPEN] */
    bool reasoning;            /* which part it is in now */
    size_t newlines;           /* held at the end of reasoning */
    bool skip_newlines;        /* at the head of a part: framing */
    struct calls calls;
    size_t content;            /* bytes of it that came so far */
    /* where it all goes; set before anything is fed */
    struct buf *to_reasoning, *to_content;
    bool done;                 /* the form's own end came: feed no more */
};

/* ST_NOMEM; close it also then. */
enum st turn_open(struct turn *t, const struct turn_config *c) MUST_CHECK;
void turn_close(struct turn *t);

void turn_text(struct turn *t, const char *p, size_t n);
/* k indexes t->marks. */
void turn_marker(struct turn *t, int k);
/* Is k of the pair around reasoning? */
bool turn_is_think(const struct turn *t, int k);
/* Release what is held. `ended`: by the model's end token, not by a limit. */
void turn_end(struct turn *t, bool ended);

#endif
