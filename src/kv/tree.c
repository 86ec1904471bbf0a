#include "kv/tree_int.h"

#include "base/mem.h"

/* --- units --------------------------------------------------------------- */
static int32_t common(const struct kv_node *n, const int32_t *u, int32_t r)
{
    int32_t most = n->n < r ? n->n : r, i = 0;

    while (i < most && n->units[i] == u[i])
        i++;
    return i;
}

/* Does the node sort before these units? */
static bool below(const struct kv_node *n, const int32_t *u, int32_t r)
{
    int32_t i = common(n, u, r);

    if (i == r)
        return false;
    return i == n->n || n->units[i] < u[i];
}

/* The first child that does not sort before u[0..r). */
static size_t place(const struct kv_node *p, const int32_t *u, int32_t r)
{
    size_t lo = 0, hi = p->n_kids;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (below(p->kids[mid], u, r))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The child that is this full page, NULL: none. */
static struct kv_node *full_kid(const struct kv_node *p, const int32_t *u)
{
    size_t i = place(p, u, KV_PAGE);

    if (i < p->n_kids && common(p->kids[i], u, KV_PAGE) == KV_PAGE)
        return p->kids[i];
    return NULL;
}

/*
 * The child with the most units in common, at least one; NULL: none. In a
 * sorted list it stands beside the place of what is looked for.
 */
static struct kv_node *best_kid(const struct kv_node *p, const int32_t *u,
                                int32_t r, int32_t *rows)
{
    size_t i = place(p, u, r);
    struct kv_node *best = NULL;

    *rows = 0;
    for (size_t k = i ? i - 1 : 0; k <= i && k < p->n_kids; k++) {
        int32_t c = common(p->kids[k], u, r);

        if (c > *rows) {
            *rows = c;
            best = p->kids[k];
        }
    }
    return best;
}

/* --- nodes --------------------------------------------------------------- */
static struct kv_node *node_new(struct kv_root *root, const int32_t *u,
                                int32_t n)
{
    struct kv_node *node =
        mem_try(sizeof(*node) + (size_t)n * sizeof(node->units[0]));

    if (!node)
        return NULL;
    node->root = root;
    node->n = n;
    node->at[AT_LEAF] = node->at[AT_SPILL] = AT_NONE;
    if (n)
        memcpy(node->units, u, (size_t)n * sizeof(*u));
    return node;
}

static void node_free(struct kv_node *n)
{
    free(n->kids);
    free(n);
}

static bool kid_room(struct kv_node *p)
{
    size_t cap = p->cap_kids ? p->cap_kids * 2 : 1, bytes;
    struct kv_node **kids;

    if (p->n_kids < p->cap_kids)
        return true;
    if (!mem_mul(&bytes, cap, sizeof(*kids)))
        return false;
    kids = realloc(p->kids, bytes);
    if (!kids)
        return false;
    p->kids = kids;
    p->cap_kids = cap;
    return true;
}

/* NULL, and nothing changed, when out of memory. */
static struct kv_node *node_add(struct kv_node *p, const int32_t *u, int32_t n,
                                int32_t page)
{
    struct kv_tree *t = p->root->tree;
    size_t i = place(p, u, n);
    struct kv_node *node;

    if (!kid_room(p) || !kv_worth_room(t))
        return NULL;
    node = node_new(p->root, u, n);
    if (!node)
        return NULL;
    kv_pages_hold(t->c.pages, page);
    node->parent = p;
    node->rows = p->rows + n;
    node->page = page;
    memmove(p->kids + i + 1, p->kids + i,
            (p->n_kids - i) * sizeof(p->kids[0]));
    p->kids[i] = node;
    p->n_kids++;
    if (p->parent)
        kv_node_inner(p);
    t->n_nodes++;
    t->stats.inserted++;
    kv_node_touch(node);
    kv_node_leaf(node);
    if (n == KV_PAGE)
        kv_heap_push(&t->spill, node);
    return node;
}

void kv_node_drop(struct kv_node *n)
{
    struct kv_node *p = n->parent;
    struct kv_tree *t = n->root->tree;
    size_t i = place(p, n->units, n->n);

    BUG_ON(n->n_kids || i == p->n_kids || p->kids[i] != n);
    p->n_kids--;
    memmove(p->kids + i, p->kids + i + 1,
            (p->n_kids - i) * sizeof(p->kids[0]));
    kv_node_unlist(n);
    kv_pages_let(t->c.pages, n->page);
    if (p->parent && !p->n_kids)
        kv_node_leaf(p);
    t->n_nodes--;
    t->stats.on_disk -= n->on_disk;
    node_free(n);
}

/* --- the tree ------------------------------------------------------------ */
struct kv_tree *kv_tree_new(const struct kv_tree_config *c)
{
    struct kv_tree *t = mem_try(sizeof(*t));

    if (!t)
        return NULL;
    t->c = *c;
    t->leaves[0].slot = t->leaves[1].slot = AT_LEAF;
    t->spill.slot = AT_SPILL;
    t->spill.most = true;
    return t;
}

/* A chain may be long: down by hand, leaf by leaf. */
static void drop_below(struct kv_node *top)
{
    struct kv_node *n = top;

    while (n != top || n->n_kids) {
        if (n->n_kids) {
            n = n->kids[n->n_kids - 1];
        } else {
            struct kv_node *p = n->parent;

            kv_node_drop(n);
            n = p;
        }
    }
}

void kv_tree_free(struct kv_tree *t)
{
    if (!t)
        return;
    for (int32_t i = 0; i < t->n_roots; i++) {
        drop_below(t->roots[i]->top);
        node_free(t->roots[i]->top);
        free(t->roots[i]->name);
        free(t->roots[i]);
    }
    free(t->roots);
    kv_images_release(&t->images);
    free(t->leaves[0].v);
    free(t->leaves[1].v);
    free(t->spill.v);
    free(t->aside);
    free(t);
}

int32_t kv_tree_root(struct kv_tree *t, const char *name)
{
    struct kv_root *r, **roots;
    size_t len = strlen(name) + 1;

    for (int32_t i = 0; i < t->n_roots; i++)
        if (strcmp(t->roots[i]->name, name) == 0)
            return i;
    if (t->n_roots == INT32_MAX)
        return -1;
    roots = realloc(t->roots, ((size_t)t->n_roots + 1) * sizeof(*roots));
    if (!roots)
        return -1;
    t->roots = roots;
    r = mem_try(sizeof(*r));
    if (!r)
        return -1;
    r->tree = t;
    r->index = t->n_roots;
    r->name = mem_try(len);
    r->top = node_new(r, NULL, 0);
    if (!r->name || !r->top) {
        free(r->name);
        free(r->top);
        free(r);
        return -1;
    }
    memcpy(r->name, name, len);
    t->roots[t->n_roots] = r;
    return t->n_roots++;
}

static struct kv_node *top_of(const struct kv_tree *t, int32_t root)
{
    BUG_ON(root < 0 || root >= t->n_roots);
    return t->roots[root]->top;
}

/* --- look and match ------------------------------------------------------ */
struct found {
    struct kv_node *full; /* the last full page of the match; the top: none */
    struct kv_node *tail; /* NULL: none */
    int32_t rows;
};

static struct found find(const struct kv_tree *t, int32_t root,
                         const int32_t *units, int32_t n)
{
    struct kv_node *p = top_of(t, root), *kid = p;
    struct found f = {p, NULL, 0};
    int32_t more;

    while (kid && n - p->rows >= KV_PAGE) {
        kid = full_kid(p, units + p->rows);
        if (kid)
            p = kid;
    }
    if (t->c.need_state) {
        while (p->parent && !p->state)
            p = p->parent;
    } else if (n > p->rows) {
        int32_t r = n - p->rows;

        f.tail = best_kid(p, units + p->rows, r < KV_PAGE ? r : KV_PAGE,
                          &more);
        f.rows = f.tail ? more : 0;
    }
    f.full = p;
    f.rows += p->rows;
    return f;
}

void kv_tree_match(struct kv_tree *t, int32_t root, const int32_t *units,
                   int32_t n, struct kv_match *m, int32_t *pages)
{
    struct found f = find(t, root, units, n);

    *m = (struct kv_match){.rows = f.rows,
                           .pages = f.rows / KV_PAGE,
                           .tail = f.tail ? f.tail->page : -1,
                           .state = f.full->state};
    t->uses++;
    for (struct kv_node *p = f.full; p->parent; p = p->parent) {
        pages[p->rows / KV_PAGE - 1] = p->page;
        kv_pages_ref(t->c.pages, p->page);
        kv_node_touch(p);
    }
    if (f.tail) {
        kv_pages_ref(t->c.pages, f.tail->page);
        kv_node_touch(f.tail);
    }
    if (f.full->state)
        kv_state_use(f.full);
    if (f.rows)
        t->stats.hits++;
    else
        t->stats.misses++;
    t->stats.rows_hit += (uint64_t)f.rows;
    t->stats.rows_asked += n > 0 ? (uint64_t)n : 0;
}

int32_t kv_tree_look(const struct kv_tree *t, int32_t root,
                     const int32_t *units, int32_t n)
{
    return find(t, root, units, n).rows;
}

struct kv_node *kv_tree_find(struct kv_tree *t, int32_t root,
                             const int32_t *units, int32_t n)
{
    struct kv_node *p = top_of(t, root);

    if (n <= 0 || n % KV_PAGE)
        return NULL;
    while (p && p->rows < n)
        p = full_kid(p, units + p->rows);
    return p;
}

/* --- insert -------------------------------------------------------------- */
/* A part of a page, or a full one, behind p. NULL: no memory, or part of what
 * is there already. */
static struct kv_node *add(struct kv_node *p, const int32_t *u, int32_t n,
                           int32_t page)
{
    struct kv_node *short_one = NULL, *node;
    size_t i = place(p, u, n);

    if (i < p->n_kids && common(p->kids[i], u, n) == n)
        return NULL;
    /* A leaf that is the head of the new one says nothing any more. There is
     * one at most: no leaf is the head of another. */
    if (i && p->kids[i - 1]->n < n &&
        common(p->kids[i - 1], u, n) == p->kids[i - 1]->n)
        short_one = p->kids[i - 1];
    node = node_add(p, u, n, page);
    if (node && short_one)
        kv_node_drop(short_one);
    return node;
}

void kv_tree_insert(struct kv_tree *t, int32_t root, const int32_t *units,
                    int32_t n, const int32_t *pages)
{
    struct kv_node *p = top_of(t, root);

    t->uses++;
    while (n - p->rows >= KV_PAGE) {
        const int32_t *u = units + p->rows;
        struct kv_node *kid = full_kid(p, u);

        if (kid)
            kv_node_touch(kid);
        else
            kid = add(p, u, KV_PAGE, pages[p->rows / KV_PAGE]);
        if (!kid)
            return;
        p = kid;
    }
    if (n > p->rows && !t->c.need_state)
        (void)add(p, units + p->rows, n - p->rows, pages[p->rows / KV_PAGE]);
}

bool kv_tree_put_state(struct kv_tree *t, int32_t root, const int32_t *units,
                       int32_t n, void *state, size_t bytes)
{
    struct kv_node *node = kv_tree_find(t, root, units, n);

    if (!node)
        return false;
    if (node->state) {
        if (t->c.drop_state)
            t->c.drop_state(t->c.arg, state);
    } else {
        node->state = state;
        node->state_bytes = bytes;
        t->stats.states++;
        t->stats.state_bytes += bytes;
    }
    kv_state_use(node);
    return true;
}

/* --- nodes for the disk tier, figures ------------------------------------ */
int32_t kv_node_root(const struct kv_node *n)
{
    return n->root->index;
}

int32_t kv_node_page(const struct kv_node *n)
{
    return n->page;
}

int32_t kv_node_rows(const struct kv_node *n)
{
    return n->rows;
}

void kv_node_units(const struct kv_node *n, int32_t *out)
{
    for (; n->parent; n = n->parent)
        memcpy(out + n->rows - n->n, n->units,
               (size_t)n->n * sizeof(n->units[0]));
}

/* Parents first; NULL: n was the last one below its top. */
static struct kv_node *following(struct kv_node *n)
{
    if (n->n_kids)
        return n->kids[0];
    for (; n->parent; n = n->parent) {
        size_t i = place(n->parent, n->units, n->n) + 1;

        if (i < n->parent->n_kids)
            return n->parent->kids[i];
    }
    return NULL;
}

void kv_tree_spill_behind(struct kv_tree *t, int32_t root,
                          const int32_t *units, int32_t n, int32_t have)
{
    struct kv_node *node = kv_tree_find(t, root, units, n);

    for (; node && node->rows > have; node = node->parent) {
        kv_node_on_disk(node, false);
        kv_node_spill_again(node);
    }
}

void kv_tree_spill_again(struct kv_tree *t)
{
    for (int32_t i = 0; i < t->n_roots; i++) {
        struct kv_node *n = t->roots[i]->top;

        while ((n = following(n)) != NULL) {
            kv_node_on_disk(n, false);
            if (n->n == KV_PAGE)
                kv_node_spill_again(n);
        }
    }
}

void kv_tree_stats(const struct kv_tree *t, struct kv_tree_stats *out)
{
    *out = t->stats;
    out->nodes = out->pages = t->n_nodes;
    out->shared = t->n_nodes - kv_pages_idle(t->c.pages);
}
