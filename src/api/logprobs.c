#include "api/logprobs.h"

#include "base/utf8.h"
#include "chat/detok.h"

#include <math.h>

#define NEVER -9999.0 /* for -inf, which JSON has no number for */
#define DECIMALS 6
#define ENTRY_BYTES 160 /* what is kept of a token, without alternatives; */
#define TOP_BYTES 112   /* and of each of those */

struct entry {
    int32_t id;
    float chosen;
    size_t from;    /* bytes of the reply that came before it */
    size_t offset;  /* characters of the text that came before it */
    bool grew;      /* the reply, by some of its bytes */
};

#define PARTS_MAX 4

/* A list of the shape: what an entry is in it. */
struct part {
    const char *name;
    void (*entry)(struct logprobs *l, struct jw *w, size_t i);
};

struct written { /* a part of a whole answer, on its way */
    struct buf text;
    struct jw *w; /* inside its list */
};

struct kept {
    size_t ends[LOGPROBS_FORMS]; /* where it ends in the text of each form */
    size_t from;                 /* as the entry's */
};

struct logprobs {
    struct logprobs_config c;
    size_t stride;          /* alternatives per id in the ring */
    float *took;            /* [LOGPROBS_TAKE] what came with a take, */
    struct logprob *took_top; /* [LOGPROBS_TAKE][stride] owned */
    struct entry *list;     /* [c.max_tokens] owned */
    struct logprob *top;    /* [c.max_tokens][stride] owned */
    size_t told, decided, n; /* list: told (or text by now), decided, all */
    bool any;               /* c.whole: there is text */
    size_t from;            /* for the id that is being fed */
    struct detok detok;     /* LOGPROBS_TEXT: counts characters */
    size_t offset;
    struct buf text;        /* of the token that is being written */
    struct written done[PARTS_MAX]; /* c.whole; w NULL: there is none */
    struct kept *kept;      /* [c.max_tokens] owned; LOGPROBS_ITEM */
    size_t n_kept;
};

/* The lists of a shape; ends with name NULL. */
static const struct part *parts_of(enum logprobs_shape shape);

int32_t logprobs_of_job(int32_t top)
{
    return top > 0 ? top : 1; /* 0 would leave out the chosen one's, too */
}

struct logprobs *logprobs_new(const struct logprobs_config *c)
{
    struct logprobs *l = mem_try(sizeof(*l));
    size_t cells;

    if (!l)
        return NULL;
    l->c = *c;
    l->c.whole = c->whole || c->shape == LOGPROBS_ITEM;
    l->stride = (size_t)logprobs_of_job(c->top);
    detok_init(&l->detok);
    buf_init(&l->text, BUF_EVENT);
    l->took = mem_try_array(LOGPROBS_TAKE, sizeof(*l->took));
    l->took_top = mem_try_array(LOGPROBS_TAKE * l->stride,
                                sizeof(*l->took_top));
    /* untouched pages of these cost nothing */
    l->list = mem_try_array(c->max_tokens, sizeof(*l->list));
    if (mem_mul(&cells, c->max_tokens, l->stride))
        l->top = mem_try_array(cells, sizeof(*l->top));
    if (c->shape == LOGPROBS_ITEM)
        l->kept = mem_try_array(c->max_tokens, sizeof(*l->kept));
    for (size_t k = 0; l->c.whole && parts_of(c->shape)[k].name; k++) {
        buf_init(&l->done[k].text, BUF_ANSWER);
        l->done[k].w = jw_new(&l->done[k].text);
        jw_arr(l->done[k].w);
    }
    if (l->took && l->took_top && l->list && l->top &&
        (l->kept || c->shape != LOGPROBS_ITEM))
        return l;
    logprobs_free(l);
    return NULL;
}

void logprobs_free(struct logprobs *l)
{
    if (!l)
        return;
    free(l->took);
    free(l->took_top);
    free(l->list);
    free(l->top);
    free(l->kept);
    buf_release(&l->text);
    for (size_t k = 0; k < PARTS_MAX; k++) {
        if (l->done[k].w && !jw_end(l->done[k].w))
            l->done[k].text.failed = true; /* given up in the middle */
        buf_release(&l->done[k].text);
    }
    free(l);
}

/* A stream and the end of an answer use the same few pages all the time. */
static void tell(struct logprobs *l)
{
    l->told = l->decided;
    if (l->told == l->n)
        l->told = l->decided = l->n = 0;
}

/* An entry of its own text; bytes that became a call give none. */
static void keep(struct logprobs *l, size_t i, const struct reply *r)
{
    if (!l->list[i].grew || l->list[i].from >= reply_told(r))
        return;
    for (size_t k = 0; k < LOGPROBS_FORMS; k++) {
        parts_of(l->c.shape)[k].entry(l, l->done[k].w, i);
        l->kept[l->n_kept].ends[k] = l->done[k].text.n;
    }
    l->kept[l->n_kept++].from = l->list[i].from;
}

/* What is decided becomes text. */
static void collect(struct logprobs *l, const struct reply *r)
{
    const struct part *parts = parts_of(l->c.shape);

    for (size_t i = l->told; i < l->decided; i++) {
        if (l->c.shape == LOGPROBS_ITEM) {
            keep(l, i, r);
            continue;
        }
        for (size_t k = 0; parts[k].name; k++)
            parts[k].entry(l, l->done[k].w, i);
        l->any = true;
    }
    tell(l);
}

/* --- in ------------------------------------------------------------------ */

size_t logprobs_take(struct logprobs *l, struct ring *ring, int32_t *ids)
{
    return ring_take(ring, ids, NULL, l->took, l->took_top, LOGPROBS_TAKE);
}

void logprobs_before(struct logprobs *l, const struct reply *r)
{
    l->from = reply_told(r) + reply_held(r);
}

/* Whole characters that the text grows by with this id. */
static size_t characters(struct logprobs *l, int32_t id)
{
    struct span piece = tok_piece(l->c.tok, id);
    size_t n = 0;

    buf_clear(&l->text);
    detok_feed(&l->detok, piece.s, piece.n, &l->text);
    for (size_t i = 0; i < l->text.n; i++)
        n += ((unsigned char)l->text.p[i] & 0xc0) != 0x80;
    return n;
}

static void decide(struct logprobs *l, const struct reply *r)
{
    bool open = reply_held(r) > 0;

    while (l->decided < l->n &&
           (!open || l->list[l->decided].from < reply_told(r)))
        l->decided++;
    if (l->c.whole)
        collect(l, r);
}

void logprobs_after(struct logprobs *l, const struct reply *r, size_t i,
                    int32_t id)
{
    enum reply_part part = reply_part(r);

    BUG_ON(i >= LOGPROBS_TAKE);
    if (part == REPLY_ANSWER ||
        (part == REPLY_REASONING && l->c.reasoning)) {
        BUG_ON(l->n == l->c.max_tokens);
        l->list[l->n] = (struct entry){
            .id = id,
            .chosen = l->took[i],
            .from = l->from,
            .offset = l->offset,
            .grew = reply_told(r) + reply_held(r) > l->from,
        };
        memcpy(l->top + l->n * l->stride, l->took_top + i * l->stride,
               l->stride * sizeof(*l->top));
        l->n++;
        if (l->c.shape == LOGPROBS_TEXT)
            l->offset += characters(l, id);
    }
    decide(l, r);
}

void logprobs_end(struct logprobs *l, const struct reply *r)
{
    decide(l, r);
    l->n = l->decided;
}

/* --- out ----------------------------------------------------------------- */

static double shown(float v)
{
    if (!isfinite(v))
        return NEVER;
    return v < -5e-7f ? (double)v : 0; /* no "-0.000000", nothing above */
}

/* The text of a token, as it can stand in JSON. Valid until the next call
 * unless it is the token's own. */
static struct text text_of(struct logprobs *l, int32_t id)
{
    struct span p = tok_piece(l->c.tok, id);

    if (utf8_valid(p.s, p.n, NULL))
        return (struct text){p.n ? p.s : "", p.n};
    buf_clear(&l->text);
    buf_puts(&l->text, "bytes:");
    for (size_t i = 0; i < p.n; i++) {
        if ((unsigned char)p.s[i] < 0x80)
            buf_putc(&l->text, p.s[i]);
        else
            buf_printf(&l->text, "\\x%02x", (unsigned char)p.s[i]);
    }
    return (struct text){l->text.p, l->text.n};
}

/* The members token and logprob. */
static void write_value(struct logprobs *l, struct jw *w, int32_t id,
                        float logprob)
{
    struct text t = text_of(l, id);

    jw_kstrn(w, "token", t.s, t.n);
    jw_knum(w, "logprob", shown(logprob), DECIMALS);
}

/* The same, and bytes. */
static void write_token(struct logprobs *l, struct jw *w, int32_t id,
                        float logprob)
{
    struct span p = tok_piece(l->c.tok, id);

    write_value(l, w, id, logprob);
    jw_key(w, "bytes");
    jw_arr(w);
    for (size_t i = 0; i < p.n; i++)
        jw_int(w, (unsigned char)p.s[i]);
    jw_arr_end(w);
}

/* One entry, each token as `write` has it. */
static void write_entry(struct logprobs *l, struct jw *w, size_t i,
                        void (*write)(struct logprobs *l, struct jw *w,
                                      int32_t id, float logprob))
{
    const struct logprob *top = l->top + i * l->stride;

    jw_obj(w);
    write(l, w, l->list[i].id, l->list[i].chosen);
    jw_key(w, "top_logprobs");
    jw_arr(w);
    for (int32_t k = 0; k < l->c.top && top[k].id >= 0; k++) {
        jw_obj(w);
        write(l, w, top[k].id, top[k].logprob);
        jw_obj_end(w);
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

static void chat_entry(struct logprobs *l, struct jw *w, size_t i)
{
    write_entry(l, w, i, write_token);
}

static void event_entry(struct logprobs *l, struct jw *w, size_t i)
{
    write_entry(l, w, i, write_value);
}

/* Do two ids look alike? Their keys would be the same. */
static bool same_key(const struct logprobs *l, int32_t a, int32_t b)
{
    struct span p = tok_piece(l->c.tok, a), q = tok_piece(l->c.tok, b);

    return text_same((struct text){p.s, p.n}, (struct text){q.s, q.n});
}

/* The alternatives come in descending order: the first of a key stays. */
static void top_entry(struct logprobs *l, struct jw *w, size_t i)
{
    const struct logprob *top = l->top + i * l->stride;
    const struct entry *e = &l->list[i];
    bool has_chosen = false;

    jw_obj(w);
    for (int32_t k = 0; k < l->c.top && top[k].id >= 0; k++) {
        bool again = false;
        struct text t = text_of(l, top[k].id);

        for (int32_t j = 0; j < k && !again; j++)
            again = same_key(l, top[j].id, top[k].id);
        has_chosen = has_chosen || same_key(l, top[k].id, e->id);
        if (again)
            continue;
        jw_strn(w, t.s, t.n); /* a key that may hold a NUL */
        jw_num(w, shown(top[k].logprob), DECIMALS);
    }
    if (!has_chosen) {
        struct text t = text_of(l, e->id);

        jw_strn(w, t.s, t.n);
        jw_num(w, shown(e->chosen), DECIMALS);
    }
    jw_obj_end(w);
}

static void token_entry(struct logprobs *l, struct jw *w, size_t i)
{
    struct text t = text_of(l, l->list[i].id);

    jw_strn(w, t.s, t.n);
}

static void chosen_entry(struct logprobs *l, struct jw *w, size_t i)
{
    jw_num(w, shown(l->list[i].chosen), DECIMALS);
}

static void offset_entry(struct logprobs *l, struct jw *w, size_t i)
{
    jw_int(w, (int64_t)l->list[i].offset);
}

static const struct part *parts_of(enum logprobs_shape shape)
{
    static const struct part chat[] = {
        {"content", chat_entry},
        {NULL, NULL},
    };
    static const struct part item[] = {
        [LOGPROBS_FULL] = {"item", chat_entry},
        [LOGPROBS_BRIEF] = {"events", event_entry},
        {NULL, NULL},
    };
    static const struct part text[] = {
        {"tokens", token_entry},
        {"token_logprobs", chosen_entry},
        {"top_logprobs", top_entry},
        {"text_offset", offset_entry},
        {NULL, NULL},
    };

    if (shape == LOGPROBS_ITEM)
        return item;
    return shape == LOGPROBS_CHAT ? chat : text;
}

bool logprobs_news(const struct logprobs *l)
{
    return l->told < l->decided || l->any;
}

/* A list that is text by now. */
static void write_done(struct written *d, struct jw *w)
{
    jw_arr_end(d->w);
    if (jw_end(d->w))
        jw_raw(w, d->text.p, d->text.n);
    else
        jw_fail(w);
    d->w = NULL;
    buf_release(&d->text);
}

void logprobs_write(struct logprobs *l, struct jw *w)
{
    const struct part *parts = parts_of(l->c.shape);

    jw_obj(w);
    for (size_t k = 0; parts[k].name; k++) {
        jw_key(w, parts[k].name);
        if (l->c.whole) {
            write_done(&l->done[k], w);
            continue;
        }
        jw_arr(w);
        for (size_t i = l->told; i < l->decided; i++)
            parts[k].entry(l, w, i);
        jw_arr_end(w);
    }
    if (l->c.shape == LOGPROBS_CHAT)
        jw_knull(w, "refusal");
    jw_obj_end(w);
    l->any = false;
    tell(l);
}

/* --- kept ---------------------------------------------------------------- */

size_t logprobs_before_byte(const struct logprobs *l, size_t at)
{
    size_t low = 0, high = l->n_kept;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (l->kept[mid].from < at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

void logprobs_range(const struct logprobs *l, struct jw *w,
                    enum logprobs_form form, size_t from, size_t to)
{
    const struct buf *text = &l->done[form].text;

    if (text->failed)
        jw_fail(w);
    jw_arr(w);
    for (size_t i = from; i < to && !text->failed; i++) {
        /* behind "[" or "," */
        size_t at = (i ? l->kept[i - 1].ends[form] : 0) + 1;

        jw_raw(w, text->p + at, l->kept[i].ends[form] - at);
    }
    jw_arr_end(w);
}

size_t logprobs_kept(const struct logprobs *l)
{
    size_t entry = ENTRY_BYTES + (size_t)l->c.top * TOP_BYTES, bytes;

    if (l->c.shape != LOGPROBS_ITEM)
        return 0;
    if (!mem_mul(&bytes, l->c.max_tokens, entry) || bytes > BUF_ANSWER)
        return BUF_ANSWER;
    return bytes;
}
