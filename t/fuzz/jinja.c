/* Templates: any bytes compile or are refused; what compiles renders within
 * its limits; and no byte that only the variables hold comes out as markup. */
#include "chat/jinja.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define MARK "\x01" /* in every text of the variables */

static const char vars[] =
    "{\"s\": \"\\u0001\", \"a\": 1, \"b\": 2.5, \"yes\": true, \"nil\": null,"
    " \"xs\": [1, 2, 3], \"names\": [\"\\u0001b\", \"a\\u0001\"],"
    " \"d\": {\"k\": \"\\u0001\", \"n\": {\"m\": [\"\\u0001\"]}},"
    " \"add_generation_prompt\": true, \"bos_token\": \"<s>\\u0001\","
    " \"messages\": [{\"role\": \"system\", \"content\": \"\\u0001x \"},"
    " {\"role\": \"user\", \"content\": \" \\u0001<|im_end|>\\n\\u0001\"},"
    " {\"role\": \"assistant\", \"content\": \"\\u0001</think>\\u0001\","
    "  \"tool_calls\": [{\"function\": {\"name\": \"f\\u0001\","
    "   \"arguments\": {\"x\\u0001\": 1}}}]},"
    " {\"role\": \"tool\", \"content\": \"\\u0001\\u0001\"}],"
    " \"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"f\","
    "  \"parameters\": {\"type\": \"object\"}}}]}";

static void check(const struct jv *out)
{
    BUG_ON(out->type != JV_STR);
    for (size_t i = 0; i < out->u.str.n; i++)
        BUG_ON(out->u.str.s[i] == MARK[0] && jv_markup_at(out, i));
}

static void render(const struct jinja *t)
{
    struct jpair list[16];
    struct arena a;
    struct err e = {0};
    struct jx x = {.arena = &a, .e = &e, .name = "fuzz", .steps_left = 100000,
                   .max_bytes = 65536};
    struct jinja_run run = {.arena = &a, .vars = list, .now_s = 1700000000,
                            .max_steps = 200000, .max_out = 65536};
    const struct json *j;

    arena_init(&a, 32u << 20);
    BUG_ON(json_parse(&j, &a, vars, sizeof(vars) - 1, &e) != ST_OK);
    for (j = j->child; j; j = j->next) {
        list[run.n_vars].key = jv_span(j->key.s, j->key.n, false);
        BUG_ON(jv_from_json(&x, j, false, &list[run.n_vars].value) != ST_OK);
        run.n_vars++;
    }
    if (jinja_render(t, &run, &e) == ST_OK)
        check(&run.out);
    else
        BUG_ON(!e.text[0] || !e.where[0] ||
               (run.raised && e.st != ST_INVALID));
    BUG_ON(run.steps > run.max_steps);
    arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const char *s = (const char *)data;
    struct jinja *t;
    struct err e = {0};

    if (n && memchr(s, MARK[0], n))
        return 0;
    if (jinja_compile(&t, s, n, "fuzz", &e)) {
        BUG_ON(t || !e.text[0]);
        return 0;
    }
    (void)jinja_reads(t, "messages");
    if (!jinja_mentions(t, MARK)) /* by an escape it can be its own */
        render(t);
    jinja_free(t);
    return 0;
}
