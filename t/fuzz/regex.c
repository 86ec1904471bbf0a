/* Any bytes as a regular expression: it compiles or is refused with words, and
 * all that it writes is UTF-8. The first byte says how it is read. */
#include "base/utf8.h"
#include "gram/regex.h"
#include "t/lib/gram_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void ends(const struct buf *text)
{
    BUG_ON(text->n && !utf8_valid(text->p, text->n, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct grammar *g = NULL;
    const struct gx *x;
    struct err e = {0};
    struct text p;
    struct gxs w;
    struct buf b;
    enum st st;
    int rule;

    if (!n)
        return 0;
    p = (struct text){(const char *)data + 1, n - 1};
    gxs_init(&w);
    st = regex_parse(&x, &w, p, data[0] & 1 ? REGEX_SEARCH : REGEX_WHOLE,
                     data[0] & 2 ? GX_JSON : GX_RAW, &e);
    if (!st) {
        rule = gx_rule(&w);
        gx_rule_set(&w, rule, x, 0, GX_MANY);
        st = gram_compile(&g, &w, rule, &e);
    }
    BUG_ON(st && (e.st != st || !*e.text));
    BUG_ON(st && st != ST_INVALID && st != ST_LIMIT);
    gxs_release(&w);
    if (!st) {
        buf_init(&b, BUF_MESSAGE);
        walk(g, data, n, 60, &b, ends);
        buf_release(&b);
    }
    gram_unref(g);
    return 0;
}
