#include "engine/sched_int.h"

#include "base/thread.h"

#define ASK_AGAIN_US 100000 /* nobody left meanwhile */
#define SEQ_BYTES 4096      /* of a sequence, but for its ids */

/* --- accounts ------------------------------------------------------------- */

void memory_tell(struct sched *s)
{
    size_t used = kv_pages_used(s->pages), idle = kv_pages_idle(s->pages);
    struct kv_tree_stats t;

    if (!s->memory)
        return;
    kv_tree_stats(s->tree, &t);
    memory_set(s->memory, MEM_WEIGHTS, s->kern->bytes[KERN_WEIGHTS]);
    memory_set(s->memory, MEM_WORKSPACE, s->kern->bytes[KERN_WORKSPACE]);
    memory_set(s->memory, MEM_KV, (used - idle) * s->page_bytes);
    memory_set(s->memory, MEM_PREFIX, idle * s->page_bytes);
    memory_set(s->memory, MEM_STATE, t.state_bytes);
    memory_set(s->memory, MEM_FREE, (s->n_resident - used) * s->page_bytes);
    memory_set(s->memory, MEM_SPOOL, spool_holds(s));
}

/* A page that nobody uses and the system has not back; the lowest, since the
 * highest go back first. */
static int32_t resident_page(struct sched *s)
{
    if (s->n_resident == kv_pages_used(s->pages))
        return -1;
    for (int32_t i = 0; i < s->n_pages; i++)
        if (s->resident[i] && !kv_pages_refs(s->pages, i))
            return i;
    return -1;
}

static bool may_grow(struct sched *s)
{
    size_t held;

    if (!s->memory)
        return true;
    memory_tell(s);
    held = memory_held(s->memory);
    return held <= s->memory->peak &&
           s->memory->peak - held >= s->page_bytes;
}

int32_t memory_page(struct sched *s)
{
    int32_t page = resident_page(s);

    if (page >= 0) {
        kv_pages_take_this(s->pages, page);
        return page;
    }
    if (!may_grow(s))
        return -1;
    page = kv_pages_take(s->pages);
    if (page >= 0) {
        s->resident[page] = true;
        s->n_resident++;
    }
    return page;
}

/* --- levels of the gate (engine/gate.h) ----------------------------------- */

static size_t pages_of(const struct sched *s, size_t bytes)
{
    return bytes / s->page_bytes + (bytes % s->page_bytes != 0);
}

/* Up to n pages that nobody uses, the highest first. Returns their bytes. */
static size_t drop_free(struct sched *s, size_t n)
{
    size_t dropped = 0;

    for (int32_t i = s->n_pages - 1; i >= 0 && dropped < n; i--) {
        if (!s->resident[i] || kv_pages_refs(s->pages, i))
            continue;
        s->kern->ops->kv_drop(s->kern, &s->forward->kv, &i, 1);
        s->resident[i] = false;
        s->n_resident--;
        dropped++;
    }
    memory_tell(s);
    return dropped * s->page_bytes;
}

static size_t give_free(void *arg, size_t bytes)
{
    struct sched *s = arg;
    size_t n = s->n_resident - kv_pages_used(s->pages);
    size_t keep = s->memory->slack / s->page_bytes;

    n = n > keep ? n - keep : 0;
    return drop_free(s, n < pages_of(s, bytes) ? n : pages_of(s, bytes));
}

static size_t give_nothing(void *arg, size_t bytes)
{
    (void)arg;
    (void)bytes;
    return 0;
}

static size_t give_states(void *arg, size_t bytes)
{
    struct sched *s = arg;
    size_t n = kv_tree_evict_states(s->tree, bytes);

    memory_tell(s);
    return n;
}

static size_t give_disk(void *arg, size_t bytes)
{
    struct sched *s = arg;

    return drop_free(s, kv_tree_evict_disk(s->tree, pages_of(s, bytes)));
}

static size_t give_pages(void *arg, size_t bytes)
{
    struct sched *s = arg;

    return drop_free(s, kv_tree_evict(s->tree, pages_of(s, bytes)));
}

static size_t give_rest(void *arg, size_t bytes)
{
    return drop_free(arg, pages_of(arg, bytes));
}

void memory_open(struct sched *s, struct memory *m)
{
    static const struct gate_level levels[] = {
        {"free", give_free, 0},       {"images", give_nothing, 0},
        {"masks", give_nothing, 0},   {"states", give_states, 0},
        {"disk", give_disk, 0},       {"pages", give_pages, 0},
        {"free-rest", give_rest, 0},
    };

    s->memory = m;
    s->gate.memory = m;
    s->gate.arg = s;
    s->gate.n_levels = sizeof(levels) / sizeof(*levels);
    memcpy(s->gate.level, levels, sizeof(levels));
    memory_tell(s);
}

/* --- the gate ------------------------------------------------------------- */

enum gate_answer memory_ask(struct sched *s, const struct seq *q,
                            size_t pages, struct err *e)
{
    size_t ready = s->n_resident - kv_pages_used(s->pages), need;
    enum gate_answer a;
    int64_t now;

    if (!s->memory)
        return GATE_OK;
    now = mono_us();
    if (now < s->ask_us)
        return GATE_WAIT;
    need = pages > ready ? (pages - ready) * s->page_bytes : 0;
    need += SEQ_BYTES + q->job->n_ids * sizeof(*q->units);
    memory_tell(s);
    a = gate_ask(&s->gate, need, s->n_running > 0, e);
    s->ask_us = a == GATE_WAIT ? now + ASK_AGAIN_US : 0;
    return a;
}

void memory_settle(struct sched *s)
{
    size_t wanted = s->memory ? memory_take_wanted(s->memory) : 0;

    if (!s->memory || (!s->gone && !wanted))
        return;
    memory_tell(s);
    if (s->gone) {
        s->ask_us = 0;
        gate_settle(&s->gate);
    }
    /* its jobs are reserved apart, and take little */
    if (wanted && mem_add(&wanted, wanted, MEMORY_GROWTH))
        gate_room(&s->gate, wanted);
}

void memory_refuse(struct sched *s, struct err *e)
{
    char words[400];

    memory_words(s->memory, words, sizeof(words));
    err_set(e, ST_NOMEM, "", "not enough memory to go on with this request; %s",
            words);
}
