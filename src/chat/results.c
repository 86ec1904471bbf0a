#include "chat/format_int.h"

/* An id of the latest assistant message, and which of its calls has it. */
struct known {
    struct text id;
    size_t at;
};

struct sorter {
    struct arena *a;
    const struct chat_msg *caller; /* the latest assistant message; NULL */
    const struct known *known;     /* [n_known] by id, each once; made late */
    size_t n_known;
    bool made;
};

struct placed {
    size_t at, arrival;
    struct chat_msg msg;
};

static int by_text(struct text a, struct text b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.s, b.s, n) : 0;

    return c ? c : (a.n > b.n) - (a.n < b.n);
}

static int by_id(const void *pa, const void *pb)
{
    const struct known *a = pa, *b = pb;
    int c = by_text(a->id, b->id);

    return c ? c : (a->at > b->at) - (a->at < b->at);
}

static int by_place(const void *pa, const void *pb)
{
    const struct placed *a = pa, *b = pb;

    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a->arrival < b->arrival ? -1 : 1;
}

/* The ids of the caller's calls, sorted; the first of equal ones stays. */
static bool learn(struct sorter *s)
{
    size_t n = s->caller ? s->caller->n_calls : 0, used = 0;
    struct known *list;

    s->made = true;
    s->n_known = 0;
    if (!n)
        return true;
    list = arena_array(s->a, n, sizeof(*list));
    if (!list)
        return false;
    for (size_t i = 0; i < n; i++)
        if (s->caller->calls[i].id.n)
            list[used++] = (struct known){s->caller->calls[i].id, i};
    qsort(list, used, sizeof(*list), by_id);
    for (size_t i = 0; i < used; i++)
        if (!s->n_known || by_text(list[i].id, list[s->n_known - 1].id))
            list[s->n_known++] = list[i];
    s->known = list;
    return true;
}

static const struct known *find(const struct sorter *s, struct text id)
{
    size_t lo = 0, hi = s->n_known;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = by_text(s->known[mid].id, id);

        if (!c)
            return &s->known[mid];
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

/* One maximal run of results, in place: all of them match, or none moves. */
static bool sort_run(struct sorter *s, struct chat_msg *run, size_t n)
{
    struct placed *list;

    if (!s->made && !learn(s))
        return false;
    if (!s->n_known)
        return true;
    list = arena_array(s->a, n, sizeof(*list));
    if (!list)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct known *k = run[i].call_id.n ? find(s, run[i].call_id)
                                                 : NULL;

        if (!k)
            return true;
        list[i] = (struct placed){k->at, i, run[i]};
    }
    qsort(list, n, sizeof(*list), by_place);
    for (size_t i = 0; i < n; i++) {
        run[i] = list[i].msg;
        run[i].tool = s->caller->calls[list[i].at].name;
        if (run[i].name.n)
            run[i].name = run[i].tool;
    }
    return true;
}

enum st format_sort_results(const struct chat_msg **out,
                            const struct chat_req *r, struct arena *a,
                            struct err *e)
{
    struct chat_msg *list = arena_array(a, r->n_messages, sizeof(*list));
    struct sorter s = {.a = a};
    size_t i = 0;
    bool fits = list || !r->n_messages;

    *out = list;
    if (fits && r->n_messages)
        memcpy(list, r->messages, r->n_messages * sizeof(*list));
    while (fits && i < r->n_messages) {
        size_t end = i;

        if (list[i].role == ROLE_ASSISTANT)
            s = (struct sorter){.a = a, .caller = &list[i]};
        while (end < r->n_messages && list[end].role == ROLE_TOOL)
            end++;
        if (end > i)
            fits = sort_run(&s, list + i, end - i);
        i = end > i ? end : i + 1;
    }
    return fits ? ST_OK
                : err_set(e, ST_LIMIT, "messages",
                          "tool results need more memory than allowed");
}
