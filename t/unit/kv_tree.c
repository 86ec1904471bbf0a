/*
 * The prefix tree: what it finds is what was inserted, exactly; pages are
 * never lost, never given away while somebody uses them, and the cheapest
 * goes first.
 */
#include "kv/tree.h"

#include "kernels/kernels.h"
#include "t/lib/tap.h"

/* Out of memory at the n-th allocation: the linker sends calls here. */
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t bytes);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t bytes);

static int fail_at = -1; /* allocations until one fails, -1: none */

static bool fails(void)
{
    return fail_at >= 0 && fail_at-- == 0;
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t bytes)
{
    return fails() ? NULL : __real_realloc(p, bytes);
}

#define PAGES_MAX 64

/* --- a tree with its pages ----------------------------------------------- */
struct box {
    struct kv_pages *pages;
    struct kv_tree *t;
    int32_t root;
    int dropped; /* states */
};

static void drop_state(void *arg, void *state)
{
    struct box *b = arg;

    b->dropped++;
    free(state);
}

static void open_box(struct box *b, size_t n, bool need_state)
{
    struct kv_tree_config c = {.need_state = need_state,
                               .drop_state = drop_state,
                               .arg = b};

    *b = (struct box){.pages = kv_pages_new(n, 100)};
    c.pages = b->pages;
    b->t = kv_tree_new(&c);
    b->root = kv_tree_root(b->t, "model/none/avx2");
}

static void close_box(struct box *b, const char *name)
{
    kv_tree_free(b->t);
    is_int(kv_pages_used(b->pages), 0, "%s: no page is lost", name);
    kv_pages_free(b->pages);
}

/* What a sequence does that computes all of it and leaves. */
static void add(struct box *b, int32_t root, const int32_t *u, int32_t n)
{
    int32_t pages[PAGES_MAX], count = (n + KV_PAGE - 1) / KV_PAGE;

    for (int32_t i = 0; i < count; i++)
        pages[i] = kv_pages_take(b->pages);
    kv_tree_insert(b->t, root, u, n, pages);
    for (int32_t i = 0; i < count; i++)
        kv_pages_unref(b->pages, pages[i]);
}

static void unmatch(struct box *b, const struct kv_match *m,
                    const int32_t *pages)
{
    for (int32_t i = 0; i < m->pages; i++)
        kv_pages_unref(b->pages, pages[i]);
    if (m->tail >= 0)
        kv_pages_unref(b->pages, m->tail);
}

static struct kv_match match(struct box *b, int32_t root, const int32_t *u,
                             int32_t n)
{
    int32_t pages[PAGES_MAX];
    struct kv_match m;

    kv_tree_match(b->t, root, u, n, &m, pages);
    unmatch(b, &m, pages);
    return m;
}

/* n units that no other seed has at these places */
static void fill(int32_t *u, int32_t n, int32_t seed)
{
    for (int32_t i = 0; i < n; i++)
        u[i] = seed * 100000 + i;
}

/* --- directed ------------------------------------------------------------ */
static void rows(void)
{
    int32_t u[400], v[400], pages[PAGES_MAX];
    struct box b;
    struct kv_match m;
    struct kv_tree_stats s;
    int32_t other;

    open_box(&b, 64, false);
    fill(u, 400, 1);
    is_int(match(&b, b.root, u, 400).rows, 0, "an empty tree knows nothing");
    add(&b, b.root, u, 200);
    is_int(kv_pages_used(b.pages), 4, "three pages and a part stay");
    m = match(&b, b.root, u, 400);
    is_int(m.rows, 200, "all rows are found");
    is_int(m.pages, 3, "three of its pages are full");
    ok(m.tail >= 0, "and a tail holds the rest");
    is_int(match(&b, b.root, u, 150).rows, 150, "a head is found whole");
    is_int(match(&b, b.root, u, 128).tail, -1, "at a boundary without tail");
    is_int(match(&b, b.root, u, 0).rows, 0, "nothing has no rows");

    memcpy(v, u, sizeof(u));
    v[100] = 7;
    m = match(&b, b.root, v, 400);
    is_int(m.rows, 100, "edited history: up to the edit");
    is_int(m.pages, 1, "one full page of it");
    ok(m.tail >= 0, "the other rows from a page that goes on otherwise");
    add(&b, b.root, v, 300);
    is_int(match(&b, b.root, u, 400).rows, 200, "the first is still known");
    is_int(match(&b, b.root, v, 400).rows, 300, "the edited one too");
    is_int(kv_pages_used(b.pages), 8, "and the head is there once");

    kv_tree_match(b.t, b.root, u, 200, &m, pages);
    is_int(kv_pages_refs(b.pages, pages[2]), 2, "a found page has a user");
    is_int(kv_pages_refs(b.pages, m.tail), 2, "the tail too");
    kv_tree_stats(b.t, &s);
    is_int(s.shared, 4, "four are shared");
    unmatch(&b, &m, pages);
    kv_tree_stats(b.t, &s);
    is_int(s.shared, 0, "and none afterwards");
    is_int(s.nodes, 8, "one node a page");
    is_int(s.hits, 7, "matches with rows");
    is_int(s.misses, 2, "and without");

    other = kv_tree_root(b.t, "model/other/avx2");
    ok(other != b.root, "another adapter is another root");
    is_int(kv_tree_root(b.t, "model/none/avx2"), b.root, "a name is one root");
    is_int(match(&b, other, u, 400).rows, 0, "roots share nothing");
    is_int(kv_tree_look(b.t, b.root, v, 260), 260, "look sees the same");
    kv_tree_clear(b.t);
    is_int(kv_pages_used(b.pages), 0, "clear gives everything back");
    is_int(kv_tree_look(b.t, b.root, v, 260), 0, "and nothing is known");
    close_box(&b, "rows");
}

static void parts(void)
{
    int32_t u[200], v[200];
    struct box b;

    open_box(&b, 64, false);
    fill(u, 200, 1);
    add(&b, b.root, u, 70);
    add(&b, b.root, u, 90);
    is_int(kv_pages_used(b.pages), 2, "a longer part takes the place");
    is_int(match(&b, b.root, u, 200).rows, 90, "and is found");
    add(&b, b.root, u, 80);
    is_int(kv_pages_used(b.pages), 2, "a shorter one says nothing new");
    memcpy(v, u, sizeof(u));
    v[75] = 3;
    add(&b, b.root, v, 95);
    is_int(kv_pages_used(b.pages), 3, "one that differs stands beside");
    is_int(match(&b, b.root, u, 200).rows, 90, "the first is found");
    is_int(match(&b, b.root, v, 200).rows, 95, "and the second");
    add(&b, b.root, u, 200);
    is_int(kv_pages_used(b.pages), 5, "a full page takes the part's place");
    is_int(match(&b, b.root, v, 200).rows, 95, "the other one stays");
    is_int(match(&b, b.root, u, 100).rows, 100, "a head of a full page");
    add(&b, b.root, u, 100);
    is_int(kv_pages_used(b.pages), 5, "which is known already");
    close_box(&b, "parts");
}

static void images(void)
{
    uint8_t digest[32] = {1, 2, 3};
    int32_t u[100], one, two, last = 0;
    struct box b;
    bool same = true;

    open_box(&b, 8, false);
    one = kv_tree_image(b.t, digest);
    digest[31] = 9;
    two = kv_tree_image(b.t, digest);
    ok(one < 0 && two < 0 && one != two, "two pictures are two units");
    is_int(kv_tree_image(b.t, digest), two, "the same picture is the same");
    ok(memcmp(kv_tree_digest(b.t, two), digest, 32) == 0, "its digest");
    ok(!kv_tree_digest(b.t, 0) && !kv_tree_digest(b.t, -3) &&
           !kv_tree_digest(b.t, INT32_MIN),
       "units that nobody made have none");
    for (int32_t i = 0; i < 100; i++)
        u[i] = i < 20 || i >= 60 ? i : one;
    add(&b, b.root, u, 100);
    is_int(match(&b, b.root, u, 100).rows, 100, "a picture is found");
    for (int32_t i = 20; i < 60; i++)
        u[i] = two;
    is_int(match(&b, b.root, u, 100).rows, 20, "another one is not it");
    for (int i = 0; i < 1000; i++) {
        digest[8] = (uint8_t)i; /* behind the bytes that choose the slot */
        digest[9] = (uint8_t)(i >> 8);
        last = kv_tree_image(b.t, digest);
        same = same && last < 0 &&
               memcmp(kv_tree_digest(b.t, last), digest, 32) == 0;
    }
    ok(same, "a thousand of them keep apart");
    is_int(last, -1001, "and each is counted once");
    close_box(&b, "images");
}

static void states(void)
{
    int32_t u[400], v[400];
    struct box b;
    struct kv_match m;
    struct kv_tree_stats s;
    void *two = malloc(1), *four = malloc(1), *again = malloc(1);
    void *lost = malloc(1);

    open_box(&b, 64, true);
    fill(u, 400, 1);
    memcpy(v, u, sizeof(u));
    v[300] = 5;
    add(&b, b.root, u, 330);
    is_int(kv_pages_used(b.pages), 5, "a part of a page is of no use");
    is_int(match(&b, b.root, u, 330).rows, 0, "without a state no match");
    ok(!kv_tree_put_state(b.t, b.root, u, 384, lost, 1), "a state of unknown");
    ok(!kv_tree_put_state(b.t, b.root, u, 100, lost, 1), "or of half a page");
    ok(!kv_tree_put_state(b.t, b.root, u, 0, lost, 1), "or of nothing");
    free(lost);
    ok(kv_tree_put_state(b.t, b.root, u, 128, two, 10), "a state behind two");
    ok(kv_tree_put_state(b.t, b.root, u, 256, four, 20), "and behind four");
    m = match(&b, b.root, u, 330);
    is_int(m.rows, 256, "the newest state counts");
    ok(m.state == four, "it is handed out");
    is_int(m.tail, -1, "without a tail");
    is_int(match(&b, b.root, v, 330).rows, 256, "an edit behind it");
    is_int(match(&b, b.root, u, 255).rows, 128, "a shorter prompt: the other");
    is_int(kv_tree_look(b.t, b.root, u, 255), 128, "look agrees");
    ok(kv_tree_put_state(b.t, b.root, u, 128, again, 10), "a second one");
    is_int(b.dropped, 1, "is dropped");
    kv_tree_stats(b.t, &s);
    is_int(s.states, 2, "two are there");
    is_int(s.state_bytes, 30, "of thirty bytes");
    (void)match(&b, b.root, u, 256);
    is_int(kv_tree_evict_states(b.t, 1), 10, "the oldest use goes first");
    is_int(match(&b, b.root, u, 330).rows, 256, "the other one is there");
    is_int(kv_tree_evict(b.t, 2), 2, "pages go");
    is_int(b.dropped, 3, "and take their state with them");
    is_int(match(&b, b.root, u, 330).rows, 0, "no state, no match");
    is_int(kv_tree_evict_states(b.t, 1), 0, "nothing to give");
    close_box(&b, "states");
}

static void order(void)
{
    int32_t u[400], v[400], w[400], pages[PAGES_MAX];
    struct kv_match m;
    struct kv_node *n;
    struct box b;
    int wrong = 0;

    open_box(&b, 64, false);
    fill(u, 400, 1);
    fill(v, 400, 2);
    fill(w, 400, 3);
    add(&b, b.root, u, 256);
    add(&b, b.root, v, 64);
    add(&b, b.root, w, 10);
    is_int(kv_tree_evict(b.t, 1), 1, "one page");
    is_int(match(&b, b.root, w, 10).rows, 0, "few rows go first");
    is_int(kv_tree_evict(b.t, 1), 1, "another");
    is_int(match(&b, b.root, v, 64).rows, 0, "then what is not deep");
    kv_tree_match(b.t, b.root, u, 256, &m, pages);
    is_int(kv_tree_evict(b.t, 10), 0, "what is used frees nothing");
    is_int(kv_tree_look(b.t, b.root, u, 256), 256, "and stays");
    unmatch(&b, &m, pages);
    is_int(kv_tree_evict(b.t, 10), 4, "afterwards it goes, leaves first");

    add(&b, b.root, u, 128);
    add(&b, b.root, v, 128);
    n = kv_tree_find(b.t, b.root, u, 128);
    kv_node_on_disk(n, true);
    is_int(kv_tree_evict_disk(b.t, 10), 1, "only what is on disk");
    is_int(kv_tree_look(b.t, b.root, u, 128), 64, "it was that one");
    kv_node_on_disk(kv_tree_find(b.t, b.root, v, 128), true);
    (void)match(&b, b.root, v, 128);
    is_int(kv_tree_evict(b.t, 1), 1, "of all the same");
    is_int(kv_tree_look(b.t, b.root, v, 128), 64, "what is on disk is cheap");
    kv_node_on_disk(kv_tree_find(b.t, b.root, v, 64), true);
    kv_node_on_disk(kv_tree_find(b.t, b.root, v, 64), false);
    (void)match(&b, b.root, v, 64);
    is_int(kv_tree_evict(b.t, 1), 1, "of two equals");
    is_int(kv_tree_look(b.t, b.root, u, 64), 0, "the one not used for longer");
    kv_tree_clear(b.t);
    add(&b, b.root, u, 64);
    add(&b, b.root, v, 64);
    (void)match(&b, b.root, u, 64);
    is_int(kv_tree_evict(b.t, 1), 1, "a match is a use:");
    is_int(kv_tree_look(b.t, b.root, u, 64), 64, "the older one stays");
    kv_tree_clear(b.t);

    /* a deep one that nobody asks for again does not stay for ever */
    add(&b, b.root, u, 256);
    for (int32_t i = 0; i < 200; i++) {
        fill(v, 64, 10 + i);
        add(&b, b.root, v, 64);
        wrong += kv_tree_evict(b.t, kv_pages_used(b.pages) > 8) != (i >= 4);
    }
    is_int(wrong, 0, "one in, one out");
    ok(kv_tree_look(b.t, b.root, u, 256) < 256, "what is old goes at last");
    close_box(&b, "order");
}

/* Rows that are there twice: the tree's go although a sequence stands below. */
static void doubled(void)
{
    int32_t u[192], mine[3], pages[3];
    struct box b;
    struct kv_match m;

    open_box(&b, 8, false);
    fill(u, 192, 1);
    add(&b, b.root, u, 128);
    for (int i = 0; i < 3; i++)
        mine[i] = kv_pages_take(b.pages);
    kv_tree_insert(b.t, b.root, u, 192, mine);
    is_int(kv_pages_refs(b.pages, mine[0]), 1, "it has this page already");
    is_int(kv_pages_refs(b.pages, mine[2]), 2, "and takes the new one");
    is_int(kv_tree_evict(b.t, 1), 1, "a page comes free");
    is_int(kv_pages_refs(b.pages, mine[2]), 1, "the sequence keeps its own");
    is_int(kv_tree_evict(b.t, 5), 1, "and the other one");
    kv_tree_insert(b.t, b.root, u, 192, mine);
    for (int i = 0; i < 3; i++)
        kv_pages_unref(b.pages, mine[i]);
    kv_tree_match(b.t, b.root, u, 192, &m, pages);
    ok(m.rows == 192 && pages[0] == mine[0] && pages[2] == mine[2],
       "inserted again, it is known again");
    unmatch(&b, &m, pages);
    close_box(&b, "doubled");
}

static void spill(void)
{
    int32_t u[200], v[200], out[200];
    struct kv_tree_stats s;
    struct kv_node *n;
    struct box b;

    open_box(&b, 16, false);
    fill(u, 200, 1);
    fill(v, 200, 2);
    add(&b, b.root, u, 190);
    add(&b, b.root, v, 100);
    n = kv_tree_next_spill(b.t);
    is_int(kv_node_rows(n), 128, "the deepest full page is offered first");
    is_int(kv_node_root(n), b.root, "with its root");
    ok(kv_node_page(n) >= 0, "its page");
    kv_node_units(n, out);
    ok(memcmp(out, u, 128 * sizeof(*u)) == 0, "and all units from the start");
    ok(kv_tree_find(b.t, b.root, u, 128) == n, "find finds it");
    ok(!kv_tree_find(b.t, b.root, u, 100) && !kv_tree_find(b.t, b.root, u, 192),
       "and no other length");
    kv_node_on_disk(n, true);
    kv_tree_stats(b.t, &s);
    is_int(s.on_disk, 1, "one is on disk");
    kv_node_on_disk(kv_tree_find(b.t, b.root, u, 64), true);
    n = kv_tree_next_spill(b.t);
    kv_node_units(n, out);
    ok(memcmp(out, v, 64 * sizeof(*u)) == 0, "what is there is not offered");
    ok(!kv_tree_next_spill(b.t), "parts of pages are not, nor anything twice");
    kv_node_spill_again(n);
    kv_node_spill_again(n);
    ok(kv_tree_next_spill(b.t) == n && !kv_tree_next_spill(b.t),
       "what was not taken comes once more");
    kv_tree_spill_behind(b.t, b.root, u, 128, 128);
    ok(!kv_tree_next_spill(b.t), "all of it is there");
    kv_tree_spill_behind(b.t, b.root, u, 128, 64);
    n = kv_tree_next_spill(b.t);
    ok(n && kv_node_rows(n) == 128 && !kv_tree_next_spill(b.t),
       "one page is not: it is offered again");
    kv_tree_spill_again(b.t);
    kv_tree_stats(b.t, &s);
    is_int(s.on_disk, 0, "when the disk has lost what it had, nothing is there");
    n = kv_tree_next_spill(b.t);
    is_int(kv_node_rows(n), 128, "and every full page is offered again");
    ok(kv_tree_next_spill(b.t) && kv_tree_next_spill(b.t) &&
           !kv_tree_next_spill(b.t), "all three of them");
    kv_node_on_disk(n, true);
    kv_tree_clear(b.t);
    kv_tree_stats(b.t, &s);
    is_int(s.on_disk, 0, "none is on disk in an empty tree");
    close_box(&b, "spill");
}

/* A prompt of a million tokens, and as many conversations. */
static void large(void)
{
    int32_t n = 16384 * KV_PAGE, *u = malloc((size_t)n * sizeof(*u)), v[64];
    int32_t *pages = malloc(16384 * sizeof(*pages));
    struct kv_match m;
    struct box b;
    size_t freed = 0;

    open_box(&b, 20000, false);
    fill(u, n, 0);
    for (int i = 0; i < 16384; i++)
        pages[i] = kv_pages_take(b.pages);
    kv_tree_insert(b.t, b.root, u, n, pages);
    for (int i = 0; i < 16384; i++)
        kv_pages_unref(b.pages, pages[i]);
    kv_tree_match(b.t, b.root, u, n, &m, pages);
    is_int(m.rows, n, "a million rows are found");
    for (int i = 0; i < m.pages; i++)
        kv_pages_unref(b.pages, pages[i]);
    for (int i = 0; i < 100000; i++) {
        fill(v, 64, 1 + i % 20000);
        if (!kv_pages_left(b.pages))
            freed += kv_tree_evict(b.t, 1);
        add(&b, b.root, v, 64);
    }
    ok(freed > 0 && kv_pages_used(b.pages) == 20000, "full, and one by one");
    close_box(&b, "large");
    free(u);
    free(pages);
}

/* --- against a list ------------------------------------------------------ */
#define LONG 330
#define SEQS 6
#define TEXTS 4000
#define MODEL_PAGES 4000

struct run { /* a sequence that runs */
    int32_t units[LONG], n, done; /* rows asked for and computed */
    int32_t pages[6], n_pages;
};

struct world {
    struct box b;
    struct run run[SEQS];
    struct {
        int32_t units[LONG], n;
    } text[TEXTS]; /* all that was inserted */
    int n_texts;
    /* what the rows in each page depend on */
    struct {
        int32_t units[LONG], n;
    } page[MODEL_PAGES];
    uint64_t seed;
    bool evicted;
    int wrong_rows, wrong_page, wrong_count, wrong_refs, matches, freed;
};

static uint32_t any(struct world *w, uint32_t below)
{
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(w->seed >> 33) % below;
}

static int32_t same(const int32_t *a, int32_t na, const int32_t *b, int32_t nb)
{
    int32_t i = 0;

    while (i < na && i < nb && a[i] == b[i])
        i++;
    return i;
}

static int32_t known(const struct world *w, const int32_t *u, int32_t n)
{
    int32_t best = 0;

    for (int i = 0; i < w->n_texts; i++) {
        int32_t k = same(w->text[i].units, w->text[i].n, u, n);

        best = k > best ? k : best;
    }
    return best;
}

static void insert(struct world *w, struct run *r, int32_t n)
{
    kv_tree_insert(w->b.t, w->b.root, r->units, n, r->pages);
    memcpy(w->text[w->n_texts].units, r->units, sizeof(r->units));
    w->text[w->n_texts++].n = n;
}

static void compute(struct world *w, struct run *r, int32_t rows)
{
    for (; rows && r->done < r->n; rows--) {
        int32_t p = r->done / KV_PAGE, page;

        if (p == r->n_pages) {
            if (!kv_pages_left(w->b.pages)) {
                size_t was = kv_pages_used(w->b.pages);
                size_t got = kv_tree_evict(w->b.t, 1 + any(w, 3));

                w->evicted = true;
                w->freed += (int)got;
                w->wrong_count += was - got != kv_pages_used(w->b.pages);
            }
            page = kv_pages_take(w->b.pages);
            if (page < 0)
                return;
            r->pages[r->n_pages++] = page;
        }
        page = r->pages[p];
        r->done++;
        memcpy(w->page[page].units, r->units, sizeof(r->units));
        w->page[page].n = r->done;
    }
}

static void start(struct world *w, struct run *r)
{
    struct kv_match m;
    int32_t k = 0, want;

    r->n = 1 + (int32_t)any(w, LONG);
    if (w->n_texts && any(w, 8)) { /* it shares a head with an earlier one */
        const int32_t *u = w->text[any(w, (uint32_t)w->n_texts)].units;

        k = (int32_t)any(w, LONG);
        memcpy(r->units, u, (size_t)k * sizeof(*u));
    }
    for (; k < LONG; k++)
        r->units[k] = (int32_t)any(w, 2) - (int32_t)any(w, 2);
    want = known(w, r->units, r->n - 1);
    w->wrong_rows += kv_tree_look(w->b.t, w->b.root, r->units, r->n - 1) >
                     want;
    kv_tree_match(w->b.t, w->b.root, r->units, r->n - 1, &m, r->pages);
    w->matches++;
    w->wrong_rows += w->evicted ? m.rows > want : m.rows != want;
    for (int32_t i = 0; i < m.pages; i++)
        w->wrong_page += w->page[r->pages[i]].n != (i + 1) * KV_PAGE ||
                         same(w->page[r->pages[i]].units, LONG, r->units,
                              LONG) < (i + 1) * KV_PAGE;
    r->n_pages = m.pages;
    r->done = m.pages * KV_PAGE;
    w->wrong_page += (m.tail >= 0) != (m.rows % KV_PAGE > 0);
    if (m.tail >= 0) {
        w->wrong_page += same(w->page[m.tail].units, w->page[m.tail].n,
                              r->units, LONG) < m.rows;
        compute(w, r, m.rows - r->done); /* the copy */
        kv_pages_unref(w->b.pages, m.tail);
    }
}

static void leave(struct world *w, struct run *r)
{
    for (int32_t i = 0; i < r->n_pages; i++)
        w->wrong_page += same(w->page[r->pages[i]].units, LONG, r->units,
                              LONG) < (r->done < (i + 1) * KV_PAGE
                                           ? r->done
                                           : (i + 1) * KV_PAGE);
    insert(w, r, r->done);
    for (int32_t i = 0; i < r->n_pages; i++)
        kv_pages_unref(w->b.pages, r->pages[i]);
    r->n = r->n_pages = r->done = 0;
}

static void balance(struct world *w)
{
    static unsigned char by[MODEL_PAGES];
    struct kv_tree_stats s;
    size_t shared = 0, own = 0;

    memset(by, 0, sizeof(by));
    for (int k = 0; k < SEQS; k++)
        for (int32_t i = 0; i < w->run[k].n_pages; i++)
            by[w->run[k].pages[i]]++;
    kv_tree_stats(w->b.t, &s);
    for (size_t i = 0; i < kv_pages_total(w->b.pages); i++) {
        uint32_t refs = kv_pages_refs(w->b.pages, (int32_t)i);

        w->wrong_refs += refs < by[i] || refs > by[i] + 1u;
        shared += by[i] && refs == by[i] + 1u;
        own += refs == by[i] && refs;
    }
    w->wrong_refs += s.shared != shared ||
                     s.pages + own != kv_pages_used(w->b.pages) ||
                     kv_pages_idle(w->b.pages) + shared != s.pages;
}

static void model(size_t pages, uint64_t seed)
{
    struct world *w = calloc(1, sizeof(*w));

    open_box(&w->b, pages, false);
    w->seed = seed;
    while (w->n_texts < TEXTS - SEQS - 1) {
        struct run *r = &w->run[any(w, SEQS)];
        int32_t was = r->done / KV_PAGE;

        if (!r->n) {
            start(w, r);
        } else if (any(w, 10) == 0) {
            leave(w, r);
        } else {
            compute(w, r, (int32_t)any(w, 60));
            if (r->done / KV_PAGE > was)
                insert(w, r, r->done / KV_PAGE * KV_PAGE);
            if (any(w, 50) == 0)
                (void)kv_tree_next_spill(w->b.t);
        }
        if (w->n_texts % 16 == 0)
            balance(w);
    }
    for (int i = 0; i < SEQS; i++)
        leave(w, &w->run[i]);
    balance(w);
    is_int(w->wrong_rows, 0, "rows of %d matches in %zu pages", w->matches,
           pages);
    is_int(w->wrong_page, 0, "every page holds what was asked for");
    is_int(w->wrong_refs, 0, "references are those of tree and sequences");
    is_int(w->wrong_count, 0, "evict frees what it says (%d)", w->freed);
    ok(w->evicted == (pages < MODEL_PAGES), "evicted when it was small");
    kv_tree_clear(w->b.t);
    is_int(kv_pages_used(w->b.pages), 0, "nothing is left");
    close_box(&w->b, "model");
    free(w);
}

/* Whatever allocation fails: less is known, nothing is lost or wrong. */
static void no_memory(void)
{
    int32_t u[400], v[400];
    uint8_t digest[32] = {0};
    int bad = 0, runs = 0;

    fill(u, 400, 1);
    memcpy(v, u, sizeof(u));
    v[100] = 1;
    for (bool all = false; !all && runs < 200; runs++) {
        struct kv_tree_config c = {0};
        struct kv_pages *p = kv_pages_new(16, 1);
        struct box b = {.pages = p};

        c.pages = p;
        fail_at = runs;
        b.t = kv_tree_new(&c);
        b.root = b.t ? kv_tree_root(b.t, "a") : -1;
        if (b.root >= 0) {
            int32_t unit = kv_tree_image(b.t, digest);

            add(&b, b.root, u, 200);
            add(&b, b.root, v, 200);
            all = fail_at >= 0;
            fail_at = -1;
            bad += kv_tree_look(b.t, b.root, u, 400) > 200;
            bad += all && match(&b, b.root, v, 400).rows != 200;
            bad += unit > 0 || (all && !unit);
            kv_tree_evict(b.t, 1);
            add(&b, b.root, u, 200);
            bad += match(&b, b.root, u, 400).rows != 200;
        }
        fail_at = -1;
        kv_tree_free(b.t);
        bad += kv_pages_used(p) != 0;
        kv_pages_free(p);
    }
    ok(runs > 10 && runs < 200, "every allocation failed once (%d)", runs);
    is_int(bad, 0, "without memory less is known, nothing wrong");
}

int main(void)
{
    rows();
    parts();
    images();
    states();
    order();
    doubled();
    spill();
    large();
    model(MODEL_PAGES, 1);
    model(30, 2);
    model(60, 3);
    no_memory();
    return done();
}
