#include "text/pretok.h"

#include "base/utf8.h"
#include "text/uni.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* Bytes that stand for a non-ASCII character: 0x80 + enum uni_class. The
 * halves of the sets below must follow text/uni.h. */
#define CLASS_BASE 0x80
#define C_L "A-Za-z\\x81"
#define C_N "0-9\\x82"
#define C_S "\\x09-\\x0d\\x20\\x83"
#define C_P "!\"#%&'()*,\\-./:;?@\\[\\\\\\]_{}\\x84"

#define APOSTROPHE                                                             \
    "'(?:[sS]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD])|"
#define REST                                                                   \
    "\\x20?[^" C_S C_L C_N "]+[\\r\\n]*|[" C_S "]*[\\r\\n]+|"                  \
    "[" C_S "]+(?![^" C_S "])|[" C_S "]+"
#define GPT2                                                                   \
    "'s|'t|'re|'ve|'m|'ll|'d|\\x20?[" C_L "]+|\\x20?[" C_N "]+|"               \
    "\\x20?[^" C_S C_L C_N "]+|[" C_S "]+(?![^" C_S "])"

#define PASSES_MAX 4

static const struct recipe {
    const char *name;
    const char *pass[PASSES_MAX];
} recipes[] = {
    {"gpt2", {GPT2 "|[" C_S "]+"}},
    {"llama-bpe",
     {APOSTROPHE "[^\\r\\n" C_L C_N "]?[" C_L "]+|[" C_N "]{1,3}|" REST}},
    {"qwen2", {APOSTROPHE "[^\\r\\n" C_L C_N "]?[" C_L "]+|[" C_N "]|" REST}},
    {"default", {"[" C_P "$+<=>^~|]+", GPT2, "[" C_N "]+", "[0-9]{3}"}},
};

struct pretok {
    pcre2_code *pass[PASSES_MAX];
    int n_pass;
};

void pretok_free(struct pretok *p)
{
    if (!p)
        return;
    for (int i = 0; i < p->n_pass; i++)
        pcre2_code_free(p->pass[i]);
    free(p);
}

static const struct recipe *recipe_find(const char *name)
{
    for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++)
        if (!strcmp(recipes[i].name, name))
            return &recipes[i];
    return NULL;
}

enum st pretok_new(struct pretok **out, const char *name, struct err *e)
{
    const struct recipe *r = recipe_find(name);
    struct pretok *p;

    *out = NULL;
    if (!r)
        return err_set(e, ST_UNSUPPORTED, "tokenizer.ggml.pre",
                       "pre-tokenizer '%.40s' is not known; known are gpt2, "
                       "llama-bpe, qwen2 and default", name);
    p = mem_new(struct pretok);
    for (int i = 0; i < PASSES_MAX && r->pass[i]; i++) {
        PCRE2_SIZE at;
        int code;

        /* A failure can only be memory: the patterns are ours. */
        p->pass[i] = pcre2_compile((PCRE2_SPTR)r->pass[i],
                                   PCRE2_ZERO_TERMINATED, 0, &code, &at, NULL);
        if (!p->pass[i]) {
            pretok_free(p);
            return err_set(e, ST_NOMEM, name, "pattern %d: PCRE2 error %d", i,
                           code);
        }
        p->n_pass = i + 1;
        /* Where the system forbids it, the interpreter gives the same. */
        (void)pcre2_jit_compile(p->pass[i], PCRE2_JIT_COMPLETE);
    }
    *out = p;
    return ST_OK;
}

/* One cutting: `at` walks the text as words leave in order. */
struct cut {
    const struct pretok *p;
    const char *at;
    pcre2_match_data *md;
    pcre2_match_context *mc;
    pretok_word *word;
    void *arg;
};

static enum st cut_emit(struct cut *c, size_t chars, struct err *e)
{
    const char *s = c->at, *t = s;

    for (size_t i = 0; i < chars; i++) {
        unsigned char b = (unsigned char)*t;

        t += b < 0x80 ? 1 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : 4;
    }
    c->at = t;
    return c->word(c->arg, s, (size_t)(t - s), e);
}

static enum uni_class class_at(const unsigned char *cls)
{
    return *cls < CLASS_BASE ? uni_class(*cls)
                             : (enum uni_class)(*cls - CLASS_BASE);
}

/* What to take where PCRE2 gave up: one run of one class. */
static size_t run_len(const unsigned char *cls, size_t n)
{
    size_t i = 1;

    while (i < n && class_at(cls + i) == class_at(cls))
        i++;
    return i;
}

/* Find the first match in cls[0..n): [*a, *b), empty at n for none. */
static enum st cut_find(struct cut *c, int pass, const unsigned char *cls,
                        size_t n, size_t *a, size_t *b, struct err *e)
{
    const PCRE2_SIZE *v = pcre2_get_ovector_pointer(c->md);
    int r = pcre2_match(c->p->pass[pass], cls, n, 0, 0, c->md, c->mc);

    *a = *b = n;
    if (r > 0 && v[1] > v[0]) {
        *a = v[0];
        *b = v[1];
    } else if (r == PCRE2_ERROR_MATCHLIMIT) {
        *a = 0;
        *b = run_len(cls, n);
    } else if (r != PCRE2_ERROR_NOMATCH) {
        /* memory: another cut would give other ids for the same text */
        return err_set(e, ST_NOMEM, "", "cutting text: PCRE2 error %d", r);
    }
    return ST_OK;
}

/* Recurses once per pass, never on input. */
static enum st cut_pass(struct cut *c, int pass, const unsigned char *cls,
                        size_t n, struct err *e)
{
    enum st st = ST_OK;

    if (pass == c->p->n_pass)
        return cut_emit(c, n, e);
    while (n && !st) {
        size_t a, b;

        st = cut_find(c, pass, cls, n, &a, &b, e);
        if (!st && a)
            st = cut_pass(c, pass + 1, cls, a, e);
        if (!st && a < b)
            st = cut_pass(c, pass + 1, cls + a, b - a, e);
        cls += b;
        n -= b;
    }
    return st;
}

static size_t classify(unsigned char *cls, const char *s, size_t n)
{
    size_t k = 0;

    for (size_t i = 0; i < n; k++) {
        unsigned char b = (unsigned char)s[i];
        uint32_t cp;
        size_t len = utf8_decode(s + i, n - i, &cp);

        BUG_ON(!len);
        i += len;
        if (b < CLASS_BASE) {
            cls[k] = b;
            continue;
        }
        cls[k] = (unsigned char)(CLASS_BASE + uni_class(cp));
    }
    return k;
}

enum st pretok_split(const struct pretok *p, const char *s, size_t n,
                     pretok_word *word, void *arg, struct err *e)
{
    struct cut c = {.p = p, .at = s, .word = word, .arg = arg};
    unsigned char *cls;
    enum st st;
    size_t k;

    if (!n)
        return ST_OK;
    cls = mem_try(n);
    c.md = pcre2_match_data_create(1, NULL);
    c.mc = pcre2_match_context_create(NULL);
    if (cls && c.md && c.mc) {
        k = classify(cls, s, n);
        pcre2_set_match_limit(c.mc, k < UINT32_MAX / 16
                                        ? (uint32_t)k * 8 + 10000
                                        : UINT32_MAX);
        st = cut_pass(&c, 0, cls, k, e);
    } else {
        st = err_set(e, ST_NOMEM, "", "no memory to cut %zu bytes", n);
    }
    pcre2_match_context_free(c.mc);
    pcre2_match_data_free(c.md);
    free(cls);
    return st;
}
