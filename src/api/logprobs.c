#include "api/logprobs.h"

#include "base/utf8.h"
#include "chat/detok.h"

#include <math.h>

#define NEVER -9999.0 /* for -inf, which JSON has no number for */
#define DECIMALS 6

struct entry {
    int32_t id;
    float chosen;
    size_t from;    /* bytes of the reply that came before it */
    size_t offset;  /* characters of the text that came before it */
};

struct logprobs {
    struct logprobs_config c;
    size_t stride;          /* alternatives per id in the ring */
    float *took;            /* [LOGPROBS_TAKE] what came with a take, */
    struct logprob *took_top; /* [LOGPROBS_TAKE][stride] owned */
    struct entry *list;     /* [c.max_tokens] owned */
    struct logprob *top;    /* [c.max_tokens][stride] owned */
    size_t told, decided, n; /* list: told to the client, decided, all */
    size_t from;            /* for the id that is being fed */
    struct detok detok;     /* LOGPROBS_TEXT: counts characters */
    size_t offset;
    struct buf text;        /* of the token that is being written */
};

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
    if (l->took && l->took_top && l->list && l->top)
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
    buf_release(&l->text);
    free(l);
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
}

void logprobs_after(struct logprobs *l, const struct reply *r, size_t i,
                    int32_t id)
{
    enum reply_part part = reply_part(r);

    BUG_ON(i >= LOGPROBS_TAKE);
    if (part == REPLY_ANSWER ||
        (part == REPLY_REASONING && l->c.reasoning)) {
        BUG_ON(l->n == l->c.max_tokens);
        l->list[l->n] = (struct entry){id, l->took[i], l->from, l->offset};
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

/* The members token, logprob and bytes. */
static void write_token(struct logprobs *l, struct jw *w, int32_t id,
                        float logprob)
{
    struct text t = text_of(l, id);
    struct span p = tok_piece(l->c.tok, id);

    jw_kstrn(w, "token", t.s, t.n);
    jw_knum(w, "logprob", shown(logprob), DECIMALS);
    jw_key(w, "bytes");
    jw_arr(w);
    for (size_t i = 0; i < p.n; i++)
        jw_int(w, (unsigned char)p.s[i]);
    jw_arr_end(w);
}

static void write_chat(struct logprobs *l, struct jw *w)
{
    jw_key(w, "content");
    jw_arr(w);
    for (size_t i = l->told; i < l->decided; i++) {
        const struct logprob *top = l->top + i * l->stride;

        jw_obj(w);
        write_token(l, w, l->list[i].id, l->list[i].chosen);
        jw_key(w, "top_logprobs");
        jw_arr(w);
        for (int32_t k = 0; k < l->c.top && top[k].id >= 0; k++) {
            jw_obj(w);
            write_token(l, w, top[k].id, top[k].logprob);
            jw_obj_end(w);
        }
        jw_arr_end(w);
        jw_obj_end(w);
    }
    jw_arr_end(w);
    jw_knull(w, "refusal");
}

/* Do two ids look alike? Their keys would be the same. */
static bool same_key(const struct logprobs *l, int32_t a, int32_t b)
{
    struct span p = tok_piece(l->c.tok, a), q = tok_piece(l->c.tok, b);

    return text_same((struct text){p.s, p.n}, (struct text){q.s, q.n});
}

/* The alternatives come in descending order: the first of a key stays. */
static void write_keyed(struct logprobs *l, struct jw *w, size_t i)
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

static void write_text(struct logprobs *l, struct jw *w)
{
    jw_key(w, "tokens");
    jw_arr(w);
    for (size_t i = l->told; i < l->decided; i++) {
        struct text t = text_of(l, l->list[i].id);

        jw_strn(w, t.s, t.n);
    }
    jw_arr_end(w);
    jw_key(w, "token_logprobs");
    jw_arr(w);
    for (size_t i = l->told; i < l->decided; i++)
        jw_num(w, shown(l->list[i].chosen), DECIMALS);
    jw_arr_end(w);
    jw_key(w, "top_logprobs");
    jw_arr(w);
    for (size_t i = l->told; i < l->decided; i++)
        write_keyed(l, w, i);
    jw_arr_end(w);
    jw_key(w, "text_offset");
    jw_arr(w);
    for (size_t i = l->told; i < l->decided; i++)
        jw_int(w, (int64_t)l->list[i].offset);
    jw_arr_end(w);
}

bool logprobs_news(const struct logprobs *l)
{
    return l->told < l->decided;
}

void logprobs_write(struct logprobs *l, struct jw *w)
{
    jw_obj(w);
    if (l->c.shape == LOGPROBS_CHAT)
        write_chat(l, w);
    else
        write_text(l, w);
    jw_obj_end(w);
    l->told = l->decided;
    if (l->told == l->n) /* a stream uses the same few pages all the time */
        l->told = l->decided = l->n = 0;
}
