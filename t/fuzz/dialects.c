/*
 * Replies with calls, in every dialect, forced ones too: the first byte
 * chooses that, the second the cut and what the request said, the rest is the
 * text: ASCII as it is, above it markers and words of the forms. However cut
 * in two, the result is the same; all of it is UTF-8, and arguments that a
 * call claims to be whole are JSON objects where the form promises that.
 */
#include "t/lib/dialect_t.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const struct dialect *const dialects[] = {
    &dialect_xtml, &dialect_kimi, &dialect_glm, &dialect_dsml, &dialect_qwen,
    &dialect_llama3, &dialect_mistral, &dialect_deepseek,
};

static const char *const words[] = {
    "think", "response", "tools", "call tool=\"f\"", "call tool=\"f\" id=\"x\"",
    "argument key=\"s\" type=\"string\"", "argument key=\"n\" type=\"number\"",
    "argument key=\"b\" type=\"boolean\"", "json", "call", "argument", "<", "</",
    " calls>", " invoke name=\"f\">", " invoke>",
    " parameter name=\"s\" string=\"true\">",
    " parameter name=\"o\" string=\"false\">", " parameter name=\"n\">",
    " parameter>", "\n\n", "functions.f:0", "{\"name\": \"f\", ",
    "\"arguments\": {\"n\": \"1\"}}", "<function=f>", "</function>",
    "<parameter=n>", "</parameter>", "\xe6\xbc\xa2", "\xf0\x9f\x98\x80",
    "<tool_call>", "</tool_call>", "function", "f\n```json\n",
    "\n```",
};

#define WORDS (sizeof(words) / sizeof(words[0]))

static struct tools *tools, *forced;

static void make_tools(void)
{
    static const char json[] =
        "{\"type\":\"object\",\"properties\":{\"s\":{\"type\":\"string\"},"
        "\"n\":{\"type\":\"number\"},\"b\":{\"type\":\"boolean\"},"
        "\"o\":{\"type\":\"object\"}}}";
    static struct arena a;
    struct chat_tool tool = {.name = {"f", 1}};
    struct err e;

    arena_init(&a, 1u << 20);
    BUG_ON(json_parse(&tool.params, &a, json, sizeof(json) - 1, &e));
    tools = tools_new(&tool, 1);
    forced = tools_new(&tool, 1);
    BUG_ON(!tools || !forced);
    tools_forced(forced);
}

static void spell(struct buf *text, const struct dialect *d,
                  const uint8_t *data, size_t n)
{
    size_t markers = 0;

    while (d->markers[markers])
        markers++;
    for (size_t i = 0; i < n; i++) {
        if (data[i] < 0x80)
            buf_putc(text, (char)data[i]);
        else if (data[i] < 0xe0 || !markers)
            buf_puts(text, words[(data[i] - 0x80u) % WORDS]);
        else
            buf_puts(text, d->markers[(data[i] - 0xe0u) % markers]);
    }
}

static bool is_object(const struct buf *args)
{
    const struct json *v;
    struct arena a;
    bool is;

    arena_init(&a, 64u << 20);
    is = !json_parse(&v, &a, args->n ? args->p : "", args->n, NULL) &&
         v->type == JSON_OBJ;
    arena_release(&a);
    return is;
}

/* Do whole calls of this form always have an object? A raw block of XTML is
 * what the model wrote. */
static bool promises(const struct dialect *d, const struct buf *text)
{
    if (d == &dialect_xtml)
        return !memmem(text->p, text->n, "json", 4);
    return d != &dialect_kimi;
}

static void check(const struct dialect_run *r, const struct buf *text)
{
    BUG_ON(r->reasoning.n && !utf8_valid(r->reasoning.p, r->reasoning.n, NULL));
    BUG_ON(r->content.n && !utf8_valid(r->content.p, r->content.n, NULL));
    for (size_t i = 0; i < r->calls.n; i++) {
        const struct tool_call *c = r->calls.p[i];

        BUG_ON(!utf8_valid(c->name, strlen(c->name), NULL));
        BUG_ON(c->args.n && !utf8_valid(c->args.p, c->args.n, NULL));
        if (c->whole && !c->dropped && !c->withdrawn &&
            promises(r->t->d, text))
            BUG_ON(!is_object(&c->args));
    }
}

static char *run(const struct dialect_t *t, const struct buf *text, size_t cut)
{
    struct dialect_run *r = mem_new(struct dialect_run);
    char *shown;

    dialect_run_open(r, t);
    dialect_run_feed(r, text->p, cut);
    dialect_run_feed(r, text->p + cut, text->n - cut);
    dialect_run_end(r);
    check(r, text);
    shown = dialect_run_shown(r);
    dialect_run_close(r);
    free(r);
    return shown;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct dialect_t t = {0};
    struct buf text;
    char *whole, *cut;
    size_t at;

    if (!tools)
        make_tools();
    if (n < 3)
        return 0;
    t.d = dialects[data[0] % 8u];
    t.tools = data[0] & 0x80 ? NULL : data[0] & 0x40 ? forced : tools;
    t.think_open = data[1] & 1;
    t.cut = data[1] & 2;
    t.limit = data[1] & 4 ? 1 : 0;
    buf_init(&text, 1u << 22);
    buf_puts(&text, "");
    spell(&text, t.d, data + 2, n - 2);
    at = text.n ? (size_t)(data[1] >> 3) * text.n / 32 : 0;
    while (at < text.n && ((unsigned char)text.p[at] & 0xc0) == 0x80)
        at++;
    whole = run(&t, &text, 0);
    cut = run(&t, &text, at);
    BUG_ON(strcmp(whole, cut) != 0);
    free(whole);
    free(cut);
    buf_release(&text);
    return 0;
}
