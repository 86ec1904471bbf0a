#include "gram/forms.h"
#include "gram/regex.h"
#include <stdlib.h>

/* The rule of a whole answer; the failures of the workshop are this call's. */
static enum st whole(int *rule, struct gxs *w, const struct gx *x,
                     struct err *e)
{
    *rule = gx_rule(w);
    if (*rule >= 0)
        gx_rule_set(w, *rule, x, 0, GX_MANY);
    if (w->err.st)
        return err_set(e, w->err.st, w->err.where, "%s", w->err.text);
    return ST_OK;
}

enum st form_json(int *rule, struct gxs *w, const struct json *schema,
                  struct err *e)
{
    const struct gx *of[3];
    int value;
    enum st st;

    *rule = -1;
    if (schema) {
        st = schema_rule(&value, w, schema, schema, e);
        if (st)
            return st;
    } else {
        value = schema_any_object(w);
    }
    of[0] = gx_space(w);
    of[1] = gx_call(w, value, false);
    of[2] = of[0];
    return whole(rule, w, gx_seqn(w, of, 3), e);
}

enum st form_regex(int *rule, struct gxs *w, struct text pattern,
                   struct err *e)
{
    const struct gx *x;
    enum st st;

    *rule = -1;
    st = regex_parse(&x, w, pattern, REGEX_WHOLE, GX_RAW, e);
    return st ? st : whole(rule, w, x, e);
}

enum st form_choice(int *rule, struct gxs *w, const struct text *of, size_t n,
                    struct err *e)
{
    const struct gx **ways = mem_try_array(n, sizeof(*ways)), *x;

    *rule = -1;
    if (!ways)
        return err_set(e, ST_NOMEM, "", "no memory for %zu choices", n);
    for (size_t i = 0; i < n; i++)
        ways[i] = gx_bytes(w, of[i].s, of[i].n);
    x = gx_altn(w, ways, n);
    free(ways);
    return whole(rule, w, x, e);
}
