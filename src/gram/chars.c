#include "base/utf8.h"
#include "gram/expr.h"
#include <stdlib.h>
#include <string.h>

/* Code points as bytes: each sequence is all of lo[0]..hi[0], then all of
 * lo[1]..hi[1], and so on. */
struct seq {
    uint8_t n;
    uint8_t lo[4], hi[4];
};

struct seqs {
    struct seq *p; /* [n], in the order of the code points */
    size_t n;
};

/* One range gives at most: up to three pieces by length and, in each of those,
 * a beginning and an end at every byte but the last. */
#define SEQS_A_RANGE 12
#define SEQS_FEW 48 /* so many lie on the stack */

static size_t put(uint32_t cp, uint8_t out[4])
{
    char s[4];
    size_t n = utf8_encode(cp, s);

    memcpy(out, s, sizeof(s));
    return n;
}

/*
 * lo..hi, all of one length n in UTF-8. Cut where the last k bytes of lo are
 * not all at their lowest, or those of hi not all at their highest, while
 * more than these k bytes differ.
 */
static void cut(struct seqs *s, uint32_t lo, uint32_t hi, size_t n)
{
    struct seq q = {.n = (uint8_t)n};
    unsigned k = 0;

    for (unsigned i = 1; i < n && !k; i++) {
        uint32_t low = (1u << (6 * i)) - 1;

        if ((lo & ~low) == (hi & ~low))
            break; /* only these bytes differ */
        if (lo & low) {
            cut(s, lo, lo | low, n);
            lo = (lo | low) + 1;
            k = i;
        } else if ((hi & low) != low) {
            cut(s, lo, (hi & ~low) - 1, n);
            lo = hi & ~low;
            k = i;
        }
    }
    if (k) {
        cut(s, lo, hi, n);
        return;
    }
    put(lo, q.lo);
    put(hi, q.hi);
    s->p[s->n++] = q;
}

static void add_range(struct seqs *s, uint32_t lo, uint32_t hi)
{
    static const uint32_t last[4] = {0x7f, 0x7ff, 0xffff, 0x10ffff};

    for (size_t i = 0; i < 4 && lo <= hi; i++) {
        uint32_t end = hi < last[i] ? hi : last[i];

        if (lo > end)
            continue;
        cut(s, lo, end, i + 1);
        lo = end + 1;
    }
}

/*
 * The sequences p[0..n), which are equal before byte `at`, from there on.
 * Those with the same byte lie side by side, and bytes that are not the same
 * do not overlap: cut sees to it. Four levels at most.
 */
static const struct gx *tree(struct gxs *w, const struct seq *p, size_t n,
                             size_t at)
{
    const struct gx *few[SEQS_FEW] = {NULL}, **ways = few, *x;
    size_t n_ways = 0;

    if (n > SEQS_FEW)
        ways = mem_try_array(n, sizeof(*ways));
    if (!ways) {
        gxs_fail(w, ST_NOMEM, "", "no memory for a class of characters");
        return gx_none(w);
    }
    for (size_t i = 0, j; i < n; i = j) {
        const struct seq *q = p + i;

        j = i + 1;
        while (j < n && p[j].lo[at] == q->lo[at])
            j++;
        x = gx_range(w, q->lo[at], q->hi[at]);
        if (at + 1 < q->n)
            x = gx_seq(w, x, tree(w, q, j - i, at + 1));
        ways[n_ways++] = x;
    }
    x = gx_altn(w, ways, n_ways);
    if (ways != few)
        free(ways);
    return x;
}

static const struct gx *raw_chars(struct gxs *w, const struct charset *c)
{
    struct seq few[SEQS_FEW];
    struct seqs s = {few, 0};
    const struct gx *x;

    if (!c->n)
        return gx_none(w);
    if (c->n * SEQS_A_RANGE > SEQS_FEW)
        s.p = mem_try_array(c->n, SEQS_A_RANGE * sizeof(*s.p));
    if (!s.p) {
        gxs_fail(w, ST_NOMEM, "", "no memory for a class of characters");
        return gx_none(w);
    }
    for (size_t i = 0; i < c->n; i++)
        add_range(&s, c->p[i].lo, c->p[i].hi);
    gxs_work(w, s.n);
    x = tree(w, s.p, s.n, 0);
    if (s.p != few)
        free(s.p);
    return x;
}

/* What JSON writes with a backslash, and what follows it. */
static const struct {
    uint8_t cp, behind;
} brief[] = {
    {'\b', 'b'}, {'\t', 't'}, {'\n', 'n'},  {'\f', 'f'},
    {'\r', 'r'}, {'"', '"'},  {'\\', '\\'},
};
#define N_BRIEF (sizeof(brief) / sizeof(brief[0]))

/* What follows the backslash; 0: another form, or none at all. */
static uint8_t brief_of(uint32_t cp)
{
    for (size_t i = 0; i < N_BRIEF; i++) {
        if (brief[i].cp == cp)
            return brief[i].behind;
    }
    return 0;
}

/* Those of the set that are written with a backslash. */
static const struct gx *escaped(struct gxs *w, const struct charset *c)
{
    const struct gx *of[N_BRIEF + 2], *hex[32];
    size_t n = 0;

    for (size_t i = 0; i < N_BRIEF; i++) {
        if (charset_has(c, brief[i].cp))
            of[n++] = gx_range(w, brief[i].behind, brief[i].behind);
    }
    for (uint32_t high = 0; high < 2; high++) {
        char head[5] = {'u', '0', '0', (char)('0' + high), 0};
        size_t n_hex = 0;

        for (uint32_t low = 0; low < 16; low++) {
            uint32_t cp = high * 16 + low;
            uint8_t digit = (uint8_t)"0123456789abcdef"[low];

            if (charset_has(c, cp) && !brief_of(cp))
                hex[n_hex++] = gx_range(w, digit, digit);
        }
        if (n_hex)
            of[n++] = gx_seq(w, gx_lit(w, head), gx_altn(w, hex, n_hex));
    }
    return n ? gx_seq(w, gx_lit(w, "\\"), gx_altn(w, of, n)) : gx_none(w);
}

static const struct gx *json_chars(struct gxs *w, const struct charset *c)
{
    struct char_range few[CHARSET_FEW];
    const struct gx *x;
    struct charset plain;
    struct arena a;

    arena_init(&a, 2u << 20);
    charset_init_few(&plain, &a, few, CHARSET_FEW);
    for (size_t i = 0; i < c->n; i++) {
        uint32_t lo = c->p[i].lo, hi = c->p[i].hi;

        if (lo < ' ')
            lo = ' ';
        for (uint32_t cp = lo; cp <= hi && cp <= '\\'; cp++) {
            if (cp == '"' || cp == '\\') {
                if (cp > lo)
                    charset_add(&plain, lo, cp - 1);
                lo = cp + 1;
            }
        }
        charset_add(&plain, lo, hi);
    }
    if (plain.failed)
        gxs_fail(w, ST_LIMIT, "", "a class of characters has too many ranges");
    x = gx_alt(w, raw_chars(w, &plain), escaped(w, c));
    arena_release(&a);
    return x;
}

const struct gx *gx_chars(struct gxs *w, const struct charset *c,
                          enum gx_form form)
{
    if (c->failed)
        gxs_fail(w, ST_LIMIT, "",
                 "a class of characters has more than %d ranges", CHARSET_MAX);
    return form == GX_JSON ? json_chars(w, c) : raw_chars(w, c);
}

const struct gx *gx_text(struct gxs *w, const char *s, size_t n,
                         enum gx_form form)
{
    const struct gx *x;
    size_t bytes, at = 0;
    char *out;

    if (form == GX_RAW)
        return gx_bytes(w, s, n);
    out = mem_mul(&bytes, n, 6) ? mem_try(bytes + 1) : NULL;
    if (!out) {
        gxs_fail(w, ST_NOMEM, "", "no memory for a text");
        return gx_none(w);
    }
    for (size_t i = 0; i < n; i++) {
        uint8_t c = (uint8_t)s[i], behind = brief_of(c);

        if (behind || c < ' ')
            out[at++] = '\\';
        if (!behind && c < ' ') {
            memcpy(out + at, "u00", 3);
            out[at + 3] = "01"[c >> 4];
            out[at + 4] = "0123456789abcdef"[c & 15];
            at += 5;
        } else {
            out[at++] = behind ? (char)behind : (char)c;
        }
    }
    x = gx_bytes(w, out, at);
    free(out);
    return x;
}

const struct gx *gx_any_text(struct gxs *w, enum gx_form form)
{
    struct char_range all[2] = {{0, 0xd7ff}, {0xe000, 0x10ffff}};
    struct charset c = {.p = all, .n = 2, .cap = 2};

    return gx_star(w, gx_chars(w, &c, form));
}
