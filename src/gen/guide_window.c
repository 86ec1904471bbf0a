#include "gen/guide_window.h"

#define GROUP 4 /* ids that are compared for what is new */
#define SLOTS (2 * THINK_WINDOW)

/* The i-th last id, 1 is the last. */
static int32_t last(const struct window *w, uint32_t i)
{
    return w->ids[(w->n - i) % THINK_WINDOW];
}

static uint32_t held(const struct window *w)
{
    return w->n < THINK_WINDOW ? w->n : THINK_WINDOW;
}

void window_init(struct window *w, const int32_t *ids, size_t n)
{
    memset(w, 0, sizeof(*w));
    for (size_t i = n > THINK_WINDOW ? n - THINK_WINDOW : 0; i < n; i++)
        window_add(w, ids[i]);
}

void window_add(struct window *w, int32_t id)
{
    w->ids[w->n++ % THINK_WINDOW] = id;
}

void window_watch(struct window *w)
{
    w->watched = 0;
    memset(w->run, 0, sizeof(w->run));
}

/* --- circles ------------------------------------------------------------- */

/* Before the id is in the window. */
static bool repeats(struct window *w, int32_t id)
{
    bool found = false;

    for (uint32_t unit = 1; unit <= UNIT_MAX; unit++) {
        uint32_t *run = &w->run[unit - 1], ids;

        if (unit <= w->watched && last(w, unit) == id)
            ++*run;
        else
            *run = 0;
        ids = *run + unit; /* that are one unit over and over */
        found = found || (ids >= UNIT_TIMES * unit && ids >= UNIT_IDS);
    }
    return found;
}

/* The groups begin at the i-th last id. */
static bool same_group(const struct window *w, uint32_t i, uint32_t j)
{
    for (uint32_t k = 0; k < GROUP; k++)
        if (last(w, i - k) != last(w, j - k))
            return false;
    return true;
}

static uint32_t group_hash(const struct window *w, uint32_t i)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (uint32_t k = 0; k < GROUP; k++)
        h = (h ^ (uint32_t)last(w, i - k)) * 0x100000001b3u;
    return (uint32_t)(h ^ h >> 32);
}

static bool stale(const struct window *w)
{
    uint16_t slot[SLOTS] = {0}; /* where a group begins; 0: free */
    uint32_t groups = THINK_WINDOW - GROUP + 1, different = 0;

    for (uint32_t i = THINK_WINDOW; i >= GROUP; i--) {
        uint32_t at = group_hash(w, i) % SLOTS;

        while (slot[at] && !same_group(w, slot[at], i))
            at = (at + 1) % SLOTS;
        different += !slot[at];
        slot[at] = (uint16_t)i;
    }
    return different * 100 < NEW_PERCENT * groups;
}

bool window_circles(struct window *w, int32_t id)
{
    bool found = repeats(w, id);

    window_add(w, id);
    w->watched++;
    if (w->watched >= THINK_WINDOW && w->watched % LOOK_IDS == 0)
        found = found || stale(w);
    return found;
}

/* --- n-grams ------------------------------------------------------------- */

static bool same_before(const struct window *w, uint32_t at, uint32_t n)
{
    for (uint32_t k = 1; k < n; k++)
        if (last(w, at + k) != last(w, k))
            return false;
    return true;
}

static bool any_set(const uint32_t *mask, size_t n_vocab)
{
    size_t whole = n_vocab / 32;

    for (size_t i = 0; i < whole; i++)
        if (mask[i])
            return true;
    return n_vocab % 32 && mask[whole] & ((1u << n_vocab % 32) - 1);
}

bool window_forbid(const struct window *w, uint32_t n,
                   bool (*spared)(const void *arg, int32_t id),
                   const void *arg, uint32_t *mask, size_t n_vocab)
{
    int32_t cleared[THINK_WINDOW];
    uint32_t ids = held(w), n_cleared = 0;

    /* at: what came behind the n - 1 ids before it */
    for (uint32_t at = 1; at + n - 1 <= ids; at++) {
        int32_t id = last(w, at);
        uint32_t *word, bit;

        if (!same_before(w, at, n) || id < 0 || (size_t)id >= n_vocab)
            continue;
        word = &mask[id / 32];
        bit = 1u << id % 32;
        /* an id that came often is asked about once */
        if (!(*word & bit) || spared(arg, id))
            continue;
        cleared[n_cleared++] = id;
        *word &= ~bit;
    }
    if (!n_cleared)
        return false;
    if (any_set(mask, n_vocab))
        return true;
    while (n_cleared--)
        mask[cleared[n_cleared] / 32] |= 1u << cleared[n_cleared] % 32;
    return false;
}
