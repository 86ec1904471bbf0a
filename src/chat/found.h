/*
 * chat/found.h - calls read from a whole piece of a reply, and how they meet
 * those that were streamed from it.
 *
 * While a block arrives its calls are streamed (struct sweep keeps which);
 * when it is complete it is read as a whole (struct founds). A streamed call
 * counts when the whole reading found the same name and arguments; otherwise
 * it is withdrawn and the complete call is added. A call that repeats the
 * one before it, name and arguments, is dropped (spec tandem.md 6.1, 6.3).
 */
#ifndef CHAT_FOUND_H
#define CHAT_FOUND_H

#include "chat/calls.h"
#include "chat/tools.h"

struct found {
    char *name;      /* [name_n] owned */
    size_t name_n;
    char *id;        /* [id_n] owned; NULL: the model wrote none */
    size_t id_n;
    struct buf args; /* JSON text, an object */
    size_t at;       /* where it begins: joins it to a streamed call */
    struct tool_call *call; /* sweep_close: the streamed call that it is */
    bool echo;
};

struct founds {
    struct found *p; /* [n] owned */
    size_t n, cap;
    bool failed;     /* out of memory */
};

void founds_release(struct founds *f); /* empty and reusable */
/* The next one; its args are empty. NULL when out of memory. */
struct found *founds_add(struct founds *f, const char *name, size_t n,
                         size_t at);
/* Take the last one back: it was none. */
void founds_drop(struct founds *f);

enum found_gate {
    FOUND_ANY,      /* the tags say that it is a call */
    FOUND_STRICT,   /* nothing but the JSON says so: known members only, with
                     * arguments, a tool of the request */
};

/*
 * The calls of JSON s[0..n): an object or a list. An item that is no call is
 * left out (FOUND_STRICT: then none is). `at` of each is its place in the
 * list, counted on from what is there. False when there is none.
 */
bool founds_json(struct founds *f, const struct tools *t, const char *s,
                 size_t n, enum found_gate gate);
/* A call whose arguments are the JSON s[0..n), an object (nothing: none).
 * `id` may be empty. False when they are no object. */
bool founds_args(struct founds *f, const struct tools *t, struct span id,
                 struct span name, const char *s, size_t n);

struct sweep {
    struct tool_call *last;     /* the call before; NULL: none */
    struct {
        struct tool_call *call;
        size_t at;
    } live[CALLS_MAX];          /* streamed from the current block */
    size_t n;
    bool off;                   /* no more of this block is streamed */
};

/*
 * Begin to stream a call, or say NULL: it has the name of the one before (it
 * may turn out to be an echo), and what follows it in the block has to wait
 * too, to keep the order. `id` as for calls_add.
 */
struct tool_call *sweep_live(struct sweep *s, struct calls *c, struct span id,
                             struct span name, size_t at);
/* The block is complete and holds these. Empties them. */
void sweep_close(struct sweep *s, struct founds *f, struct calls *c);
/* The block is no call. */
void sweep_withdraw(struct sweep *s, struct calls *c);

#endif
