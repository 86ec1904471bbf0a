#include "engine/queue.h"

#define BUCKETS 256
#define CLASSES 2

struct line { /* jobs that are taken in order */
    struct seq *head, *tail;
};

struct owner {
    struct line line;
    uint64_t id;
    struct owner *chain;       /* in its bucket */
    struct owner *next, *prev; /* in the ring of its class */
    struct owner *it_next;     /* in the ring of an iteration */
    struct seq *it;            /* its next one there */
};

struct turns { /* one class */
    struct line first;         /* had begun */
    struct owner *turn;        /* ring; whose turn it is; NULL: nobody */
    struct owner *bucket[BUCKETS];
};

struct queue {
    struct turns class[CLASSES];
    int32_t n, n_side;
    int it_class;
    struct owner *it_last;     /* ring of those with more; its last one */
    bool it_first;             /* still among those that had begun */
};

/* --- lines --------------------------------------------------------------- */

static void line_add(struct line *l, struct seq *s)
{
    s->next = NULL;
    s->prev = l->tail;
    if (l->tail)
        l->tail->next = s;
    else
        l->head = s;
    l->tail = s;
}

static void line_add_first(struct line *l, struct seq *s)
{
    s->prev = NULL;
    s->next = l->head;
    if (l->head)
        l->head->prev = s;
    else
        l->tail = s;
    l->head = s;
}

static void line_remove(struct line *l, struct seq *s)
{
    if (s->prev)
        s->prev->next = s->next;
    else
        l->head = s->next;
    if (s->next)
        s->next->prev = s->prev;
    else
        l->tail = s->prev;
    s->next = s->prev = NULL;
}

/* --- owners -------------------------------------------------------------- */

static struct turns *turns_of(struct queue *q, const struct seq *s)
{
    return &q->class[s->job->cls == JOB_BACKGROUND];
}

static struct owner **bucket_of(struct turns *t, uint64_t id)
{
    return &t->bucket[(id * 0x9e3779b97f4a7c15u) >> 56];
}

static struct owner *owner_find(struct turns *t, uint64_t id)
{
    struct owner *o = *bucket_of(t, id);

    while (o && o->id != id)
        o = o->chain;
    return o;
}

/* A new one is last in the ring: just before whose turn it is. */
static struct owner *owner_add(struct turns *t, uint64_t id)
{
    struct owner **at = bucket_of(t, id), *o = mem_try(sizeof(*o));

    if (!o)
        return NULL;
    o->id = id;
    o->chain = *at;
    *at = o;
    if (t->turn) {
        o->next = t->turn;
        o->prev = t->turn->prev;
        o->prev->next = o->next->prev = o;
    } else {
        o->next = o->prev = t->turn = o;
    }
    return o;
}

static void owner_drop(struct turns *t, struct owner *o)
{
    struct owner **at = bucket_of(t, o->id);

    while (*at != o)
        at = &(*at)->chain;
    *at = o->chain;
    if (t->turn == o)
        t->turn = o->next == o ? NULL : o->next;
    o->prev->next = o->next;
    o->next->prev = o->prev;
    free(o);
}

/* --- the queue ----------------------------------------------------------- */

struct queue *queue_new(void)
{
    return mem_try(sizeof(struct queue));
}

void queue_free(struct queue *q)
{
    BUG_ON(q && q->n);
    free(q);
}

bool queue_add(struct queue *q, struct seq *s)
{
    struct turns *t = turns_of(q, s);
    struct owner *o = owner_find(t, s->job->owner);

    if (!o)
        o = owner_add(t, s->job->owner);
    if (!o)
        return false;
    line_add(&o->line, s);
    s->began = false;
    q->n++;
    q->n_side += s->job->side;
    return true;
}

void queue_add_first(struct queue *q, struct seq *s)
{
    line_add_first(&turns_of(q, s)->first, s);
    s->began = true;
    q->n++;
    q->n_side += s->job->side;
}

struct seq *queue_head(const struct queue *q)
{
    for (int c = 0; c < CLASSES; c++) {
        const struct turns *t = &q->class[c];

        if (t->first.head)
            return t->first.head;
        if (t->turn)
            return t->turn->line.head;
    }
    return NULL;
}

static struct seq *oldest_side(struct seq *s, struct seq *best)
{
    for (; s; s = s->next)
        if (s->job->side && (!best || s->submit_us < best->submit_us))
            best = s;
    return best;
}

struct seq *queue_side(const struct queue *q)
{
    struct seq *best = NULL;

    if (!q->n_side)
        return NULL;
    for (int c = 0; c < CLASSES && !best; c++) {
        const struct turns *t = &q->class[c];
        const struct owner *o = t->turn;

        best = oldest_side(t->first.head, NULL);
        while (o) {
            best = oldest_side(o->line.head, best);
            o = o->next == t->turn ? NULL : o->next;
        }
    }
    return best;
}

void queue_remove(struct queue *q, struct seq *s)
{
    struct turns *t = turns_of(q, s);
    struct owner *o;

    q->n--;
    q->n_side -= s->job->side;
    if (s->began) {
        line_remove(&t->first, s);
        return;
    }
    o = owner_find(t, s->job->owner);
    BUG_ON(!o);
    /* who was served, or could have been, is last now */
    if (t->turn == o && o->line.head == s)
        t->turn = o->next;
    line_remove(&o->line, s);
    if (!o->line.head)
        owner_drop(t, o);
}

int32_t queue_count(const struct queue *q)
{
    return q->n;
}

/* --- everybody ----------------------------------------------------------- */

static void it_owners(struct queue *q)
{
    struct turns *t = &q->class[q->it_class];
    struct owner *o = t->turn;

    q->it_first = false;
    q->it_last = o ? o->prev : NULL;
    while (o) {
        o->it = o->line.head;
        o->it_next = o->next;
        o = o->next == t->turn ? NULL : o->next;
    }
}

/* The next owner's next one; NULL: no owner of this class has more. */
static struct seq *it_turn(struct queue *q)
{
    struct owner *o;
    struct seq *s;

    if (!q->it_last)
        return NULL;
    o = q->it_last->it_next;
    s = o->it;
    o->it = s->next;
    if (o->it)
        q->it_last = o;
    else if (o == q->it_last)
        q->it_last = NULL;
    else
        q->it_last->it_next = o->it_next;
    return s;
}

/* From the start of class it_class on. */
static struct seq *it_class(struct queue *q)
{
    for (; q->it_class < CLASSES; q->it_class++) {
        struct seq *s = q->class[q->it_class].first.head;

        q->it_first = s != NULL;
        if (!s) {
            it_owners(q);
            s = it_turn(q);
        }
        if (s)
            return s;
    }
    return NULL;
}

struct seq *queue_first(struct queue *q)
{
    q->it_class = 0;
    return it_class(q);
}

struct seq *queue_next(struct queue *q, struct seq *s)
{
    struct seq *next;

    if (q->it_first && s->next)
        return s->next;
    if (q->it_first)
        it_owners(q);
    next = it_turn(q);
    if (next)
        return next;
    q->it_class++;
    return it_class(q);
}
