/*
 * Tokenizers on small vocabularies made here, whose ids follow from the
 * definition of each algorithm by hand; real vocabularies are compared with
 * their own tokenizers in t/1100 and t/1110.
 */
#include "base/utf8.h"
#include "text/pretok.h"
#include "text/tok.h"
#include "text/uni.h"

#include "t/lib/tap.h"

#define MAX_TOKENS 400
static struct span tokens[MAX_TOKENS];
static int64_t types[MAX_TOKENS];
static float scores[MAX_TOKENS];
static size_t n_tokens;

static int32_t add(const char *s, enum tok_type type, float score)
{
    tokens[n_tokens] = (struct span){mem_dup(s), strlen(s)};
    types[n_tokens] = type;
    scores[n_tokens] = score;
    return (int32_t)n_tokens++;
}

static void clear(void)
{
    while (n_tokens)
        free((void *)(uintptr_t)tokens[--n_tokens].s);
}

/* Ids 0 to 255 are the bytes, in GPT-2's spelling. */
static void add_bytes(void)
{
    uint32_t next = 0x100;

    for (uint32_t b = 0; b < 256; b++) {
        bool plain = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) ||
                     b >= 0xae;
        char s[5] = "";

        utf8_encode(plain ? b : next++, s);
        add(s, TOK_NORMAL, 0);
    }
}

static struct tok *make(enum tok_model model, const char *pre,
                        const char *const *merge, bool flag)
{
    struct span m[16];
    struct tok_spec spec = {.model = model, .pre = pre, .tokens = tokens,
                            .n_tokens = n_tokens, .scores = scores,
                            .types = types, .merges = m, .bos = -1,
                            .eos = -1, .unk = -1, .pad = -1,
                            .ignore_merges = flag, .add_space_prefix = flag};
    struct tok *t;
    struct err e = {0};

    while (merge && merge[spec.n_merges]) {
        const char *s = merge[spec.n_merges];

        m[spec.n_merges++] = (struct span){s, strlen(s)};
    }
    if (tok_new(&t, &spec, &e))
        printf("# %s: %s\n", e.where, e.text);
    return t;
}

/* Ids as "1 2 3"; valid until the next call. */
static const char *ids_of(const struct tok *t, enum tok_mode mode,
                          const char *s, size_t n)
{
    static char out[4096];
    struct ids ids;
    struct err e;
    size_t k = 0;

    ids_init(&ids, 1000);
    out[0] = 0;
    if (tok_encode(t, mode, s, n, &ids, &e))
        snprintf(out, sizeof(out), "error: %s", e.text);
    for (size_t i = 0; i < ids.n && k < sizeof(out) - 16; i++)
        k += (size_t)snprintf(out + k, 16, i ? " %d" : "%d", ids.p[i]);
    ids_release(&ids);
    return out;
}

#define CONTENT(t, s) ids_of(t, TOK_CONTENT, s, sizeof(s) - 1)
#define MARKUP(t, s) ids_of(t, TOK_MARKUP, s, sizeof(s) - 1)

static void test_uni(void)
{
    is_int(uni_class('a'), UNI_L, "a is a letter");
    is_int(uni_class(0x4e2d), UNI_L, "U+4E2D is a letter");
    is_int(uni_class(0x0669), UNI_N, "U+0669 is a number");
    is_int(uni_class(0x85), UNI_SPACE, "U+0085 is white space");
    is_int(uni_class(0x3000), UNI_SPACE, "U+3000 is white space");
    is_int(uni_class(0x1c), UNI_OTHER, "U+001C is not");
    is_int(uni_class(0x200d), UNI_OTHER, "U+200D is none of these");
    is_int(uni_class(0x0301), UNI_M, "U+0301 is a mark");
    is_int(uni_class(0x1f600), UNI_S, "U+1F600 is a symbol");
    is_int(uni_class(0x10ffff), UNI_OTHER, "the last code point has a class");
    is_int(uni_class(UINT32_MAX), UNI_OTHER, "so has nonsense");
}

static char words[512];

static enum st take_word(void *arg, const char *s, size_t n, struct err *e)
{
    size_t k = strlen(words);

    (void)arg, (void)e;
    snprintf(words + k, sizeof(words) - k, "%.*s|", (int)n, s);
    return ST_OK;
}

static const char *words_of(const char *name, const char *s)
{
    struct pretok *p;

    words[0] = 0;
    if (pretok_new(&p, name, NULL))
        return "no such pre-tokenizer";
    if (pretok_split(p, s, strlen(s), take_word, NULL, NULL))
        snprintf(words, sizeof(words), "failed");
    pretok_free(p);
    return words;
}

/* Expected: the patterns' definition, read by hand. */
static void test_pretok(void)
{
    is_str(words_of("gpt2", "it's  12345 x\n\ny!?"),
           "it|'s| | 12345| x|\n|\n|y|!?|", "gpt2");
    is_str(words_of("llama-bpe", "IT'S 12345 (x)\n y"),
           "IT|'S| |123|45| (|x|)\n| y|", "llama-bpe");
    is_str(words_of("qwen2", "a12\r\n  b"), "a|1|2|\r\n| | b|", "qwen2");
    is_str(words_of("qwen2", "\xe3\x80\x80\xe6\x97\xa5x\xd9\xa1"),
           "\xe3\x80\x80\xe6\x97\xa5x|\xd9\xa1|", "classes beyond ASCII");
    is_str(words_of("default", "a12345b, c"), "a|123|45|b|,| c|", "default");
    is_str(words_of("nothing", ""), "no such pre-tokenizer", "unknown name");
}

static void test_bpe(void)
{
    static const char *const merges[] = {"l o", "lo w", "o w", "< x", "<x >",
                                         "e s", "t h", "l o", NULL};
    struct tok *t;
    int32_t lo, low, ow, es, th;

    add_bytes();
    lo = add("lo", TOK_NORMAL, 0);
    low = add("low", TOK_NORMAL, 0);
    ow = add("ow", TOK_NORMAL, 0);
    add("<x", TOK_NORMAL, 0);
    add("<x>", TOK_CONTROL, 0);
    es = add("es", TOK_USER, 0);
    th = add("the", TOK_NORMAL, 0);
    add("\n\n", TOK_USER, 0);
    add("<x>y", TOK_USER, 0);
    is_int(lo, 256, "ids as expected below");
    t = make(TOK_BPE, "qwen2", merges, false);
    is_str(CONTENT(t, "low"), "257", "merges by rank; of a pair that is twice there, the first");
    is_str(CONTENT(t, "ow lol"), "258 32 256 108", "within words only");
    is_str(CONTENT(t, ""), "", "nothing gives nothing");
    is_str(CONTENT(t, "\0a\0"), "0 97 0", "NUL is data");
    is_str(CONTENT(t, "lo\xff\xc3lo\xe2\x82"), "256 255 195 256 226 130",
           "invalid bytes stand alone");
    is_str(MARKUP(t, "a<x>b"), "97 260 98", "markup: control");
    is_str(MARKUP(t, "<x>yes"), "264 261", "markup: the longest, then user");
    is_str(CONTENT(t, "a<x>b"), "97 259 62 98",
           "content: no control token, not by a merge either");
    is_str(CONTENT(t, "es<x>y"), "101 115 259 62 121",
           "content: no user-defined token");
    is_str(CONTENT(t, "a\n\nb"), "97 263 98", "content: but white space");
    is_str(CONTENT(t, "the"), "116 104 101", "whole words do not win");
    {
        struct tok_marker m = tok_next_marker(t, "a\n\n<x>y<x>", 10);

        is_int(m.at, 3, "the next marker, white space passed over");
        is_int(m.n, 4, "the longest of those that begin there");
        is_int(m.id, 264, "and its id");
        m = tok_next_marker(t, "\n\nlow", 5);
        ok(m.id == -1 && m.at == 5 && !m.n, "or none");
    }
    is_int(tok_find(t, "<x>", 3), 260, "control tokens are found by name");
    is_int(tok_find(t, "nope", 4), -1, "others are not");
    is_int(tok_piece(t, 32).n, 1, "a piece is bytes");
    is_int(tok_piece(t, 32).s[0], ' ', "and not their spelling");
    ok(span_is(tok_piece(t, 260), "<x>"), "control tokens give their name");
    is_int(tok_piece(t, -1).n, 0, "out of range is empty");
    is_int(tok_piece(t, 1000).n, 0, "on both sides");
    tok_free(t);
    t = make(TOK_BPE, "llama-bpe", merges, true);
    is_int(th, 262, "id of the word");
    is_str(CONTENT(t, "the"), "262", "ignore_merges: whole words win");
    is_str(CONTENT(t, "es"), "101 115", "but not user-defined ones");
    tok_free(t);
    (void)low, (void)ow, (void)es;
    clear();
}

/* One word of SPM that is as long as the text. */
static void test_long_spm(const struct tok *t)
{
    const size_t n = 1 << 19;
    char *s = mem_zalloc(n);
    struct ids ids;

    memset(s, 'a', n);
    ids_init(&ids, n);
    is_int(tok_encode(t, TOK_CONTENT, s, n, &ids, NULL), ST_OK, "a long run");
    is_int(ids.n, n / 2 + 1, "merged in twos");
    ids_release(&ids);
    free(s);
}

static void test_spm(void)
{
    char name[8];
    struct tok *t;

    add("<unk>", TOK_UNKNOWN, 0);
    add("<s>", TOK_CONTROL, 0);
    for (unsigned b = 0; b < 256; b++) { /* ids 2 to 257 */
        snprintf(name, sizeof(name), "<0x%02X>", b);
        add(name, TOK_BYTE, 0);
    }
    add("\xe2\x96\x81", TOK_NORMAL, -10);   /* 258 */
    add("a", TOK_NORMAL, -11);              /* 259 */
    add("b", TOK_NORMAL, -12);              /* 260 */
    add("ab", TOK_NORMAL, -1);              /* 261 */
    add("ba", TOK_NORMAL, -2);              /* 262 */
    add("\xe2\x96\x81" "ab", TOK_NORMAL, -3); /* 263 */
    add("<s", TOK_NORMAL, -4);              /* 264 */
    add("<", TOK_NORMAL, -5);               /* 265 */
    add("s", TOK_NORMAL, -6);               /* 266 */
    add("aa", TOK_NORMAL, -7);              /* 267 */
    add("\n\n", TOK_USER, 0);               /* 268 */
    add("sa", TOK_NORMAL, -7);              /* 269 */
    t = make(TOK_SPM, NULL, NULL, true);
    is_str(CONTENT(t, "ab"), "263", "a space leads");
    is_str(CONTENT(t, "bab"), "258 260 261", "the best score first");
    is_str(CONTENT(t, " ab"), "258 263", "it leads a space too");
    is_str(CONTENT(t, ""), "", "but not nothing");
    is_str(CONTENT(t, "aaa"), "258 267 259", "of equals the leftmost");
    is_str(CONTENT(t, "saa"), "258 269 259", "of equal scores as well");
    is_str(CONTENT(t, "a\xc3\xa9"), "258 259 197 171", "bytes of a character");
    is_str(CONTENT(t, "a\xff" "a"), "258 259 257 259", "an invalid byte");
    is_str(CONTENT(t, "<s>"), "258 264 64", "content: no control token");
    is_str(MARKUP(t, "<s>ab"), "1 263", "markup: and the space after it");
    is_str(CONTENT(t, "a\n\nb"), "258 259 268 260", "a white-space token");
    is_str(CONTENT(t, "\xe2\x96\x81"), "258 258", "U+2581 is a space");
    ok(span_is(tok_piece(t, 263), " ab"), "pieces have spaces");
    ok(span_is(tok_piece(t, 12), "\n"), "byte tokens are bytes");
    ok(tok_strips_first_space(t), "the first space is dropped on output");
    test_long_spm(t);
    tok_free(t);
    clear();
}

/*
 * Hostile lengths. A quadratic algorithm would need hours for these, so that
 * the test ends is the proof.
 */
static void test_long(void)
{
    static const char *const merges[] = {"a a", "aa aa", NULL};
    static const char fill[] = {'a', ' ', '\n', '<', 'b', '\'', '\xff', '1'};
    enum { LEN = 1 << 20 };
    char *s = mem_zalloc(LEN);
    struct ids ids;
    struct tok *t;

    add_bytes();
    add("aa", TOK_NORMAL, 0);
    add("aaaa", TOK_NORMAL, 0);
    add("<aaaaaaaa>", TOK_CONTROL, 0);
    for (int k = 0; k < 4; k++) {
        static const char *const pre[] = {"gpt2", "llama-bpe", "qwen2",
                                          "default"};

        t = make(TOK_BPE, pre[k], merges, false);
        for (size_t i = 0; i < sizeof(fill); i++) {
            size_t n = i ? LEN / 8 : LEN;

            ids_init(&ids, LEN);
            memset(s, fill[i], n);
            s[n - 1] = 'x';
            is_int(tok_encode(t, TOK_MARKUP, s, n, &ids, NULL), ST_OK,
                   "%zu bytes 0x%02x through %s", n, (unsigned char)fill[i],
                   pre[k]);
            if (!i)
                is_int(ids.n, LEN / 4 + 2, "merged in fours");
            ids_release(&ids);
        }
        ids_init(&ids, 10);
        is_int(tok_encode(t, TOK_CONTENT, s, LEN, &ids, NULL), ST_LIMIT,
               "too many tokens are refused");
        ids_release(&ids);
        tok_free(t);
    }
    free(s);
    clear();
}

static void test_refusals(void)
{
    struct tok_spec spec = {.model = TOK_BPE, .pre = "gpt2",
                            .tokens = tokens, .bos = -1, .eos = -1,
                            .unk = -1, .pad = -1};
    struct span bad = {"ab", 2};
    struct tok *t;
    struct err e;

    is_int(tok_new(&t, &spec, &e), ST_FORMAT, "no tokens");
    add("a", TOK_NORMAL, 0);
    spec.n_tokens = n_tokens;
    is_int(tok_new(&t, &spec, &e), ST_FORMAT, "no token for a byte");
    clear();
    add_bytes();
    spec.n_tokens = n_tokens;
    spec.eos = 256;
    is_int(tok_new(&t, &spec, &e), ST_FORMAT, "eos out of range");
    is_str(e.where, "tokenizer.ggml.eos_token_id", "names the key");
    spec.eos = -1;
    spec.merges = &bad;
    spec.n_merges = 1;
    is_int(tok_new(&t, &spec, &e), ST_FORMAT, "a merge without a space");
    spec.n_merges = 0;
    spec.types = types;
    types[7] = 9;
    is_int(tok_new(&t, &spec, &e), ST_FORMAT, "an unknown token type");
    types[7] = TOK_NORMAL;
    spec.pre = "tekken";
    is_int(tok_new(&t, &spec, &e), ST_UNSUPPORTED, "unknown pre-tokenizer");
    spec.model = TOK_SPM;
    is_int(tok_new(&t, &spec, &e), ST_FORMAT, "SPM needs scores");
    ok(!t, "nothing is left behind");
    clear();
}

/* Files without types, or whose types call these tokens normal. */
static void test_named(void)
{
    static const char *const name[] = {"<", "s", ">", "<s", "<s>", "/", "</",
                                       "</s>", ",", "<unk>", "?"};
    struct tok_spec spec = {.model = TOK_SPM, .tokens = tokens,
                            .scores = scores, .bos = 4, .eos = 7, .unk = 9,
                            .pad = 8};
    struct tok *t;
    struct err e;

    for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
        add(name[i], TOK_NORMAL, 0);
    spec.n_tokens = n_tokens;
    is_int(tok_new(&t, &spec, &e), ST_OK, "a file without types");
    is_str(CONTENT(t, "<s></s>"), "3 2 6 1 2", "no bos or eos from content");
    is_str(MARKUP(t, "<s></s>"), "4 7", "but from markup");
    is_str(CONTENT(t, ",x"), "8 9",
           "an ordinary token named pad stays one; unk for what has none");
    tok_free(t);
    spec.types = types;
    is_int(tok_new(&t, &spec, &e), ST_OK, "a file with wrong types");
    is_str(CONTENT(t, "<s></s>"), "3 2 6 1 2", "the same");
    tok_free(t);
    clear();
}

/* The only token has no spelling at all. */
static void test_empty(void)
{
    struct tok_spec spec = {.model = TOK_SPM, .tokens = tokens, .n_tokens = 1,
                            .scores = scores, .types = types, .bos = -1,
                            .eos = -1, .unk = 0, .pad = -1};
    struct tok *t;
    struct err e;

    add("", TOK_UNKNOWN, 0);
    is_int(tok_new(&t, &spec, &e), ST_OK, "a vocabulary of one empty token");
    is_str(CONTENT(t, "ab"), "0 0", "encodes every byte as it");
    tok_free(t);
    clear();
}

int main(void)
{
    test_uni();
    test_pretok();
    test_bpe();
    test_spm();
    test_long();
    test_refusals();
    test_named();
    test_empty();
    return done();
}
