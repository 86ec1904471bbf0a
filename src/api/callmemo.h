/*
 * api/callmemo.h - parts of a grammar of calls by the schemas that they were
 * made of, so that what many functions have alike is made once (internal to
 * api/callgram.c).
 */
#ifndef API_CALLMEMO_H
#define API_CALLMEMO_H

#include "base/buf.h"
#include "gram/expr.h"
#include "json/read.h"

struct callmemo {
    struct memo_entry *p; /* [n] in the workshop's arena */
    size_t n;
    struct buf key;       /* of the last look */
};

void callmemo_init(struct callmemo *m);
void callmemo_release(struct callmemo *m);
/* What was kept for this kind and schema; NULL: nothing, or it depends on
 * more than the schema (it has references). */
const struct gx *callmemo_find(struct callmemo *m, char kind,
                               const struct json *schema);
/* For the schema that was looked for last. */
void callmemo_keep(struct callmemo *m, struct gxs *w, const struct gx *x);

#endif
