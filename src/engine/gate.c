#include "engine/gate.h"

#define MIB ((size_t)1 << 20)

/* How far `need` more bytes would pass `limit`. */
static size_t over(const struct gate *g, size_t need, size_t limit)
{
    size_t held = memory_held(g->memory);

    if (held > limit)
        return need > SIZE_MAX - (held - limit) ? SIZE_MAX
                                                : need + (held - limit);
    return need > limit - held ? need - (limit - held) : 0;
}

/* Levels give back until it fits, or all were asked. Each is asked for what
 * is missing by then: the accounts say it, not what a level returned. */
static size_t make_room(struct gate *g, size_t need, size_t limit)
{
    size_t missing = over(g, need, limit);

    for (int i = 0; missing && i < g->n_levels; i++) {
        struct gate_level *l = &g->level[i];

        l->given += l->give(g->arg, missing);
        missing = over(g, need, limit);
    }
    return missing;
}

void gate_settle(struct gate *g)
{
    (void)make_room(g, 0, g->memory->ceiling);
}

void gate_room(struct gate *g, size_t need)
{
    static const enum mem_class caches[] = {MEM_FREE, MEM_PREFIX, MEM_STATE};
    size_t left = over(g, need, g->memory->peak);

    for (size_t i = 0; i < sizeof(caches) / sizeof(*caches); i++) {
        size_t has = atomic_load_explicit(&g->memory->bytes[caches[i]],
                                          memory_order_relaxed);

        left -= has < left ? has : left;
    }
    if (!left)
        (void)make_room(g, need, g->memory->peak);
}

static size_t mib(size_t bytes)
{
    return bytes / MIB + (bytes % MIB != 0);
}

enum gate_answer gate_ask(struct gate *g, size_t need, bool others,
                          struct err *e)
{
    char words[400];

    if (!make_room(g, need, g->memory->peak))
        return GATE_OK;
    if (others) {
        g->waits++;
        return GATE_WAIT;
    }
    g->refusals++;
    memory_words(g->memory, words, sizeof(words));
    (void)err_set(e, ST_NOMEM, "",
                  "not enough memory for this request: %zu MiB are held and "
                  "%zu MiB needed; %s",
                  mib(memory_held(g->memory)), mib(need), words);
    return GATE_REFUSED;
}
