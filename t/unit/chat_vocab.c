/*
 * The tokenizers of real files. Expected ids: contrib/demo-model/vectors.json
 * (made by the Python reference there, agreed on by llama.cpp; its README).
 */
#include "base/buf.h"
#include "chat/segment.h"
#include "chat/vocab.h"
#include "json/read.h"

#include "t/lib/tap.h"

#define DIR "contrib/demo-model/"

static bool same(const struct ids *got, const struct json *want, size_t skip)
{
    const struct json *j = want->child;

    while (skip-- && j)
        j = j->next;
    for (size_t i = 0; i < got->n; i++, j = j->next)
        if (!j || j->i != got->p[i])
            return false;
    return !j;
}

/* Each of list[].text must give list[].ids, `skip` ids of BOS apart. */
static void texts(const struct tok *t, const struct json *list, size_t skip,
                  const char *what)
{
    size_t n = 0, wrong = 0;

    for (const struct json *v = list->child; v; v = v->next, n++) {
        const struct json *text = json_get(v, "text");
        struct ids out;

        ids_init(&out, 8192);
        if (tok_encode(t, TOK_MARKUP, text->str.s, text->str.n, &out, NULL) ||
            !same(&out, json_get(v, "ids"), skip)) {
            wrong++;
            printf("# text %zu differs\n", n);
        }
        ids_release(&out);
    }
    ok(n > 0 && !wrong, "%zu of %zu %s agree", n - wrong, n, what);
}

static bool has(const struct ids *v, int32_t id)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->p[i] == id)
            return true;
    return false;
}

static void demo(const struct tok *t, const struct gguf *g)
{
    struct ids stop;
    struct err e;

    is_int(tok_count(t), 3072, "tokens");
    is_int(tok_eos(t), tok_find(t, "<|im_end|>", 10), "eos by name");
    ok(!tok_add_bos(t), "no BOS before a prompt");
    is_int(tok_type_of(t, tok_find(t, "<think>", 7)), TOK_USER,
           "<think> is user-defined");
    ids_init(&stop, 8);
    ok(vocab_stop_ids(g, t, &stop, &e) == ST_OK, "stop ids");
    is_int(stop.n, 2, "two of them");
    ok(has(&stop, tok_find(t, "<|im_end|>", 10)) &&
           has(&stop, tok_find(t, "<|endoftext|>", 13)),
       "the ends of a turn and of a text");
    ids_release(&stop);
    ids_init(&stop, 1);
    ok(vocab_stop_ids(g, t, &stop, &e) == ST_LIMIT, "a full list is an error");
    ids_release(&stop);
}

/* C36: exactly one BOS, whether or not the template spells it. */
static void one_bos(const struct tok *t, enum tok_mode mode, const char *s)
{
    struct segments list;
    struct arena a;
    struct ids ids;
    struct err e;

    arena_init(&a, 4096);
    ids_init(&ids, 64);
    segments_init(&list, &a);
    segments_add(&list, mode, s, strlen(s));
    ok(segments_encode(&list, t, &ids, &e) == ST_OK && ids.n > 2 &&
           ids.p[0] == tok_bos(t) && ids.p[1] != tok_bos(t),
       "C36: one BOS before %s '%s'",
       mode == TOK_MARKUP ? "markup" : "content", s);
    ids_release(&ids);
    arena_release(&a);
}

static void llama(const struct tok *t, const struct gguf *g)
{
    struct ids stop;

    is_int(tok_bos(t), 1, "BOS");
    ok(tok_add_bos(t), "begins a prompt");
    one_bos(t, TOK_MARKUP, "Hello you");
    one_bos(t, TOK_MARKUP, "<s>Hello you");
    one_bos(t, TOK_CONTENT, "<s>Hello you");
    ids_init(&stop, 8);
    ok(vocab_stop_ids(g, t, &stop, NULL) == ST_OK && stop.n == 1 &&
           stop.p[0] == 2, "</s> is the only stop id");
    ids_release(&stop);
}

static void model(const struct json *m, const struct json *shared)
{
    const struct json *own = json_get(m, "tokenizer");
    const struct json *file = json_get(m, "file");
    struct gguf *g = NULL;
    struct tok *t = NULL;
    struct err e = {0};
    char path[128];

    snprintf(path, sizeof(path), DIR "%.*s", (int)file->str.n, file->str.s);
    if (!ok(!gguf_open(&g, path, &e) && !vocab_open(&t, g, &e), "%s", path))
        printf("# %s: %s\n", e.where, e.text);
    else if (own) {
        texts(t, own, 1, "texts"); /* the vectors begin with BOS */
        llama(t, g);
    } else {
        texts(t, shared, 0, "texts");
        if (json_get(json_get(m, "prompts")->child, "text"))
            texts(t, json_get(m, "prompts"), 0, "prompts");
        demo(t, g);
    }
    tok_free(t);
    gguf_close(g);
}

int main(void)
{
    const struct json *v;
    struct arena a;
    struct buf b;
    struct err e;

    buf_init(&b, BUF_FILE);
    arena_init(&a, 16u << 20);
    if (ok(!buf_read_file(&b, DIR "vectors.json", &e) &&
               !json_parse(&v, &a, b.p, b.n, &e), "vectors"))
        for (const struct json *m = json_get(v, "models")->child; m;
             m = m->next)
            model(m, json_get(v, "tokenizer"));
    arena_release(&a);
    buf_release(&b);
    return done();
}
