#include "api/body_draft.h"

#define FIRST 8 /* entries of a new table */

void draft_init(struct draft *d, struct arena *a)
{
    *d = (struct draft){.a = a};
}

/* Room for one more of `size` bytes behind [n]; false when the arena is full,
 * and then the table stays. */
static bool grow(struct draft *d, void **table, size_t n, size_t *cap,
                 size_t size)
{
    size_t more = *cap ? *cap : FIRST;
    void *wider;

    if (n < *cap)
        return true;
    if (d->failed || !mem_add(&more, more, *cap))
        return false;
    wider = arena_array(d->a, more, size);
    if (!wider) {
        d->failed = true;
        return false;
    }
    if (n)
        memcpy(wider, *table, n * size);
    *table = wider;
    *cap = more;
    return true;
}

static void add_part(struct draft *d, struct draft_texts *to,
                     struct chat_part part)
{
    void *table = to->of;

    if (!grow(d, &table, to->n, &to->cap, sizeof(*to->of)))
        return;
    to->of = table;
    to->of[to->n++] = part;
}

void draft_gap(struct draft *d)
{
    d->gap = true;
}

void draft_text(struct draft *d, struct text t)
{
    static const struct chat_part line = {.text = {"\n\n", 2}};

    if (!t.n)
        return;
    if (d->gap && d->said.n)
        add_part(d, &d->said, line);
    d->gap = false;
    add_part(d, &d->said, (struct chat_part){.type = PART_TEXT, .text = t});
}

void draft_image(struct draft *d)
{
    d->image = true;
    add_part(d, &d->said, (struct chat_part){.type = PART_IMAGE});
}

void draft_thought(struct draft *d, struct text t)
{
    if (t.n)
        add_part(d, &d->thought, (struct chat_part){.text = t});
}

void draft_call(struct draft *d, const struct chat_call *call)
{
    void *table = d->calls;

    if (!grow(d, &table, d->n_calls, &d->cap_calls, sizeof(*d->calls)))
        return;
    d->calls = table;
    d->calls[d->n_calls++] = *call;
}

/* One text of all of them. */
static struct text join(struct draft *d, const struct draft_texts *t)
{
    size_t bytes = 0;
    char *s, *at;

    if (t->n < 2)
        return t->n ? t->of[0].text : (struct text){"", 0};
    for (size_t j = 0; j < t->n; j++)
        if (!mem_add(&bytes, bytes, t->of[j].text.n))
            d->failed = true;
    s = d->failed ? NULL : arena_alloc(d->a, bytes + 1);
    if (!s) {
        d->failed = true;
        return (struct text){"", 0};
    }
    at = s;
    for (size_t j = 0; j < t->n; j++) {
        struct text one = t->of[j].text;

        if (one.n)
            memcpy(at, one.s, one.n);
        at += one.n;
    }
    return (struct text){s, bytes};
}

/* The table's own array is used again for the next message. */
static const void *keep(struct draft *d, const void *table, size_t n,
                        size_t size)
{
    void *copy = n ? arena_array(d->a, n, size) : NULL;

    if (n && !copy)
        d->failed = true;
    else if (n)
        memcpy(copy, table, n * size);
    return copy;
}

void draft_end(struct draft *d)
{
    struct chat_msg *m = &d->m;
    void *table = d->list;

    if (!d->open)
        return;
    d->open = false;
    m->content = join(d, &d->said);
    m->reasoning = join(d, &d->thought);
    m->has_content = d->said.n || !d->n_calls;
    if (d->image) {
        m->parts = keep(d, d->said.of, d->said.n, sizeof(*d->said.of));
        m->n_parts = m->parts ? d->said.n : 0;
    }
    m->calls = keep(d, d->calls, d->n_calls, sizeof(*d->calls));
    m->n_calls = m->calls ? d->n_calls : 0;
    if (!grow(d, &table, d->n, &d->cap, sizeof(*d->list)))
        return;
    d->list = table;
    d->list[d->n++] = *m;
}

void draft_begin(struct draft *d, enum chat_role role, size_t i)
{
    bool joins = role == ROLE_USER || role == ROLE_ASSISTANT;

    if (d->open && joins && d->m.role == role) {
        d->gap = d->gap || d->i != i;
        d->i = i;
        return;
    }
    draft_end(d);
    d->m = (struct chat_msg){.role = role, .sent_i = i};
    d->i = i;
    d->open = true;
    d->gap = d->image = false;
    d->said.n = d->thought.n = d->n_calls = 0;
}
