/*
 * t/lib/think_t.h - a sequence under the guide over reasoning, for C tests:
 * ids go in as the engine would commit them.
 */
#ifndef T_THINK_T_H
#define T_THINK_T_H

#include "gen/guide_think.h"

#include "t/lib/jobs.h"

#define OPEN 101
#define CLOSE 102
#define SEP 103 /* behind a name: an element */
#define TAG 104
#define VOCAB 128
#define MANY 8192

static const int32_t open_id = OPEN, close_id = CLOSE;
static const int32_t phrase[] = {90, 91, CLOSE, 92};
#define PHRASE_N (sizeof(phrase) / sizeof(*phrase))

/* A sequence as the engine drives it. */
struct run {
    struct guide *g;
    void *s;
    int32_t ids[MANY];
    size_t n;
};

static inline struct think_config config(bool inside, int32_t cap)
{
    return (struct think_config){
        .open = {.ids = &open_id, .n_ids = 1},
        .close = {.ids = &close_id, .n_ids = 1},
        .inside = inside, .cap = cap,
        .phrase = phrase, .n_phrase = PHRASE_N,
    };
}

static inline struct run *begin(struct guide *g)
{
    struct run *r = mem_new(struct run);

    r->g = g;
    r->s = mem_zalloc(guide_state_bytes(g));
    guide_init(g, r->s);
    return r;
}

static inline struct run *begin_with(const struct think_config *c)
{
    return begin(guide_think_new(c));
}

static inline void end(struct run *r)
{
    guide_free(r->g);
    free(r->s);
    free(r);
}

static inline enum guide_next put(struct run *r, int32_t id)
{
    BUG_ON(r->n == MANY);
    r->ids[r->n++] = id;
    return guide_accept(r->g, r->s, id);
}

/* What is forced now, all of it; then the model's id. */
static inline size_t force(struct run *r)
{
    int32_t ids[3];
    size_t n, all = 0;

    while ((n = guide_forced(r->g, r->s, ids, 3))) {
        for (size_t i = 0; i < n; i++)
            put(r, ids[i]);
        all += n;
    }
    return all;
}

static inline void say(struct run *r, const int32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        force(r);
        put(r, ids[i]);
    }
    force(r);
}

static inline bool said(const struct run *r, const int32_t *ids, size_t n)
{
    return r->n == n && !memcmp(r->ids, ids, n * sizeof(*ids));
}

static inline enum think_closed closed(const struct run *r)
{
    struct guide_note n = {0};

    guide_note(r->g, r->s, &n);
    return n.closed;
}

#define SAY(r, ...)                                                          \
    say((r), (const int32_t[]){__VA_ARGS__},                                 \
        sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))
#define SAID(r, ...)                                                         \
    said((r), (const int32_t[]){__VA_ARGS__},                                \
         sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

static inline bool allows(const struct run *r, int32_t id)
{
    uint32_t mask[VOCAB / 32];

    memset(mask, 0xff, sizeof(mask));
    guide_allowed(r->g, r->s, mask, VOCAB);
    return mask[id / 32] >> id % 32 & 1;
}

/* --- markers that are spelled -------------------------------------------- */

/* Ids 1, 2, .. stand for these texts. */
static const char *const pieces[] = {
    "", "a", "<", "/", "think", ">", "</", "/think>", "x</think>y", "<think>",
    "</thi", "nk>", "<</th", "ink", "</think><", "<think><", "think>",
};

static inline struct span piece(const void *arg, int32_t id)
{
    const char *s = id > 0 && (size_t)id < sizeof(pieces) / sizeof(*pieces)
                        ? pieces[id] : "";

    (void)arg;
    return (struct span){s, strlen(s)};
}

static const int32_t spelled_phrase[] = {1, 6, 4, 5, 90};

static inline struct think_config spelled(bool inside, int32_t most)
{
    struct think_config c = config(inside, most);

    c.open = (struct think_mark){.text = {"<think>", 7}};
    c.close = (struct think_mark){.text = {"</think>", 8}};
    c.phrase = spelled_phrase;
    c.n_phrase = 5;
    c.piece = piece;
    return c;
}

#endif
