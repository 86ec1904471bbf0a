#include "api/hold.h"

#include "api/run.h"
#include "gen/gen.h"

/* The engines give back what caches hold, so that it fits next time. */
static enum st no_room(const struct exchange *x, size_t bytes, struct err *e)
{
    const struct catalog *c = x->api->c.catalog;
    char words[400];

    for (size_t i = 0; i < c->n; i++)
        c->models[i].gen->ops->kick(c->models[i].gen);
    memory_words(x->api->c.memory, words, sizeof(words));
    return err_set(e, ST_NOMEM, "",
                   "not enough memory for this request now: it needs %zu KiB; "
                   "%s",
                   bytes / 1024 + (bytes % 1024 != 0), words);
}

enum st hold_body(struct exchange *x, uint64_t cap, struct err *e)
{
    struct memory *m = x->api->c.memory;
    struct run *r = run_of(x);
    uint64_t n = x->req.has_length ? x->req.content_length : cap;
    size_t tree, bytes;

    if (!x->req.has_length && !span_is(x->req.method, "POST"))
        n = 0;
    if (!m || !n)
        return ST_OK;
    BUG_ON(n > cap || r->held_body);
    if (!mem_mul(&tree, (size_t)n, HOLD_TREE) ||
        !mem_add(&tree, tree, HOLD_ARENA) || tree > x->arena.max)
        tree = x->arena.max;
    if (!mem_mul(&bytes, (size_t)n, HOLD_COPIES) ||
        !mem_add(&bytes, bytes, tree))
        bytes = SIZE_MAX;
    if (!memory_reserve(m, bytes))
        return no_room(x, bytes, e);
    r->held_body = bytes;
    x->arena.max = tree;
    return ST_OK;
}

enum st hold_past(struct exchange *x, size_t n, struct err *e)
{
    struct memory *m = x->api->c.memory;
    struct run *r = run_of(x);
    size_t tree, bytes;

    if (!mem_mul(&tree, n, HOLD_TREE) || !mem_mul(&bytes, n, HOLD_COPIES) ||
        !mem_add(&bytes, bytes, tree))
        return no_room(x, SIZE_MAX, e);
    if (m && !memory_reserve(m, bytes))
        return no_room(x, bytes, e);
    if (m)
        r->held_body += bytes;
    if (!mem_add(&x->arena.max, x->arena.max, tree))
        x->arena.max = SIZE_MAX;
    return ST_OK;
}

enum st hold_answer(struct exchange *x, size_t n, struct err *e)
{
    struct memory *m = x->api->c.memory;

    if (!m)
        return ST_OK;
    if (!memory_reserve(m, n))
        return no_room(x, n, e);
    run_of(x)->held_jobs += n;
    return ST_OK;
}

/* The most that one choice's job may take. */
static bool of_choice(const struct choice *c, bool ordered, size_t *bytes)
{
    const struct job *j = c->job;
    size_t event = 12, prompt, ring; /* ring_new */

    if (ordered)
        event += HOLD_TEXT;
    if (j->top_logprobs > 0)
        event += 4 + 8 * (size_t)j->top_logprobs;
    return mem_mul(&prompt, j->n_ids, sizeof(*j->ids)) &&
           mem_mul(&ring, (size_t)j->max_tokens, event) &&
           mem_add(bytes, prompt, ring) &&
           mem_add(bytes, *bytes, c->logprobs ? logprobs_kept(c->logprobs)
                                              : 0);
}

enum st hold_jobs(struct exchange *x, struct err *e)
{
    struct memory *m = x->api->c.memory;
    struct run *r = run_of(x);
    size_t bytes = HOLD_STREAM + r->grammar_bytes + r->echo.cap +
                   r->names.bytes, one;

    if (!m)
        return ST_OK;
    for (size_t i = 0; i < r->n_choices; i++)
        if (!of_choice(&r->choices[i], r->emit->ordered, &one) ||
            !mem_add(&bytes, bytes, one)) {
            bytes = SIZE_MAX;
            break;
        }
    BUG_ON(r->held_jobs);
    if (!memory_reserve(m, bytes))
        return no_room(x, bytes, e);
    r->held_jobs = bytes;
    return ST_OK;
}

void hold_drop_body(struct exchange *x)
{
    struct run *r = run_of(x);

    if (r && r->held_body)
        memory_unreserve(x->api->c.memory, r->held_body);
    if (r)
        r->held_body = 0;
}

void hold_drop_all(struct exchange *x)
{
    struct run *r = run_of(x);

    hold_drop_body(x);
    if (r && r->held_jobs)
        memory_unreserve(x->api->c.memory, r->held_jobs);
    if (r)
        r->held_jobs = 0;
}
