/*
 * What opens and closes reasoning, and how it is cut short, in every form:
 * the ids, and that the reply behind the cut is read as written.
 */
#include "chat/dsml_int.h"
#include "t/lib/replyid_t.h"

static const struct toy_special specials[] = {
    {"<think>", TOK_USER},     {"</think>", TOK_USER},
    {"<|im_start|>", TOK_CONTROL}, {"<|im_end|>", TOK_CONTROL},
    {"[THINK]", TOK_CONTROL},  {"[/THINK]", TOK_CONTROL},
    {"<|START_THINKING|>", TOK_CONTROL}, {"<|END_THINKING|>", TOK_CONTROL},
    {"<|START_RESPONSE|>", TOK_CONTROL},
    {"<|open|>", TOK_CONTROL}, {"<|close|>", TOK_CONTROL},
    {"<|sep|>", TOK_CONTROL},  {"<|end_of_msg|>", TOK_CONTROL},
    {"[gMASK]", TOK_CONTROL},  {"<sop>", TOK_CONTROL},
    {"<|system|>", TOK_CONTROL}, {"<|user|>", TOK_CONTROL},
    {"<|assistant|>", TOK_CONTROL}, {"<|begin_of_image|>", TOK_CONTROL},
    {"<|image|>", TOK_CONTROL}, {"<|end_of_image|>", TOK_CONTROL},
    {"<tool_call>", TOK_USER}, {"</tool_call>", TOK_USER},
    {"<arg_key>", TOK_USER},   {"</arg_key>", TOK_USER},
    {"<arg_value>", TOK_USER}, {"</arg_value>", TOK_USER},
    {"<tool_response>", TOK_USER}, {"</tool_response>", TOK_USER},
    {"<|observation|>", TOK_CONTROL},
    {DSML_BOS, TOK_CONTROL}, {DSML_EOS, TOK_CONTROL},
    {DSML_USER, TOK_CONTROL}, {DSML_ASSISTANT, TOK_CONTROL},
    {DSML_SYSTEM, TOK_CONTROL}, {DSML_NAMED("latest_reminder"), TOK_CONTROL},
    {DSML_NAMED("deepseek_image"), TOK_CONTROL}, {DSML_TAG, TOK_USER},
    {DSML_NAMED("action"), TOK_CONTROL}, {DSML_NAMED("query"), TOK_CONTROL},
    {DSML_NAMED("authority"), TOK_CONTROL}, {DSML_NAMED("domain"), TOK_CONTROL},
    {DSML_NAMED("title"), TOK_CONTROL}, {DSML_NAMED("read_url"), TOK_CONTROL},
    {"<|im_system|>", TOK_CONTROL}, {"<|im_user|>", TOK_CONTROL},
    {"<|im_assistant|>", TOK_CONTROL}, {"<|im_middle|>", TOK_CONTROL},
    {NULL, 0},
};

static struct toy toy, plain; /* plain: no special tokens at all */

/* Ids as text, special tokens in brackets. */
static void show(struct buf *b, const struct tok *t, const struct ids *v)
{
    buf_clear(b);
    for (size_t i = 0; i < v->n; i++) {
        struct span p = tok_piece(t, v->p[i]);
        bool special = tok_type_of(t, v->p[i]) != TOK_NORMAL;

        buf_puts(b, special ? "[" : "");
        buf_add(b, p.s, p.n);
        buf_puts(b, special ? "]" : "");
    }
}

static void is_cut(const struct format *f, const struct tok *t,
                   const char *sentence, const char *want, const char *name)
{
    struct buf b;
    struct ids v;
    struct err e = {0};

    buf_init(&b, 4096);
    ids_init(&v, 4096);
    if (format_think_cut(f, (struct text){sentence, strlen(sentence)}, &v, &e))
        buf_puts(&b, e.st == ST_UNSUPPORTED ? "unsupported" : "failed");
    else
        show(&b, t, &v);
    is_str(b.n ? b.p : "", want, "%s", name);
    buf_release(&b);
    ids_release(&v);
}

/* No more than the list may hold. */
static void no_room(const struct format *f, size_t ids)
{
    struct ids v;
    struct err e = {0};

    ids_init(&v, ids);
    is_int(format_think_cut(f, TEXT("Stop."), &v, &e), ST_NOMEM,
           "%s: a cut of more than %zu ids", f->source, ids);
    ids_release(&v);
}

static void is_mark(const struct format *f, const struct tok *t, bool close,
                    const char *want)
{
    struct buf b;
    struct ids v;

    buf_init(&b, 4096);
    ids_init(&v, 4096);
    ids_add(&v, 1); /* goes */
    format_think_ids(f, close, &v);
    show(&b, t, &v);
    is_str(b.n ? b.p : "", want, "%s", close ? "what closes" : "what opens");
    buf_release(&b);
    ids_release(&v);
}

/* A reply in reasoning that is cut behind `thought`, and what is said then:
 * read as written, which is one JSON object. */
static void reads(const struct format *f, const struct toy *v,
                  const char *thought, const char *sentence, const char *said,
                  const char *want)
{
    struct replyid_t t = {.f = f, .toy = v, .think_open = true};
    struct text cut = {sentence, strlen(sentence)};
    struct ids ids;
    struct err e;
    char *got;

    ids_init(&ids, 4096);
    BUG_ON(tok_encode(v->tok, TOK_CONTENT, thought, strlen(thought), &ids,
                      &e));
    BUG_ON(format_think_cut(f, cut, &ids, &e));
    BUG_ON(tok_encode(v->tok, TOK_CONTENT, said, strlen(said), &ids, &e));
    got = replyid_fed(&t, &ids);
    is_str(got, want, "%s is read as written", f->source);
    free(got);
    ids_release(&ids);
}

/* An answer that is forced where the model has not said anything, and one
 * behind a thought; text that looks like markers is none. */
static void reads_all(const struct format *f, const struct toy *v)
{
    reads(f, v, "", "", "yes", "{\"content\":\"yes\"}");
    reads(f, v, "", "", " [1]\n\nno ", "{\"content\":\" [1]\\n\\nno \"}");
    reads(f, v, "hm,", "\nNow.", "so",
          "{\"reasoning\":\"hm,\\nNow.\",\"content\":\"so\"}");
    if (v != &plain)
        reads(f, v, "", "</think><|close|>", "so",
              "{\"reasoning\":\"</think><|close|>\",\"content\":\"so\"}");
}

/* --- templates ----------------------------------------------------------- */

#define LOOP "{% for m in messages %}<|im_start|>{{ m.role }}\n"
#define END "{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
#define THOUGHT(open, close) \
    "{% if m.reasoning_content %}" open "{{ m.reasoning_content }}" close \
    "{% endif %}"

static void template(const char *text, const char *want, const char *bare,
                     const char *name)
{
    const struct jinja_source source = {
        .text = {text, strlen(text)}, .source = name,
    };
    struct format *f;
    struct err e;

    if (format_jinja(&f, &source, toy.tok, &e)) {
        printf("Bail out! %s: %s\n", e.where, e.text);
        exit(1);
    }
    is_cut(f, toy.tok, "Stop.", want, name);
    is_cut(f, toy.tok, "", bare, "nothing but structure");
    if (f->cut.n)
        reads_all(f, &toy);
    format_free(f);
}

static void templates(void)
{
    template(LOOP THOUGHT("<think>\n", "\n</think>\n\n") END,
             "Stop.\n[</think>]\n\n", "[</think>]", "lines");
    template(LOOP THOUGHT("<think>", "</think>\n") END "<think>",
             "Stop.[</think>]\n", "[</think>]", "few lines");
    template(LOOP "{{ '</think>' and '' }}" END "<think>\n",
             "Stop.\n[</think>]\n\n", "[</think>]", "thoughts are not shown");
    template(LOOP "{% if m.role == 'assistant' %}</think>{% endif %}" END
             "<think>", "Stop.[</think>]", "[</think>]",
             "a close without thoughts");
    template(LOOP "{% if m.role == 'assistant' %}<think>\n\n</think>\n\n"
             "{% endif %}" END, "Stop.\n[</think>]\n\n", "[</think>]",
             "an empty channel");
    template(LOOP THOUGHT("[THINK]", "[/THINK]") END, "Stop.[[/THINK]]",
             "[[/THINK]]", "brackets");
    template(LOOP "{{ '[THINK][/THINK]' and '' }}" END, "Stop.[[/THINK]]",
             "[[/THINK]]", "brackets that are not shown");
    template(LOOP THOUGHT("<|START_THINKING|>",
                          "<|END_THINKING|><|START_RESPONSE|>") END,
             "Stop.[<|END_THINKING|>][<|START_RESPONSE|>]",
             "[<|END_THINKING|>][<|START_RESPONSE|>]",
             "a token before the answer");
    template(LOOP THOUGHT("<think>\n", "\n</think><|im_end|>\n"
                          "<|im_start|>assistant\n") END,
             "Stop.\n[</think>]\n\n", "[</think>]", "a turn of its own");
    template(LOOP THOUGHT("<think>\n", " so\n</think>\n\n") END,
             "Stop.\n[</think>]\n\n", "[</think>]", "words of the template");
    template(LOOP END, "unsupported", "unsupported", "no channel");
    template(LOOP "{{ reasoning_effort }}" END, "unsupported", "unsupported",
             "efforts alone");
}

/* Published templates; what they write between a thought (or an empty
 * channel) and the answer stands in their texts. */
static void published(void)
{
    static const char *const t[][2] = {
        {"Qwen-Qwen3-0.6B", "\n</think>\n\n"},
        {"Qwen3.5-4B", "\n</think>\n\n"},
        {"StepFun3.5-Flash", "\n</think>\n"},
        {"GLM-4.6", "</think>\n"},
        {"GLM-4.7-Flash", "</think>"},
        {"ByteDance-Seed-OSS", "</seed:think>\n"},
        {"mistralai-Ministral-3-14B-Reasoning-2512", "[/THINK]"},
        {"deepseek-ai-DeepSeek-V3.1", "</think>"},
        {"Qwen-Qwen2.5-7B-Instruct", ""},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
        struct jinja_source source = {.source = t[i][0]};
        char path[160];
        struct format *f;
        struct buf b;
        struct err e;

        snprintf(path, sizeof(path), "t/data/chat/templates/%s.jinja",
                 t[i][0]);
        buf_init(&b, BUF_FILE);
        BUG_ON(buf_read_file(&b, path, &e));
        source.text = (struct span){b.p, b.n};
        BUG_ON(format_jinja(&f, &source, NULL, &e));
        ok(text_is(f->cut, t[i][1]), "%s: its own form", t[i][0]);
        format_free(f);
        buf_release(&b);
    }
}

/* A vocabulary without the tokens spells them. */
static void spelled(void)
{
    static const char text[] = LOOP THOUGHT("<think>\n", "\n</think>\n\n") END;
    const struct jinja_source source = {
        .text = {text, sizeof(text) - 1}, .source = "spelled",
    };
    struct format *f;
    struct err e;

    BUG_ON(format_jinja(&f, &source, plain.tok, &e));
    is_mark(f, plain.tok, false, "");
    is_mark(f, plain.tok, true, "");
    is_cut(f, plain.tok, "Stop.", "Stop.\n</think>\n\n", "spelled");
    is_cut(f, plain.tok, "", "</think>", "spelled alone");
    reads_all(f, &plain);
    format_free(f);

    BUG_ON(format_jinja(&f, &source, NULL, &e));
    is_cut(f, plain.tok, "Stop.", "unsupported", "no vocabulary");
    is_mark(f, plain.tok, true, "");
    format_free(f);
}

/* --- the others ---------------------------------------------------------- */

static void elements(void)
{
    struct format *f;
    struct err e;

    BUG_ON(format_xtml(&f, toy.tok, &e));
    is_mark(f, toy.tok, false, "[<|open|>]think[<|sep|>]");
    is_mark(f, toy.tok, true, "[<|close|>]think[<|sep|>]");
    is_cut(f, toy.tok, "Stop.",
           "Stop.[<|close|>]think[<|sep|>][<|open|>]response[<|sep|>]",
           "elements");
    is_cut(f, toy.tok, "",
           "[<|close|>]think[<|sep|>][<|open|>]response[<|sep|>]",
           "elements alone");
    reads_all(f, &toy);
    format_free(f);

    BUG_ON(format_dsml(&f, toy.tok, &e));
    is_mark(f, toy.tok, false, "[<think>]");
    is_mark(f, toy.tok, true, "[</think>]");
    is_cut(f, toy.tok, "Stop.", "Stop.[</think>]", "no lines");
    is_cut(f, toy.tok, "", "[</think>]", "the token");
    no_room(f, 5);
    reads_all(f, &toy);
    format_free(f);
}

static struct format *chatjson(const char *path)
{
    struct format *f;
    struct buf b;
    struct err e;

    buf_init(&b, BUF_FILE);
    if (buf_read_file(&b, path, &e) ||
        format_chatjson(&f, b.p, b.n, path, toy.tok, &e)) {
        printf("Bail out! %s: %s\n", e.where, e.text);
        exit(1);
    }
    buf_release(&b);
    return f;
}

static void files(void)
{
    struct format *f = chatjson("src/chat/chatml-think.json");

    is_mark(f, toy.tok, false, "[<think>]");
    is_mark(f, toy.tok, true, "[</think>]");
    is_cut(f, toy.tok, "Stop.", "Stop.\n[</think>]\n\n", "as the file has it");
    is_cut(f, toy.tok, "", "[</think>]", "the token of it");
    reads_all(f, &toy);
    format_free(f);
    f = chatjson("src/chat/glm.json");
    is_cut(f, toy.tok, "Stop.", "Stop.[</think>]", "a file without lines");
    reads_all(f, &toy);
    format_free(f);
    f = chatjson("src/chat/kimi.json");
    is_cut(f, toy.tok, "Stop.", "unsupported", "a file without a channel");
    is_mark(f, toy.tok, true, "");
    format_free(f);
}

/* A vocabulary that puts a space before every text: none gets before blank
 * lines, and a forced answer begins as it was given. */
static void spaces(void)
{
    static const char text[] = LOOP THOUGHT("<think>\n", "\n</think>\n\n") END;
    const struct jinja_source source = {
        .text = {text, sizeof(text) - 1}, .source = "spaces",
    };
    struct tok_spec spec = {
        .model = TOK_SPM, .bos = -1, .eos = -1, .unk = 0, .pad = -1,
        .add_space_prefix = true,
    };
    struct toy v = {0};
    float scores[TOY_MAX] = {0};
    struct format *f;
    struct err e;

    toy_name(&v, "<unk>", 5, TOK_UNKNOWN);
    toy_name(&v, "\xe2\x96\x81", 3, TOK_NORMAL);
    for (char c = '!'; c <= '~'; c++)
        toy_name(&v, &c, 1, TOK_NORMAL);
    toy_name(&v, "<0x0A>", 6, TOK_BYTE);
    toy_name(&v, "<think>", 7, TOK_USER);
    toy_name(&v, "</think>", 8, TOK_USER);
    spec.tokens = v.spans;
    spec.types = v.types;
    spec.scores = scores;
    spec.n_tokens = v.n;
    BUG_ON(tok_new(&v.tok, &spec, &e) ||
           format_jinja(&f, &source, v.tok, &e));
    is_cut(f, v.tok, "Stop.", " Stop.[</think>]", "no lines with spaces");
    reads(f, &v, "", "", "yes", "{\"content\":\"yes\"}");
    format_free(f);
    toy_close(&v);
}

int main(void)
{
    toy_open(&toy, specials, NULL, 0);
    toy_open(&plain, NULL, NULL, 0);
    templates();
    published();
    spelled();
    elements();
    files();
    spaces();
    toy_close(&toy);
    toy_close(&plain);
    return done();
}
