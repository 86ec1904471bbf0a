#include "gram/vocab.h"

#include "base/utf8.h"
#include "gram/grammar.h"

#define IDS_MAX (1u << 24)

struct sorted {
    uint64_t head; /* the first bytes, so that most comparisons end here */
    const char *s;
    uint32_t n, id;
};

static uint64_t head_of(const char *s, size_t n)
{
    uint64_t head = 0;

    for (size_t i = 0; i < 8; i++)
        head = head << 8 | (i < n ? (uint8_t)s[i] : 0);
    return head;
}

/* By bytes, then by id. */
static int compare(const void *pa, const void *pb)
{
    const struct sorted *a = pa, *b = pb;
    size_t n = a->n < b->n ? a->n : b->n;
    int d;

    if (a->head != b->head)
        return a->head < b->head ? -1 : 1;
    d = memcmp(a->s, b->s, n);
    if (d)
        return d;
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static size_t common(const struct sorted *a, const struct sorted *b)
{
    size_t i = 0;

    while (i < a->n && i < b->n && a->s[i] == b->s[i])
        i++;
    return i;
}

/* Is it plain text? *chars: how many characters. */
static bool is_plain(const char *s, size_t n, uint32_t *chars)
{
    size_t i = 0;

    for (*chars = 0; i < n; ++*chars) {
        uint32_t cp;
        size_t len = utf8_decode(s + i, n - i, &cp);
        if (!len || cp < 0x20 || cp == 0x7f || cp == '"' || cp == '\\')
            return false;
        i += len;
    }
    return true;
}

static enum st build_trie(struct gram_trie *t, struct gram_vocab *v,
                          const struct sorted *of, size_t n, struct err *e)
{
    uint32_t open[GRAM_PIECE_MAX]; /* nodes of the id before, by depth */
    size_t depth = 0, total = 0, at = 0;

    for (size_t i = 0; i < n; i++)
        total += of[i].n - (i ? common(&of[i - 1], &of[i]) : 0);
    if (total >= INT32_MAX)
        return err_set(e, ST_LIMIT, "",
                       "the vocabulary has %zu different beginnings", total);
    t->nodes = mem_try_table(total + 1, sizeof(*t->nodes));
    if (!t->nodes)
        return err_set(e, ST_NOMEM, "", "no memory for a trie of %zu nodes",
                       total);
    for (size_t i = 0; i < n; i++) {
        size_t keep = i ? common(&of[i - 1], &of[i]) : 0;
        while (depth > keep)
            t->nodes[open[--depth]].end = (uint32_t)at;
        for (; depth < of[i].n; depth++) {
            open[depth] = (uint32_t)at;
            t->nodes[at++] = (struct gram_node){
                .id = -1,
                .depth = (uint16_t)depth,
                .byte = (uint8_t)of[i].s[depth],
            };
        }
        struct gram_node *last = &t->nodes[open[depth - 1]];
        if (last->id < 0) {
            last->id = (int32_t)of[i].id;
        } else {
            last->several = true;
            v->next_same[of[i - 1].id] = (int32_t)of[i].id;
        }
    }
    while (depth > 0)
        t->nodes[open[--depth]].end = (uint32_t)at;
    t->n = at;
    v->bytes += (total + 1) * sizeof(*t->nodes);
    return ST_OK;
}

static int compare_long(const void *pa, const void *pb)
{
    const struct gram_long *a = pa, *b = pb;

    if (a->chars != b->chars)
        return a->chars < b->chars ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Plain ids go into masks and list, the others to the front of `of`. Returns
 * how many those are. */
static size_t split(struct gram_vocab *v, struct sorted *of, size_t n)
{
    size_t rough = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t chars, id = of[i].id;
        if (!is_plain(of[i].s, of[i].n, &chars))
            of[rough++] = of[i];
        else if (chars <= GRAM_PLAIN_MAX)
            v->plain[chars * v->words + id / 32] |= 1u << id % 32;
        else
            v->plain_long[v->n_long++] =
                (struct gram_long){chars, (int32_t)id};
    }
    for (size_t i = v->words; i < (GRAM_PLAIN_MAX + 1) * v->words; i++)
        v->plain[i] |= v->plain[i - v->words];
    qsort(v->plain_long, v->n_long, sizeof(*v->plain_long), compare_long);
    return rough;
}

/* The list of long ids was made for all of them; there are few. */
static void give_back_rest(struct gram_vocab *v)
{
    size_t bytes = (v->n_long + 1) * sizeof(*v->plain_long);
    struct gram_long *less = realloc(v->plain_long, bytes);

    if (less)
        v->plain_long = less;
    v->bytes += bytes;
}

static void note_run(struct gram_vocab *v, struct span s)
{
    size_t columns = 0;

    for (size_t n = 0; n < s.n && strchr(" \t\n\r", s.s[n]) && s.s[n]; n++)
        columns += gram_columns((unsigned char)s.s[n]);
    if (columns < GRAM_RUNS)
        v->runs[columns] = true;
}

static enum st build(struct gram_vocab *v, struct sorted *of,
                     const struct span *pieces, struct err *e)
{
    size_t n = 0, plain_words = (GRAM_PLAIN_MAX + 1) * v->words;
    enum st st;

    v->next_same = mem_try_array(v->n_ids + 1, sizeof(*v->next_same));
    v->plain = mem_try_table(plain_words + 1, sizeof(*v->plain));
    v->plain_long = mem_try_array(v->n_ids + 1, sizeof(*v->plain_long));
    if (!v->next_same || !v->plain || !v->plain_long)
        return err_set(e, ST_NOMEM, "", "no memory for %zu ids", v->n_ids);
    v->bytes = sizeof(*v) + (v->n_ids + 1) * sizeof(*v->next_same) +
               (plain_words + 1) * sizeof(*v->plain);
    for (size_t i = 0; i < v->n_ids; i++) {
        v->next_same[i] = -1;
        if (pieces[i].n == 0)
            continue;
        note_run(v, pieces[i]);
        of[n++] = (struct sorted){head_of(pieces[i].s, pieces[i].n),
                                  pieces[i].s, (uint32_t)pieces[i].n,
                                  (uint32_t)i};
        if (pieces[i].n > v->longest)
            v->longest = pieces[i].n;
    }
    qsort(of, n, sizeof(*of), compare);
    st = build_trie(&v->all, v, of, n, e);
    if (!st)
        st = build_trie(&v->rough, v, of, split(v, of, n), e);
    if (!st)
        give_back_rest(v);
    return st;
}

enum st gram_vocab_new(struct gram_vocab **out, const struct span *pieces,
                       size_t n, struct err *e)
{
    struct gram_vocab *v;
    struct sorted *of;
    enum st st;

    *out = NULL;
    if (n > IDS_MAX)
        return err_set(e, ST_LIMIT, "", "%zu ids are more than %u", n, IDS_MAX);
    for (size_t i = 0; i < n; i++) {
        if (pieces[i].n > GRAM_PIECE_MAX)
            return err_set(e, ST_LIMIT, "", "id %zu has %zu bytes, over %d", i,
                           pieces[i].n, GRAM_PIECE_MAX);
    }
    v = mem_new(struct gram_vocab);
    v->n_ids = n;
    v->words = (n + 31) / 32;
    of = mem_try_array(n + 1, sizeof(*of));
    st = of ? build(v, of, pieces, e)
            : err_set(e, ST_NOMEM, "", "no memory for %zu ids", n);
    free(of);
    if (st)
        gram_vocab_free(v);
    else
        *out = v;
    return st;
}

void gram_vocab_free(struct gram_vocab *v)
{
    if (!v)
        return;
    free(v->all.nodes);
    free(v->rough.nodes);
    free(v->next_same);
    free(v->plain);
    free(v->plain_long);
    free(v);
}

/* The longest id at the front of s; 0: none, or one could reach beyond s. */
static size_t longest_at(const struct gram_vocab *v, const char *s, size_t n,
                         int32_t *id)
{
    const struct gram_node *nodes = v->all.nodes;
    size_t i = 0, end = v->all.n, depth = 0, best = 0;

    while (i < end) {
        if (nodes[i].byte != (uint8_t)s[depth]) {
            i = nodes[i].end;
            continue;
        }
        depth++;
        if (nodes[i].id >= 0) {
            best = depth;
            *id = nodes[i].id;
        }
        end = nodes[i].end;
        i++;
        if (depth == n)
            return i < end ? 0 : best;
    }
    return best;
}

size_t gram_vocab_cut(const struct gram_vocab *v, const char *s, size_t n,
                      int32_t *ids, size_t cap)
{
    size_t at = 0, count = 0;

    while (at < n && count < cap) {
        int32_t id = -1;
        size_t took = longest_at(v, s + at, n - at, &id);
        if (!took)
            break;
        while (v->next_same[id] >= 0)
            id = v->next_same[id];
        ids[count++] = id;
        at += took;
    }
    return count;
}
