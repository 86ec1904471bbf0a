/*
 * api/toolnames.h - what a caller calls the tools that a model knows by
 * another name, or that take a text (internal to api).
 *
 * Copied out of the request's arena: one block.
 */
#ifndef API_TOOLNAMES_H
#define API_TOOLNAMES_H

#include "chat/req.h"

struct tool_name {
    struct text name;  /* the model's */
    struct text own;   /* the caller's, */
    struct text space; /* in this namespace; n = 0: in none */
    bool custom;       /* see struct chat_tool */
};

struct tool_names {
    struct tool_name *p; /* [n] owned, their texts behind them */
    size_t n;
    size_t bytes;        /* of the block */
};

/* Those of list[0..n) of which there is anything to say. */
enum st tool_names_keep(struct tool_names *t, const struct chat_tool *list,
                        size_t n, struct err *e) MUST_CHECK;
void tool_names_release(struct tool_names *t);
/* NULL: the caller calls it so, too, and it is a function. */
const struct tool_name *tool_names_find(const struct tool_names *t,
                                        const char *name);

#endif
