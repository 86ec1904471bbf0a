/*
 * chat/jsonargs.h - an arguments object that a model writes as JSON, passed
 * on as it is written, its string members typed by the function's schema.
 *
 * A string member whose schema allows no string is held until it is complete,
 * then sent as its value; everything else goes out at once. Linear in the
 * input; only the held member and the current key are kept.
 */
#ifndef CHAT_JSONARGS_H
#define CHAT_JSONARGS_H

#include "chat/calls.h"
#include "chat/jsonscan.h"
#include "chat/tools.h"

enum jsonargs_step { ARGS_MORE, ARGS_DONE, ARGS_BAD };

struct jsonargs {
    const struct tools *tools;  /* borrowed; NULL ok */
    struct tool_call *call;     /* borrowed: where it goes; NULL: nowhere,
                                 * only the end is looked for */
    struct jsonscan js;
    struct buf key, held;       /* raw, with quotes */
    bool in_key, holding;
    unsigned kinds;             /* of the current member */
};

void jsonargs_init(struct jsonargs *a);
void jsonargs_release(struct jsonargs *a);
/* Begin: the next byte fed is the opening brace (or space before it). */
void jsonargs_open(struct jsonargs *a, const struct tools *t,
                   struct tool_call *call);
/* Feed p[0..n); *used is n, or less when the object ended before. */
enum jsonargs_step jsonargs_feed(struct jsonargs *a, const char *p, size_t n,
                                 size_t *used);

#endif
