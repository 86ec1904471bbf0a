#include "gram/mask.h"

#include "gram/mask_fill.h"

#include <stdatomic.h>
#include <string.h>

#define BUCKETS 2048
/* grammar, ways, then depth with space of each, and the states. */
#define KEY_WORDS (3 + GRAM_WAYS_MAX + GRAM_FRAMES_MAX)

/* Counters of a frame for which a mask holds. */
struct held {
    uint32_t frame;
    int64_t lo, hi;
};

struct kept {
    struct kept *next;          /* in its bucket, the last used first */
    struct kept *newer, *older;
    uint64_t hash;
    uint32_t *key;              /* [n_key] */
    struct held *held;          /* [n_held] */
    size_t n_key, n_held, bytes;
    struct mask_facts facts;
    uint32_t bits[];            /* [words] */
};

struct gram_pool {
    const struct gram_vocab *v;
    struct fill *fill;
    uint32_t *bits;             /* owned: the mask in the making */
    struct kept *newest, *oldest;
    struct kept *buckets[BUCKETS];
    uint16_t room[GRAM_SPACE_MAX + 1]; /* by white space before: see key_of */
    _Atomic uint64_t hits, misses;
    _Atomic size_t masks, bytes;
};

/*
 * How much white space may still come matters only as far as there are ids
 * that begin with more or less of it. None at all is a case of its own: it is
 * what text looks like (walk_way.space).
 */
static void find_rooms(struct gram_pool *p)
{
    for (unsigned space = 1; space <= GRAM_SPACE_MAX; space++) {
        unsigned room = GRAM_SPACE_MAX - space;
        while (room > 0 && !p->v->runs[room])
            room--;
        p->room[space] = (uint16_t)(1 + room);
    }
}

struct gram_pool *gram_pool_new(const struct gram_vocab *v)
{
    struct gram_pool *p = mem_try(sizeof(*p));

    if (!p)
        return NULL;
    p->v = v;
    p->fill = fill_new(v);
    p->bits = mem_try_array(v->words + 1, sizeof(*p->bits));
    if (!p->fill || !p->bits) {
        gram_pool_free(p);
        return NULL;
    }
    find_rooms(p);
    return p;
}

static void count_one(_Atomic uint64_t *n)
{
    atomic_fetch_add_explicit(n, 1, memory_order_relaxed);
}

/* Only this thread writes; others read. */
static void add_size(_Atomic size_t *n, size_t more)
{
    atomic_fetch_add_explicit(n, more, memory_order_relaxed);
}

static void unlink_age(struct gram_pool *p, struct kept *k)
{
    if (k->newer)
        k->newer->older = k->older;
    else
        p->newest = k->older;
    if (k->older)
        k->older->newer = k->newer;
    else
        p->oldest = k->newer;
}

static void link_newest(struct gram_pool *p, struct kept *k)
{
    k->newer = NULL;
    k->older = p->newest;
    if (p->newest)
        p->newest->newer = k;
    else
        p->oldest = k;
    p->newest = k;
}

static void unlink_bucket(struct gram_pool *p, struct kept *k)
{
    struct kept **at = &p->buckets[k->hash % BUCKETS];

    while (*at != k)
        at = &(*at)->next;
    *at = k->next;
}

static void link_bucket(struct gram_pool *p, struct kept *k)
{
    struct kept **at = &p->buckets[k->hash % BUCKETS];

    k->next = *at;
    *at = k;
}

static void forget(struct gram_pool *p, struct kept *k)
{
    unlink_bucket(p, k);
    unlink_age(p, k);
    add_size(&p->masks, (size_t)-1);
    add_size(&p->bytes, -k->bytes);
    free(k->key);
    free(k->held);
    free(k);
}

void gram_pool_free(struct gram_pool *p)
{
    if (!p)
        return;
    while (p->oldest)
        forget(p, p->oldest);
    fill_free(p->fill);
    free(p->bits);
    free(p);
}

void gram_pool_figures(const struct gram_pool *p, struct gram_figures *out)
{
    out->hits = atomic_load_explicit(&p->hits, memory_order_relaxed);
    out->misses = atomic_load_explicit(&p->misses, memory_order_relaxed);
    out->masks = atomic_load_explicit(&p->masks, memory_order_relaxed);
    out->bytes = atomic_load_explicit(&p->bytes, memory_order_relaxed);
}

size_t gram_pool_shrink(struct gram_pool *p, size_t bytes)
{
    size_t gave = 0;

    while (gave < bytes && p->oldest) {
        gave += p->oldest->bytes;
        forget(p, p->oldest);
    }
    return gave;
}

/* All of a place that can matter, but for counters. */
static size_t key_of(const struct gram_pool *p, const struct grammar *g,
                     const struct gram_place *place, uint32_t key[KEY_WORDS])
{
    size_t n = 0;

    key[n++] = (uint32_t)g->id;
    key[n++] = (uint32_t)(g->id >> 32);
    key[n++] = place->n_ways;
    for (size_t i = 0; i < place->n_ways; i++) {
        uint32_t space = place->space[i];
        /* several ways may be compared */
        if (place->n_ways == 1)
            space = p->room[space];
        key[n++] = (uint32_t)place->depth[i] << 16 | space;
    }
    for (size_t i = 0; i < place->n_frames; i++)
        key[n++] = place->frames[i].state;
    return n;
}

static uint64_t hash_of(const uint32_t *key, size_t n)
{
    uint64_t h = 0x9e3779b97f4a7c15;

    for (size_t i = 0; i < n; i++) {
        h = (h ^ key[i]) * 0xff51afd7ed558ccd;
        h ^= h >> 32;
    }
    return h;
}

static bool holds(const struct kept *k, const struct gram_place *place)
{
    for (size_t i = 0; i < k->n_held; i++) {
        int64_t at = place->frames[k->held[i].frame].count;
        if (at < k->held[i].lo || at > k->held[i].hi)
            return false;
    }
    return true;
}

static struct kept *find(struct gram_pool *p, const uint32_t *key, size_t n,
                         uint64_t hash, const struct gram_place *place)
{
    struct kept **at = &p->buckets[hash % BUCKETS];

    for (; *at; at = &(*at)->next) {
        struct kept *k = *at;
        if (k->hash != hash || k->n_key != n ||
            memcmp(k->key, key, n * sizeof(*key)) != 0 || !holds(k, place))
            continue;
        *at = k->next;
        link_bucket(p, k);
        unlink_age(p, k);
        link_newest(p, k);
        return k;
    }
    return NULL;
}

/* Without memory it is not kept: it will be made again. */
static void keep(struct gram_pool *p, const uint32_t *key, size_t n,
                 uint64_t hash, const struct mask_facts *facts,
                 const struct walk_range *range, size_t n_frames)
{
    size_t n_held = 0, bytes, size = p->v->words * sizeof(*p->bits);
    struct kept *k;

    for (size_t i = 0; i < n_frames; i++)
        n_held += range[i].lo != INT64_MIN || range[i].hi != INT64_MAX;
    bytes = sizeof(*k) + size + n * sizeof(*k->key) + n_held * sizeof(*k->held);
    while (p->oldest && atomic_load_explicit(&p->masks, memory_order_relaxed) >=
                            GRAM_MASKS_MAX)
        forget(p, p->oldest);
    k = mem_try(sizeof(*k) + size);
    if (!k)
        return;
    k->key = mem_try_array(n, sizeof(*k->key));
    k->held = mem_try_array(n_held + 1, sizeof(*k->held));
    if (!k->key || !k->held) {
        free(k->key);
        free(k->held);
        free(k);
        return;
    }
    memcpy(k->key, key, n * sizeof(*key));
    memcpy(k->bits, p->bits, size);
    for (size_t i = 0; i < n_frames; i++) {
        if (range[i].lo != INT64_MIN || range[i].hi != INT64_MAX)
            k->held[k->n_held++] =
                (struct held){(uint32_t)i, range[i].lo, range[i].hi};
    }
    k->hash = hash;
    k->n_key = n;
    k->bytes = bytes;
    k->facts = *facts;
    link_bucket(p, k);
    link_newest(p, k);
    add_size(&p->masks, 1);
    add_size(&p->bytes, bytes);
}

static bool has_bit(const uint32_t *mask, size_t n_vocab, int32_t id)
{
    return id >= 0 && (size_t)id < n_vocab && mask[id / 32] >> id % 32 & 1;
}

static void clear_bit(uint32_t *mask, size_t n_vocab, int32_t id)
{
    if (id >= 0 && (size_t)id < n_vocab)
        mask[id / 32] &= ~(1u << id % 32);
}

/* mask &= bits, as far as those go. */
static void narrow(uint32_t *mask, size_t n_vocab, const uint32_t *bits,
                   size_t words)
{
    size_t n = (n_vocab + 31) / 32;
    size_t both = n < words ? n : words;

    for (size_t i = 0; i < both; i++)
        mask[i] &= bits[i];
    for (size_t i = both; i < n; i++)
        mask[i] = 0;
}

/* Marks and ends go by their ids, whatever their bytes would say. */
static void apply(const struct mask_facts *facts, const uint32_t *bits,
                  size_t words, const struct gram_ids *ids, uint32_t *mask,
                  size_t n_vocab)
{
    size_t n_end = ids->n_end < GRAM_ENDS_MAX ? ids->n_end : GRAM_ENDS_MAX;
    uint32_t marks = 0; /* that are free so far, and may come */
    uint64_t ends = 0;

    for (int k = 0; ids->mark && k < GX_MARKS; k++)
        marks |= (uint32_t)has_bit(mask, n_vocab, ids->mark[k]) << k;
    marks &= facts->marks;
    for (size_t i = 0; facts->ends && i < n_end; i++)
        ends |= (uint64_t)has_bit(mask, n_vocab, ids->end[i]) << i;
    narrow(mask, n_vocab, bits, words);
    for (int k = 0; ids->mark && k < GX_MARKS; k++)
        clear_bit(mask, n_vocab, ids->mark[k]);
    for (size_t i = 0; i < ids->n_end; i++)
        clear_bit(mask, n_vocab, ids->end[i]);
    for (int k = 0; k < GX_MARKS; k++) {
        if (marks >> k & 1)
            mask[ids->mark[k] / 32] |= 1u << ids->mark[k] % 32;
    }
    for (size_t i = 0; i < n_end; i++) {
        if (ends >> i & 1)
            mask[ids->end[i] / 32] |= 1u << ids->end[i] % 32;
    }
}

bool gram_mask_apply(struct gram_pool *p, const struct grammar *g,
                     const struct gram_place *place,
                     const struct gram_ids *ids, uint32_t *mask, size_t n_vocab)
{
    struct walk_range range[GRAM_FRAMES_MAX];
    struct mask_facts facts;
    uint32_t key[KEY_WORDS];
    uint64_t hash;
    size_t n;
    struct kept *k;

    if (place->n_ways == 0) {
        memset(mask, 0, (n_vocab + 31) / 32 * sizeof(*mask));
        return true;
    }
    n = key_of(p, g, place, key);
    hash = hash_of(key, n);
    k = find(p, key, n, hash, place);
    if (k) {
        count_one(&p->hits);
        apply(&k->facts, k->bits, p->v->words, ids, mask, n_vocab);
        return true;
    }
    if (!fill_mask(p->fill, g, place, p->bits, &facts, range)) {
        memset(mask, 0, (n_vocab + 31) / 32 * sizeof(*mask));
        return false;
    }
    count_one(&p->misses);
    keep(p, key, n, hash, &facts, range, place->n_frames);
    apply(&facts, p->bits, p->v->words, ids, mask, n_vocab);
    return true;
}
