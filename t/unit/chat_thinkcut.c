/*
 * What opens and closes reasoning, and how it is cut short, in every form:
 * the ids, and that the reply behind the cut is read as written.
 */
#include "t/lib/replyid_t.h"

static const struct toy_special specials[] = {
    {"<think>", TOK_USER},     {"</think>", TOK_USER},
    {"<|im_start|>", TOK_CONTROL}, {"<|im_end|>", TOK_CONTROL},
    {"<|START_THINKING|>", TOK_CONTROL}, {"<|END_THINKING|>", TOK_CONTROL},
    {"<|START_RESPONSE|>", TOK_CONTROL},
    {"<|open|>", TOK_CONTROL}, {"<|close|>", TOK_CONTROL},
    {"<|sep|>", TOK_CONTROL},  {"<|end_of_msg|>", TOK_CONTROL},
    {NULL, 0},
};

static struct toy toy;

/* Ids as text, special tokens in brackets. */
static const char *shown(const struct ids *v)
{
    static struct buf b;

    buf_init(&b, 4096);
    for (size_t i = 0; i < v->n; i++) {
        struct span p = tok_piece(toy.tok, v->p[i]);
        bool special = tok_type_of(toy.tok, v->p[i]) != TOK_NORMAL;

        buf_puts(&b, special ? "[" : "");
        buf_add(&b, p.s, p.n);
        buf_puts(&b, special ? "]" : "");
    }
    return b.n ? b.p : "";
}

static const char *cut(const struct format *f, const char *sentence)
{
    struct text t = {sentence, strlen(sentence)};
    static struct ids v;
    struct err e = {0};

    ids_release(&v);
    ids_init(&v, 4096);
    if (format_think_cut(f, t, &v, &e))
        return e.st == ST_UNSUPPORTED ? "unsupported" : "failed";
    return shown(&v);
}

static const char *marks(const struct format *f, bool close)
{
    static struct ids v;

    ids_release(&v);
    ids_init(&v, 4096);
    ids_add(&v, 1);
    format_think_ids(f, close, &v);
    return shown(&v);
}

/* A reply that the prompt opened reasoning for, cut behind `thought`. */
static void reads(const struct format *f, const char *thought,
                  const char *sentence, const char *said, const char *want)
{
    struct replyid_t t = {.f = f, .toy = &toy, .think_open = true};
    struct ids v;
    struct err e;
    char *got;

    ids_init(&v, 4096);
    BUG_ON(tok_encode(toy.tok, TOK_CONTENT, thought, strlen(thought), &v, &e));
    BUG_ON(format_think_cut(f, (struct text){sentence, strlen(sentence)}, &v,
                            &e));
    BUG_ON(tok_encode(toy.tok, TOK_CONTENT, said, strlen(said), &v, &e));
    got = replyid_fed(&t, &v);
    is_str(got, want, "it is read as written");
    free(got);
    ids_release(&v);
}

static struct format *jinja(const char *text)
{
    const struct jinja_source source = {
        .text = {text, strlen(text)}, .source = "toy",
    };
    struct format *f;
    struct err e;

    if (format_jinja(&f, &source, toy.tok, &e)) {
        printf("Bail out! %s: %s\n", e.where, e.text);
        exit(1);
    }
    return f;
}

int main(void)
{
    struct format *f;

    toy_open(&toy, specials, NULL, 0);
    f = jinja("{% for m in messages %}<|im_start|>{{ m.role }}\n"
              "{% if m.reasoning_content %}<think>\n{{ m.reasoning_content }}"
              "\n</think>\n\n{% endif %}{{ m.content }}<|im_end|>\n"
              "{% endfor %}<|im_start|>assistant\n<think>\n");
    is_str(marks(f, true), "[</think>]", "a token");
    is_str(cut(f, "Stop."), "Stop.\n[</think>]\n\n", "cut");
    is_str(cut(f, ""), "[</think>]", "nothing but structure");
    reads(f, "hm", "\nStop.", "yes",
          "{\"reasoning\":\"hm\\nStop.\",\"content\":\"yes\"}");
    format_free(f);
    toy_close(&toy);
    return done();
}
