/*
 * t/lib/toy_tok.h - a byte-level vocabulary for tests: 256 bytes, special
 * tokens, and optionally every piece of one text as a token of its own.
 */
#ifndef T_TOY_TOK_H
#define T_TOY_TOK_H

#include "base/buf.h"
#include "base/utf8.h"
#include "text/tok.h"

#define TOY_MAX 4096

struct toy {
    struct tok *tok;
    char *names[TOY_MAX];       /* owned */
    struct span spans[TOY_MAX];
    int64_t types[TOY_MAX];
    size_t n;
};

/* GPT-2's printable stand-in of a byte. */
static inline uint32_t toy_char(unsigned byte)
{
    uint32_t next = 256;

    for (unsigned b = 0; b < 256; b++) {
        bool keep = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) ||
                    b >= 174;

        if (b == byte)
            return keep ? b : next;
        next += !keep;
    }
    return 0;
}

static inline void toy_name(struct toy *v, const char *s, size_t n, int type)
{
    BUG_ON(v->n == TOY_MAX);
    v->names[v->n] = mem_dup_n(s, n);
    v->spans[v->n] = (struct span){v->names[v->n], n};
    v->types[v->n++] = type;
}

/* The bytes in the form of the vocabulary. */
static inline void toy_form(struct buf *b, const char *s, size_t n)
{
    char c[4];

    buf_init(b, 4096);
    for (size_t i = 0; i < n; i++)
        buf_add(b, c, utf8_encode(toy_char((unsigned char)s[i]), c));
}

static inline int32_t toy_find(const struct toy *v, const char *s, size_t n)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->spans[i].n == n && !memcmp(v->spans[i].s, s, n))
            return (int32_t)i;
    return -1;
}

/* A token that stands for these bytes; nothing when there is one already. */
static inline void toy_piece(struct toy *v, const char *s, size_t n)
{
    struct buf b;

    toy_form(&b, s, n);
    if (toy_find(v, b.p, b.n) < 0)
        toy_name(v, b.p, b.n, TOK_NORMAL);
    buf_release(&b);
}

/* specials: {name, type} ending in NULL; text: NULL or cut into pieces */
struct toy_special {
    const char *name;
    int type;
};

/* bos: the name of the special token that begins texts, or NULL; add_bos:
 * prompts begin with it. </s> ends texts where it is one of the specials. */
static inline void toy_make(struct toy *v, const struct toy_special *specials,
                            const char *text, size_t n_text, const char *bos,
                            bool add_bos)
{
    static const struct span merges[] = {{"a b", 3}};
    struct tok_spec spec = {
        .model = TOK_BPE, .pre = "gpt2", .tokens = v->spans,
        .types = v->types, .merges = merges, .n_merges = 0,
        .bos = -1, .eos = -1, .unk = -1, .pad = -1,
    };
    struct err e = {0};

    memset(v, 0, sizeof(*v));
    for (unsigned b = 0; b < 256; b++) {
        char c = (char)b;

        toy_piece(v, &c, 1);
    }
    for (; specials && specials->name; specials++)
        toy_name(v, specials->name, strlen(specials->name), specials->type);
    for (size_t i = 0; i < n_text; i++)
        for (size_t len = 2; i + len <= n_text; len++)
            toy_piece(v, text + i, len);
    spec.n_tokens = v->n;
    spec.bos = bos ? toy_find(v, bos, strlen(bos)) : -1;
    spec.eos = bos ? toy_find(v, "</s>", 4) : -1;
    spec.add_bos = add_bos;
    if (tok_new(&v->tok, &spec, &e)) {
        fprintf(stderr, "toy_open: %s: %s\n", e.where, e.text);
        abort();
    }
}

static inline void toy_open(struct toy *v, const struct toy_special *specials,
                            const char *text, size_t n_text)
{
    toy_make(v, specials, text, n_text, NULL, false);
}

static inline void toy_open_bos(struct toy *v,
                                const struct toy_special *specials,
                                const char *bos, bool add_bos)
{
    toy_make(v, specials, NULL, 0, bos, add_bos);
}

static inline void toy_close(struct toy *v)
{
    tok_free(v->tok);
    for (size_t i = 0; i < v->n; i++)
        free(v->names[i]);
}

/* The id of a special token, or of these bytes as one token. */
static inline int32_t toy_id(const struct toy *v, const char *s, size_t n)
{
    int32_t id = n > 1 ? toy_find(v, s, n) : -1;
    struct buf b;

    if (id >= 0 && v->types[id] != TOK_NORMAL)
        return id;
    toy_form(&b, s, n);
    id = toy_find(v, b.p, b.n);
    buf_release(&b);
    return id;
}

#endif
