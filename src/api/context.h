/*
 * api/context.h - the inside of struct api (internal to api).
 */
#ifndef API_CONTEXT_H
#define API_CONTEXT_H

#include "api/api.h"
#include "api/reason.h"
#include <stdatomic.h>

struct grammars;
struct lexicons;
struct live;
struct metrics;
struct stored_runs;

/* What constrained requests share; owned. */
struct guides_kept {
    struct grammars *grammars; /* api/grammars.h */
    struct lexicons *lexicons; /* api/lexicon.h */
};

struct api {
    struct api_config c;
    struct reason_map reasoning; /* c.reasoning_format, read */
    int64_t started_ms;      /* mono_ms, for uptime */
    uint64_t id_salt;        /* random, so that ids tell nothing */
    uint32_t id_head;
    _Atomic uint64_t id_next;
    _Atomic int draining;
    _Atomic int open;        /* streaming exchanges */
    struct live *live;       /* owned */
    struct metrics *metrics; /* owned */
    struct stored_runs *stored; /* owned */
    struct guides_kept kept;
};

/* prefix and 24 hex digits, unique in this process, NUL-terminated.
 * prefix at most 15 bytes. */
void api_new_id(struct api *a, const char *prefix, char out[40]);

#endif
