/*
 * One of several lists of ids: against the definition, for all short lists
 * over few ids, and the corners.
 */
#include "gen/guide.h"

#include "t/lib/tap.h"

#define VOCAB 40
#define STOP 30
#define LISTS_MAX 8

static const int32_t stops[] = {STOP, STOP + 1};

static bool has(const uint32_t *mask, int32_t id)
{
    return mask[id / 32] >> id % 32 & 1;
}

static void *start(const struct guide *g)
{
    void *s = mem_zalloc(guide_state_bytes(g));

    guide_init(g, s);
    return s;
}

/* --- the definition ------------------------------------------------------ */

static bool same(const struct guide_list *l, const int32_t *ids, size_t n)
{
    return l->n == n && !memcmp(l->ids, ids, n * sizeof(*ids));
}

static bool goes_on(const struct guide_list *l, const int32_t *ids, size_t n,
                    int32_t id)
{
    return l->n > n && !memcmp(l->ids, ids, n * sizeof(*ids)) &&
           l->ids[n] == id;
}

/* May `id` come behind the n ids? */
static bool may(const struct guide_list *l, size_t n_lists,
                const int32_t *ids, size_t n, int32_t id)
{
    for (size_t i = 0; i < n_lists; i++)
        if (goes_on(&l[i], ids, n, id) ||
            ((id == STOP || id == STOP + 1) && n && same(&l[i], ids, n)))
            return true;
    return false;
}

static bool more(const struct guide_list *l, size_t n_lists,
                 const int32_t *ids, size_t n)
{
    for (int32_t id = 0; id < STOP; id++)
        if (may(l, n_lists, ids, n, id))
            return true;
    return false;
}

static bool is_over(const struct guide_list *l, size_t n_lists,
                    const int32_t *ids, size_t n)
{
    if (n && (ids[n - 1] == STOP || ids[n - 1] == STOP + 1))
        return true;
    for (size_t i = 0; i < n_lists; i++)
        if (same(&l[i], ids, n))
            return !more(l, n_lists, ids, n);
    return false;
}

/* --- every way through --------------------------------------------------- */

struct walk {
    const struct guide *g;
    const struct guide_list *l;
    size_t n_lists;
    int32_t ids[16];
    size_t wrong, ends;
};

/* What must come: as long as one id alone may. */
static void check_forced(struct walk *w, const void *s, size_t n)
{
    int32_t ids[16], got[16];
    size_t want = 0, k;

    memcpy(ids, w->ids, n * sizeof(*ids));
    for (;; want++) {
        int32_t only = -1;
        size_t ways = 0;

        for (int32_t id = 0; id < VOCAB; id++)
            if (may(w->l, w->n_lists, ids, n + want, id)) {
                only = id;
                ways++;
            }
        if (is_over(w->l, w->n_lists, ids, n + want) || ways != 1)
            break;
        ids[n + want] = only;
    }
    k = guide_forced(w->g, s, got, 16);
    w->wrong += k != want || memcmp(got, ids + n, want * sizeof(*got));
    if (want > 1)
        w->wrong += guide_forced(w->g, s, got, 1) != 1;
}

static void walk(struct walk *w, const void *state, size_t n)
{
    uint32_t mask[(VOCAB + 31) / 32];
    void *s = mem_zalloc(guide_state_bytes(w->g));

    memset(mask, 0xff, sizeof(mask));
    w->wrong += !guide_allowed(w->g, state, mask, VOCAB);
    check_forced(w, state, n);
    for (int32_t id = 0; id < VOCAB; id++) {
        bool want = may(w->l, w->n_lists, w->ids, n, id), over;

        w->wrong += has(mask, id) != want;
        if (!want)
            continue;
        w->ids[n] = id;
        over = is_over(w->l, w->n_lists, w->ids, n + 1);
        guide_fork(w->g, s, state);
        w->wrong += (guide_accept(w->g, s, id) == GUIDE_STOP) != over;
        w->ends += over;
        if (!over)
            walk(w, s, n + 1);
    }
    free(s);
}

static size_t all_ways(const struct guide_list *l, size_t n, size_t *ends)
{
    struct guide *g = guide_choice_new(l, n, stops, 2);
    struct walk w = {.g = g, .l = l, .n_lists = n};
    void *s = start(g);

    walk(&w, s, 0);
    free(s);
    guide_free(g);
    *ends += w.ends;
    return w.wrong;
}

static void definition(void)
{
    uint64_t x = 99;
    size_t wrong = 0, ends = 0;

    for (int round = 0; round < 2000; round++) {
        int32_t ids[LISTS_MAX][5];
        struct guide_list l[LISTS_MAX];
        size_t n = 1 + (size_t)round % LISTS_MAX;

        for (size_t i = 0; i < n; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            l[i] = (struct guide_list){ids[i], 1 + (x >> 60) % 5};
            for (int k = 0; k < 5; k++)
                ids[i][k] = 5 * (int32_t)(x >> (20 + 4 * k) & 3);
        }
        wrong += all_ways(l, n, &ends);
    }
    ok(!wrong && ends > 2000, "every way of 2000 sets (%zu ends)", ends);
}

/* --- corners ------------------------------------------------------------- */

static void corners(void)
{
    static const int32_t a[] = {1, 2}, b[] = {1, 2, 3}, c[] = {1, 39};
    static const int32_t late[] = {38};
    const struct guide_list three[] = {{a, 1}, {a, 2}, {c, 2}};
    const struct guide_list pair[] = {{b, 3}, {a, 2}}, two[] = {{a, 2}, {c, 2}};
    uint32_t mask[2] = {~0u, ~0u};
    struct guide *g = guide_choice_new(pair, 2, NULL, 0);
    void *s = start(g);
    int32_t ids[8];

    is_int(guide_forced(g, s, ids, 8), 3, "nothing ends the shorter one");
    guide_accept(g, s, 1);
    is_int(guide_accept(g, s, 17), GUIDE_GO, "an id that is on no list");
    is_int(guide_forced(g, s, ids, 8), 2, "changes nothing");
    free(s);
    guide_free(g);

    g = guide_choice_new(two, 2, stops, 2);
    s = start(g);
    guide_accept(g, s, 1);
    ok(guide_allowed(g, s, mask, 38) && mask[0] == 4 && !mask[1],
       "no bit beyond the vocabulary");
    mask[0] = ~4u;
    mask[1] = ~0u;
    ok(guide_allowed(g, s, mask, 40) && !mask[0] && mask[1] == 1u << 7,
       "what others forbade stays so");
    is_int(guide_accept(g, s, 39), GUIDE_STOP, "the end");
    is_int(guide_forced(g, s, ids, 8), 0, "nothing comes behind it");
    is_int(guide_accept(g, s, 1), GUIDE_STOP, "whatever is said");
    free(s);
    guide_free(g);

    mask[0] = mask[1] = ~0u;
    g = guide_choice_new(three, 3, late, 1);
    s = start(g);
    guide_accept(g, s, 1);
    ok(guide_allowed(g, s, mask, 40) && mask[0] == 4 && mask[1] == 3u << 6,
       "an end that is a higher id than what goes on");
    free(s);
    guide_free(g);

    g = guide_choice_new(pair, 2, a + 1, 1); /* 2 ends texts */
    s = start(g);
    guide_accept(g, s, 1);
    is_int(guide_accept(g, s, 2), GUIDE_GO, "an end inside a list");
    is_int(guide_accept(g, s, 2), GUIDE_STOP, "and as an end");
    free(s);
    guide_free(g);
}

int main(void)
{
    definition();
    corners();
    return done();
}
