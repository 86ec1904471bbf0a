/*
 * chat/calls.h - the tool calls of one reply, growing while it is read.
 *
 * A call is announced when its name is known; its arguments are JSON text
 * that is only ever appended to. A streaming consumer keeps, per call, how
 * much of it has been sent.
 */
#ifndef CHAT_CALLS_H
#define CHAT_CALLS_H

#include "base/buf.h"

#define CALLS_MAX 128

struct tool_call {
    char *id;        /* owned; unique in this reply and (but for ids that the
                      * model wrote itself) across replies */
    char *name;      /* owned, valid UTF-8, may hold no NUL */
    size_t at;       /* bytes of the turn's content that stand before it; not
                      * all of them may be out (a stop string may begin
                      * there), or ever come out */
    struct buf args; /* JSON text so far; complete when `whole` */
    bool whole;
    bool dropped;    /* over the limit: counted, never shown */
    bool withdrawn;  /* shown on a stream, then found to be no call: a whole
                      * answer leaves it out */
};

enum call_id_form {
    CALL_ID_LONG,    /* call_ and 24 hex digits */
    CALL_ID_SHORT,   /* 9 letters and digits */
};

struct calls {
    struct tool_call **p; /* [n] owned; a call never moves */
    size_t n, cap;
    size_t limit;    /* calls that are shown: 0 without tools, 1 without
                      * parallel calls */
    size_t shown;    /* not dropped and not withdrawn */
    size_t dropped;  /* over the limit, or over CALLS_MAX */
    enum call_id_form form;
    uint64_t seed;   /* ids are made from it */
    bool failed;     /* sticks: out of memory */
};

void calls_init(struct calls *c, size_t limit, uint64_t seed);
void calls_release(struct calls *c);

/*
 * The next call. `id` NULL: one is made. Bytes that are not valid UTF-8, and
 * NUL, are left out of name and id. NULL when out of memory (c->failed is
 * set) or over CALLS_MAX (it is counted as dropped).
 */
struct tool_call *calls_add(struct calls *c, const char *id, size_t id_n,
                       const char *name, size_t n);
void calls_withdraw(struct calls *c, struct tool_call *call);
/*
 * Those from the i-th on stand behind so many bytes of content. A whole one
 * without a byte of arguments gets "{}", which clients can parse.
 */
void calls_settle(struct calls *c, size_t i, size_t at);

#endif
