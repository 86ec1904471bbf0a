/*
 * chat/wholecall.h - a whole answer that is nothing but calls in JSON.
 *
 * Nothing marks such a call, so the gate is narrow (spec tandem.md 6.1): the
 * request has tools, the entire answer is one object or list (optionally in
 * a ``` or ```json fence), every member is one that calls have, arguments
 * are there, and the name is that of a tool. The answer is held only while
 * it can still be that; each character is looked at once.
 */
#ifndef CHAT_WHOLECALL_H
#define CHAT_WHOLECALL_H

#include "chat/callread.h"
#include "chat/found.h"
#include "chat/jsonargs.h"

struct whole {
    const struct tools *tools; /* borrowed */
    bool many;                 /* several values, apart by ; */
    int state;
    bool fenced;
    size_t fence;              /* characters of a fence or its word read */
    struct callread reader;
    struct buf held;           /* all of the answer so far */
    size_t pos, value_at;      /* offsets in held */
    struct founds found;
    /* whole_live */
    struct sweep *sweep;
    struct calls *calls;
    struct jsonargs args;
    bool in_args;
    size_t item;               /* calls before this one */
};

void whole_init(struct whole *w, const struct tools *t, bool many);
void whole_release(struct whole *w);
/*
 * Stream what looks like calls into c while it is held (both borrowed): for
 * forms where such an answer is how calls are written. When the answer turns
 * out to be text the caller withdraws them.
 */
void whole_live(struct whole *w, struct sweep *s, struct calls *c);
/* Keep p[0..n). False: the answer is no call; w->held is ordinary text, and
 * nothing more may be fed. */
bool whole_feed(struct whole *w, const char *p, size_t n);
/* Inside a string: a marker there is text. */
bool whole_in_string(const struct whole *w);
/* The answer ended: is it calls? Then they are in w->found. */
bool whole_is_call(struct whole *w);

#endif
