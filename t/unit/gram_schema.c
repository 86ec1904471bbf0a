/*
 * JSON Schema to grammars: texts that a schema allows and texts that it does
 * not, one byte at a time; what is refused says where and why.
 * Oracle: t/data/gram/schema.json names it. Cases C27, C28 (cases.md), check
 * 45 (spec tandem.md), decision 0007.
 */
#include "base/buf.h"
#include "gram/forms.h"
#include "gram/machine.h"

#include "t/lib/tap.h"

/* The grammar of an answer; NULL: e says why not. */
static struct grammar *compiled(const struct json *schema, struct err *e)
{
    struct grammar *g = NULL;
    struct gxs w;
    int rule = -1;
    enum st st;

    gxs_init(&w);
    st = form_json(&rule, &w, schema, e);
    if (!st)
        st = gram_compile(&g, &w, rule, e);
    gxs_release(&w);
    return st ? NULL : g;
}

static bool allows(const struct grammar *g, struct text t)
{
    struct gram_place p;

    gram_begin(g, &p);
    for (size_t i = 0; i < t.n; i++)
        if (!gram_bytes(g, &p, t.s + i, 1))
            return false;
    return gram_ends(g, &p);
}

static void try_texts(const struct grammar *g, const struct json *c,
                      const char *list, bool want)
{
    const char *name = json_get(c, "name")->str.s;
    const struct json *t = json_get(c, list)->child;

    for (; t; t = t->next)
        if (allows(g, t->str) != want)
            ok(false, "%s: %s is %s", name, t->str.s,
               want ? "allowed" : "not allowed");
}

static void try_case(const struct json *c)
{
    const struct json *refused = json_get(c, "refused");
    const char *name = json_get(c, "name")->str.s;
    struct err e = {.st = ST_OK};
    struct grammar *g = compiled(json_get(c, "schema"), &e);

    if (refused->type == JSON_STR) {
        if (!ok(!g && strstr(e.text, refused->str.s), "%s: refused, %s", name,
                refused->str.s))
            printf("# got %s '%s'\n", st_name(e.st), e.text);
        gram_unref(g);
        return;
    }
    if (!ok(g, "%s", name)) {
        printf("# got %s '%s'\n", st_name(e.st), e.text);
        return;
    }
    try_texts(g, c, "yes", true);
    try_texts(g, c, "no", false);
    try_texts(g, c, "ours", true);
    try_texts(g, c, "not_ours", false);
    gram_unref(g);
}

int main(void)
{
    struct arena a;
    struct buf b;
    const struct json *data = NULL;
    struct err e = {.st = ST_OK};

    arena_init(&a, 64u << 20);
    buf_init(&b, BUF_FILE);
    if (buf_read_file(&b, "t/data/gram/schema.json", &e) ||
        json_parse(&data, &a, b.p, b.n, &e)) {
        ok(false, "t/data/gram/schema.json: %s", e.text);
        return done();
    }
    for (const struct json *c = json_get(data, "cases")->child; c; c = c->next)
        try_case(c);
    buf_release(&b);
    arena_release(&a);
    return done();
}
