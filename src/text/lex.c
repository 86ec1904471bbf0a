#include "text/lex.h"

#include "base/utf8.h"

#define MARK "\xe2\x96\x81" /* U+2581, the space of SPM vocabularies */

/*
 * GPT-2's byte map: printable bytes stand for themselves, the other 68 were
 * numbered from U+0100 in order (OpenAI gpt-2 encoder.py, bytes_to_unicode).
 */
static bool byte_is_plain(unsigned b)
{
    return (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
}

static int unmap_char(uint32_t cp)
{
    if (cp < 0x100)
        return byte_is_plain(cp) ? (int)cp : -1;
    if (cp <= 0x120)
        return (int)cp - 0x100; /* 0x00 to 0x20 */
    if (cp <= 0x142)
        return (int)cp - 0x121 + 0x7f; /* 0x7f to 0xa0 */
    return cp == 0x143 ? 0xad : -1;
}

bool lex_unmap(const char *s, size_t n, char *out, size_t *len)
{
    size_t k = 0;

    for (size_t i = 0; i < n; k++) {
        unsigned char c = (unsigned char)s[i];
        uint32_t cp;
        size_t step = 1;
        int b = c;

        if (c < 0x21 || c > 0x7e) {
            step = utf8_decode(s + i, n - i, &cp);
            b = step ? unmap_char(cp) : -1;
        }
        if (b < 0)
            return false;
        out[k] = (char)b;
        i += step;
    }
    *len = k;
    return true;
}

bool lex_is_blank(struct span raw)
{
    size_t i = 0;

    while (i < raw.n) {
        if (raw.s[i] == ' ' || (raw.s[i] >= '\t' && raw.s[i] <= '\r'))
            i++;
        else if (raw.n - i >= 3 && !memcmp(raw.s + i, MARK, 3))
            i += 3;
        else
            return false;
    }
    return raw.n > 0;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

/* Eight bytes at a time: spellings are short, so the last few decide. */
static uint64_t hash(const char *s, size_t n)
{
    uint64_t h = n * 0xff51afd7ed558ccdu, v = 0;
    size_t i = 0;

    for (; n - i >= 8; i += 8) {
        memcpy(&v, s + i, 8);
        h = mix(h, v);
    }
    if (n - i >= 4) {
        uint32_t lo, hi;

        memcpy(&lo, s + i, 4);
        memcpy(&hi, s + n - 4, 4);
        v = (uint64_t)hi << 32 | lo;
    } else if (n - i) {
        v = (uint64_t)(unsigned char)s[i] |
            (uint64_t)(unsigned char)s[i + (n - i) / 2] << 8 |
            (uint64_t)(unsigned char)s[n - 1] << 16;
    } else {
        v = 0;
    }
    h = mix(h, v);
    return h ^ h >> 32;
}

static bool index_init(struct lex_index *x, size_t n)
{
    size_t slots = 16;

    while (slots < n * 2)
        slots *= 2;
    x->slot = mem_try_table(slots, sizeof(*x->slot));
    if (!x->slot)
        return false;
    memset(x->slot, 0xff, slots * sizeof(*x->slot));
    x->mask = slots - 1;
    return true;
}

static size_t home_of(const struct lex_index *x, uint64_t h)
{
    return (size_t)h & x->mask;
}

static uint32_t tag_of(uint64_t h)
{
    return (uint32_t)(h >> 32);
}

/* The slot of s, or the empty one where it belongs. */
static struct lex_slot *index_at(const struct lex_index *x,
                                 const struct span *key, const char *s,
                                 size_t n, uint64_t h)
{
    size_t i = home_of(x, h);
    uint32_t tag = tag_of(h);

    for (; x->slot[i].id != LEX_NONE; i = (i + 1) & x->mask) {
        const struct span *k = &key[x->slot[i].id];

        if (x->slot[i].tag == tag && k->n == n && !memcmp(k->s, s, n))
            break;
    }
    return &x->slot[i];
}

static int32_t index_find(const struct lex_index *x, const struct span *key,
                          const char *s, size_t n, uint64_t h)
{
    uint32_t id = n ? index_at(x, key, s, n, h)->id : LEX_NONE;

    return id == LEX_NONE ? -1 : (int32_t)id;
}

int32_t lex_find_raw(const struct lex *x, const char *s, size_t n)
{
    return index_find(&x->by_raw, x->raw, s, n, hash(s, n));
}

int32_t lex_find_piece(const struct lex *x, const char *s, size_t n)
{
    return index_find(&x->by_piece, x->piece, s, n, hash(s, n));
}

void lex_ask(const struct lex *x, struct lex_query *q, const char *s, size_t n)
{
    *q = (struct lex_query){{s, n}, hash(s, n)};
    __builtin_prefetch(&x->by_piece.slot[home_of(&x->by_piece, q->hash)]);
}

int32_t lex_answer(const struct lex *x, const struct lex_query *q)
{
    return index_find(&x->by_piece, x->piece, q->key.s, q->key.n, q->hash);
}

void lex_release(struct lex *x)
{
    free(x->raw);
    free(x->piece);
    free(x->type);
    free(x->arena);
    free(x->by_raw.slot);
    free(x->by_piece.slot);
    *x = (struct lex){0};
}

/* "<0x0A>" -> 10; -1 for any other spelling. */
static int byte_token(struct span raw)
{
    static const char hex[] = "0123456789ABCDEF";
    const char *hi, *lo;

    if (raw.n != 6 || memcmp(raw.s, "<0x", 3) || raw.s[5] != '>' ||
        !raw.s[3] || !raw.s[4])
        return -1;
    hi = strchr(hex, raw.s[3]);
    lo = strchr(hex, raw.s[4]);
    return hi && lo ? (int)((hi - hex) * 16 + (lo - hex)) : -1;
}

size_t lex_unmark(const char *s, size_t n, char *out)
{
    size_t k = 0;

    for (size_t i = 0; i < n; k++) {
        if (n - i >= 3 && !memcmp(s + i, MARK, 3)) {
            out[k] = ' ';
            i += 3;
        } else {
            out[k] = s[i++];
        }
    }
    return k;
}

/* The bytes that token i stands for. True when encoding may produce it. */
static bool piece_bpe(struct lex *x, size_t i, char *out)
{
    size_t n;

    if ((x->type[i] != TOK_NORMAL && x->type[i] != TOK_BYTE) ||
        !lex_unmap(x->raw[i].s, x->raw[i].n, out, &n))
        return false;
    x->piece[i] = (struct span){out, n};
    return n > 0;
}

static bool piece_spm(struct lex *x, size_t i, char *out, bool typed)
{
    struct span raw = x->raw[i];
    int b = byte_token(raw);

    if (x->type[i] == TOK_CONTROL || x->type[i] == TOK_UNKNOWN)
        return false;
    if (b >= 0 && (x->type[i] == TOK_BYTE || !typed)) {
        *out = (char)b;
        x->piece[i] = (struct span){out, 1};
        x->byte_id[b] = (int32_t)i;
        x->byte_own[b] = true;
        return false;
    }
    x->piece[i] = (struct span){out, lex_unmark(raw.s, raw.n, out)};
    return raw.n && (x->type[i] == TOK_NORMAL ||
                     (x->type[i] == TOK_USER && lex_is_blank(raw)));
}

/* Is token i one that metadata names, spelled like one: "<s>", "[EOS]"? A
 * file may call an ordinary token so (bos "," in some), which stays one. */
static bool is_named(const struct tok_spec *spec, size_t i, int64_t id)
{
    struct span t = spec->tokens[i];

    return (int64_t)i == id && t.n > 2 &&
           ((t.s[0] == '<' && t.s[t.n - 1] == '>') ||
            (t.s[0] == '[' && t.s[t.n - 1] == ']'));
}

/* The type of token i. Files without types, or with wrong ones, call the
 * tokens that begin and end a text normal: text could spell them then. */
static int64_t type_of(const struct tok_spec *spec, size_t i)
{
    int64_t type = spec->types ? spec->types[i] : TOK_NORMAL;

    if (type != TOK_NORMAL)
        return type;
    if (is_named(spec, i, spec->bos) || is_named(spec, i, spec->eos) ||
        is_named(spec, i, spec->pad))
        return TOK_CONTROL;
    return is_named(spec, i, spec->unk) ? TOK_UNKNOWN : TOK_NORMAL;
}

static enum st lex_copy(struct lex *x, const struct tok_spec *spec,
                        struct err *e)
{
    size_t total = 0;

    for (size_t i = 0; i < x->n; i++) {
        int64_t type = type_of(spec, i);

        if (type < TOK_NORMAL || type > TOK_BYTE)
            return err_set(e, ST_FORMAT, "tokenizer.ggml.token_type",
                           "entry %zu is %lld; known are 1 to 6", i,
                           (long long)type);
        x->type[i] = (uint8_t)type;
        x->raw[i] = x->piece[i] = spec->tokens[i];
        if (!mem_add(&total, total, x->raw[i].n) || total > INT32_MAX)
            return err_set(e, ST_FORMAT, "tokenizer.ggml.tokens",
                           "more than 2 GiB of token text");
    }
    x->arena = mem_try(total);
    return x->arena ? ST_OK
                    : err_set(e, ST_NOMEM, "tokenizer.ggml.tokens",
                              "no memory for %zu bytes of tokens", total);
}

/*
 * Of equal spellings the last one counts, as in llama.cpp; but a normal token
 * is never displaced by a user-defined one.
 */
static void enter(struct lex *x, const struct span *key, struct lex_index *in,
                  size_t i, uint64_t h)
{
    struct lex_slot *slot = index_at(in, key, key[i].s, key[i].n, h);

    if (slot->id == LEX_NONE || in == &x->by_raw || x->type[i] == TOK_NORMAL)
        *slot = (struct lex_slot){(uint32_t)i, tag_of(h)};
}

#define AHEAD 16 /* tokens whose slots are fetched together */

static void lex_fill(struct lex *x, const struct tok_spec *spec)
{
    uint64_t raw[AHEAD], piece[AHEAD];
    bool made[AHEAD];
    char *out = x->arena;

    for (size_t from = 0; from < x->n; from += AHEAD) {
        size_t n = x->n - from < AHEAD ? x->n - from : AHEAD;

        for (size_t k = 0; k < n; k++) {
            size_t i = from + k;

            made[k] = spec->model == TOK_BPE
                          ? piece_bpe(x, i, out)
                          : piece_spm(x, i, out, spec->types != NULL);
            raw[k] = hash(x->raw[i].s, x->raw[i].n);
            piece[k] = hash(x->piece[i].s, x->piece[i].n);
            __builtin_prefetch(&x->by_raw.slot[home_of(&x->by_raw, raw[k])]);
            __builtin_prefetch(
                &x->by_piece.slot[home_of(&x->by_piece, piece[k])]);
            if (x->piece[i].n > x->longest)
                x->longest = x->piece[i].n;
            if (x->raw[i].n > x->longest_raw)
                x->longest_raw = x->raw[i].n;
            out += x->raw[i].n;
        }
        for (size_t k = 0; k < n; k++) {
            if (x->raw[from + k].n)
                enter(x, x->raw, &x->by_raw, from + k, raw[k]);
            if (made[k])
                enter(x, x->piece, &x->by_piece, from + k, piece[k]);
        }
    }
}

/* Every byte must have an encoding: its own token, else unk, else "?". */
static enum st lex_bytes(struct lex *x, const struct tok_spec *spec,
                         struct err *e)
{
    int32_t other = lex_find_piece(x, "?", 1);

    if (spec->model == TOK_SPM && spec->unk >= 0 &&
        (x->type[spec->unk] == TOK_UNKNOWN ||
         x->type[spec->unk] == TOK_NORMAL))
        other = (int32_t)spec->unk;
    for (unsigned b = 0; b < 256; b++) {
        if (spec->model == TOK_BPE) {
            char c = (char)b;

            x->byte_id[b] = lex_find_piece(x, &c, 1);
            x->byte_own[b] = x->byte_id[b] >= 0;
        }
        if (x->byte_own[b])
            continue;
        if (other < 0)
            return err_set(e, ST_FORMAT, "tokenizer.ggml.tokens",
                           "no token for byte 0x%02X and none to stand for it",
                           b);
        x->byte_id[b] = other;
    }
    return ST_OK;
}

enum st lex_init(struct lex *x, const struct tok_spec *spec, struct err *e)
{
    enum st st;

    /* an empty spelling may stand for a byte, too: never under 1 */
    *x = (struct lex){.n = spec->n_tokens, .longest_raw = 1};
    if (!x->n || x->n > INT32_MAX / 2)
        return err_set(e, ST_FORMAT, "tokenizer.ggml.tokens",
                       "%zu tokens; 1 to 2^30 are accepted", x->n);
    x->raw = mem_try_table(x->n, sizeof(*x->raw));
    x->piece = mem_try_table(x->n, sizeof(*x->piece));
    x->type = mem_try_array(x->n, 1);
    if (x->raw && x->piece && x->type && index_init(&x->by_raw, x->n) &&
        index_init(&x->by_piece, x->n))
        st = lex_copy(x, spec, e);
    else
        st = err_set(e, ST_NOMEM, "tokenizer.ggml.tokens",
                     "no memory for %zu tokens", x->n);
    if (!st) {
        lex_fill(x, spec);
        st = lex_bytes(x, spec, e);
    }
    if (st)
        lex_release(x);
    return st;
}
