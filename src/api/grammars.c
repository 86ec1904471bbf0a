#include "api/grammars.h"

#include <pthread.h>

struct kept {
    uint8_t key[GRAMMAR_KEY];
    struct grammar *g; /* one reference; NULL: nothing is here */
    uint64_t used;     /* when, in finds */
};

struct grammars {
    pthread_mutex_t turn; /* of the one that compiles; taken before mu */
    pthread_mutex_t mu;   /* guards the rest */
    struct kept of[GRAMMARS_MAX];
    uint64_t hits, misses, clock;
    size_t bytes; /* of all */
};

struct grammars *grammars_new(void)
{
    struct grammars *c = mem_new(struct grammars);

    pthread_mutex_init(&c->turn, NULL);
    pthread_mutex_init(&c->mu, NULL);
    return c;
}

void grammars_free(struct grammars *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < GRAMMARS_MAX; i++)
        gram_unref(c->of[i].g);
    pthread_mutex_destroy(&c->turn);
    pthread_mutex_destroy(&c->mu);
    free(c);
}

static struct kept *look_locked(struct grammars *c,
                                const uint8_t key[GRAMMAR_KEY])
{
    for (size_t i = 0; i < GRAMMARS_MAX; i++)
        if (c->of[i].g && !memcmp(c->of[i].key, key, GRAMMAR_KEY))
            return &c->of[i];
    return NULL;
}

static struct grammar *look(struct grammars *c,
                            const uint8_t key[GRAMMAR_KEY])
{
    struct grammar *g = NULL;
    struct kept *k;

    pthread_mutex_lock(&c->mu);
    k = look_locked(c, key);
    if (k) {
        k->used = ++c->clock;
        g = gram_ref(k->g);
        c->hits++;
    }
    pthread_mutex_unlock(&c->mu);
    return g;
}

struct grammar *grammars_find(struct grammars *c,
                              const uint8_t key[GRAMMAR_KEY])
{
    struct grammar *g = look(c, key);

    if (g)
        return g;
    pthread_mutex_lock(&c->turn);
    g = look(c, key); /* who had the turn may have made it */
    if (g) {
        pthread_mutex_unlock(&c->turn);
        return g;
    }
    pthread_mutex_lock(&c->mu);
    c->misses++;
    pthread_mutex_unlock(&c->mu);
    return NULL;
}

/* The place of the next one: an empty one, or the one that goes next. */
static struct kept *oldest_locked(struct grammars *c)
{
    struct kept *k = &c->of[0];

    for (size_t i = 1; i < GRAMMARS_MAX; i++)
        if (c->of[i].used < k->used)
            k = &c->of[i];
    return k;
}

/* The one that goes next, while there is one; NULL: all are empty. */
static struct kept *oldest_kept_locked(struct grammars *c)
{
    struct kept *k = NULL;

    for (size_t i = 0; i < GRAMMARS_MAX; i++)
        if (c->of[i].g && (!k || c->of[i].used < k->used))
            k = &c->of[i];
    return k;
}

static void drop_locked(struct grammars *c, struct kept *k)
{
    c->bytes -= k->g->bytes;
    gram_unref(k->g);
    *k = (struct kept){.g = NULL};
}

static void keep(struct grammars *c, const uint8_t key[GRAMMAR_KEY],
                 struct grammar *g)
{
    struct kept *k;

    pthread_mutex_lock(&c->mu);
    while ((k = oldest_kept_locked(c)) &&
           c->bytes + g->bytes > GRAMMARS_BYTES_MAX)
        drop_locked(c, k);
    k = oldest_locked(c);
    if (k->g)
        drop_locked(c, k);
    memcpy(k->key, key, GRAMMAR_KEY);
    k->g = gram_ref(g);
    k->used = ++c->clock;
    c->bytes += g->bytes;
    pthread_mutex_unlock(&c->mu);
}

void grammars_end(struct grammars *c, const uint8_t key[GRAMMAR_KEY],
                  struct grammar *g)
{
    if (g)
        keep(c, key, g);
    pthread_mutex_unlock(&c->turn);
}

void grammars_figures(struct grammars *c, struct grammars_figures *out)
{
    pthread_mutex_lock(&c->mu);
    *out = (struct grammars_figures){.hits = c->hits, .misses = c->misses};
    out->bytes = c->bytes;
    for (size_t i = 0; i < GRAMMARS_MAX; i++)
        out->kept += c->of[i].g != NULL;
    pthread_mutex_unlock(&c->mu);
}
