/* Any bytes as a JSON Schema, or behind a byte 1 as what a schema is made of:
 * it compiles or is refused with words, and all that it writes is JSON. */
#include "gram/forms.h"
#include "t/lib/gram_walk.h"
#include "t/lib/schema_make.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void ends(const struct buf *text)
{
    const struct json *v;
    struct arena a;
    enum st st;

    arena_init(&a, 1u << 20);
    st = json_parse(&v, &a, text->p ? text->p : "", text->n, NULL);
    BUG_ON(st && st != ST_LIMIT);
    arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const struct json *schema;
    struct grammar *g = NULL;
    struct err e = {0};
    struct arena a;
    struct gxs w;
    struct buf b, made;
    enum st st;
    int rule;

    arena_init(&a, 16u << 20);
    gxs_init(&w);
    buf_init(&made, 1u << 20);
    if (n && data[0] == 1)
        make_document(&(struct schema_make){data + 1, n - 1, 0, &made});
    else
        buf_add(&made, (const char *)data, n);
    if (!json_parse(&schema, &a, buf_text(&made).s, made.n, NULL)) {
        st = form_json(&rule, &w, schema, &e);
        if (!st)
            st = gram_compile(&g, &w, rule, &e);
        BUG_ON(st && (e.st != st || !*e.text));
        BUG_ON(st && st != ST_INVALID && st != ST_LIMIT &&
               st != ST_UNSUPPORTED);
        st = schema_strict(schema, "function 'f'", &e);
        BUG_ON(st && st != ST_INVALID);
    }
    gxs_release(&w);
    arena_release(&a);
    buf_release(&made);
    if (g) {
        buf_init(&b, BUF_MESSAGE);
        walk(g, data, n, 120, &b, ends);
        buf_release(&b);
    }
    gram_unref(g);
    return 0;
}
