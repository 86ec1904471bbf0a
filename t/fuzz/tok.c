/*
 * Any text through every tokenizer, in both modes. Content never yields a
 * control or structure token, and its pieces are the text again; markup
 * pieces are too. The first byte chooses the tokenizer.
 */
#include "base/utf8.h"
#include "text/tok.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define N_TOK 300
static char names[N_TOK][8];
static struct span tokens[N_TOK];
static int64_t types[N_TOK];
static float scores[N_TOK];

static size_t put(size_t i, const char *s, enum tok_type type)
{
    snprintf(names[i], sizeof(names[i]), "%s", s);
    tokens[i] = (struct span){names[i], strlen(names[i])};
    types[i] = type;
    scores[i] = -(float)(i % 7);
    return i + 1;
}

static size_t put_bytes(enum tok_model model)
{
    uint32_t next = 0x100;
    size_t i = 0;

    for (uint32_t b = 0; b < 256; b++) {
        bool plain = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) ||
                     b >= 0xae;
        char s[8] = "";

        if (model == TOK_BPE)
            utf8_encode(plain ? b : next++, s);
        else
            snprintf(s, sizeof(s), "<0x%02X>", b);
        i = put(i, s, model == TOK_BPE ? TOK_NORMAL : TOK_BYTE);
    }
    return i;
}

static struct tok *make(enum tok_model model, const char *pre)
{
    static const char *const words[] = {"ab", "abab", "<s", "s>", "aa", "aaaa",
                                        "\xc3\xa9"};
    static const struct span merges[] = {{"a b", 3}, {"ab ab", 5}, {"< s", 3},
                                         {"s >", 3}, {"<s >", 4}, {"a a", 3},
                                         {"< s>", 4}, {"aa aa", 5}};
    struct tok_spec spec = {.model = model, .pre = pre, .tokens = tokens,
                            .types = types, .scores = scores,
                            .merges = merges, .bos = -1, .eos = -1,
                            .unk = -1, .pad = -1,
                            .ignore_merges = pre[0] == 'l'};
    struct tok *t;
    size_t i = put_bytes(model);

    spec.n_merges = model == TOK_BPE ? sizeof(merges) / sizeof(merges[0]) : 0;
    for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
        i = put(i, words[k], TOK_NORMAL);
    i = put(i, "<s>", TOK_CONTROL);
    i = put(i, "<s>a", TOK_USER);
    i = put(i, "\n\n", TOK_USER);
    i = put(i, model == TOK_SPM ? "\xe2\x96\x81" : "b", TOK_NORMAL);
    spec.n_tokens = i;
    BUG_ON(tok_new(&t, &spec, NULL) != ST_OK);
    return t;
}

/* U+2581 is a space in SPM, so such texts do not come back. */
static bool reversible(const char *s, size_t n, enum tok_model model)
{
    return model == TOK_BPE || !memmem(s, n, "\xe2\x96\x81", 3);
}

static void once(enum tok_model model, const char *pre, enum tok_mode mode,
                 const char *s, size_t n)
{
    struct tok *t = make(model, pre);
    struct ids ids;
    size_t at = 0;

    ids_init(&ids, n + 1);
    BUG_ON(tok_encode(t, mode, s, n, &ids, NULL) != ST_OK);
    for (size_t i = 0; i < ids.n; i++) {
        struct span p = tok_piece(t, ids.p[i]);
        enum tok_type type = tok_type_of(t, ids.p[i]);

        BUG_ON(mode == TOK_CONTENT &&
               (type == TOK_CONTROL || (type == TOK_USER && *p.s != '\n')));
        if (!reversible(s, n, model))
            continue;
        BUG_ON(p.n > n - at || memcmp(p.s, s + at, p.n));
        at += p.n;
    }
    BUG_ON(reversible(s, n, model) && at != n);
    ids_release(&ids);
    tok_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const pre[] = {"gpt2", "llama-bpe", "qwen2", "default"};
    const char *s = (const char *)data + 1;

    if (!n)
        return 0;
    for (int mode = TOK_MARKUP; mode <= TOK_CONTENT; mode++)
        once(data[0] % 5 == 4 ? TOK_SPM : TOK_BPE, pre[data[0] % 4],
             (enum tok_mode)mode, s, n - 1);
    return 0;
}
