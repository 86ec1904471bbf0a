/*
 * Strict schemas, with OpenAI's messages. Oracles: spec horde.md TO-07 and
 * TO-10; the forms of `required`, of indexes and of extra keys as public
 * reports quote the API (vercel/ai issue 6484, and others like it).
 */
#include "gram/schema.h"
#include "t/lib/tap.h"
#include <stdlib.h>

#define CLOSED "\"additionalProperties\":false"
#define RF "Invalid schema for response_format 'colour': In context="
#define EXTRA                                                                  \
    "'additionalProperties' is required to be supplied and to be false."
#define NEEDED                                                                 \
    "'required' is required to be supplied and to be an array including "      \
    "every key in properties. "

static const struct {
    const char *schema, *message; /* "": it is fine */
} tests[] = {
    {"{\"type\":\"object\"}", RF "(), " EXTRA},
    {"{\"type\":\"object\",\"additionalProperties\":{}}", RF "(), " EXTRA},
    {"{\"type\":\"object\",\"additionalProperties\":true}", RF "(), " EXTRA},
    {"{\"type\":\"object\"," CLOSED "}", ""},
    {"{\"type\":[\"object\",\"null\"]}", RF "(), " EXTRA},
    {"{\"properties\":{}}", RF "(), " EXTRA},
    {"{\"type\":\"string\",\"minLength\":3}", ""},
    {"true", ""},
    {"{\"type\":\"object\"," CLOSED ",\"properties\":{\"shade\":{\"type\":"
     "\"object\"}},\"required\":[\"shade\"]}",
     RF "('properties', 'shade'), " EXTRA},
    {"{\"type\":\"object\"," CLOSED ",\"properties\":{\"a\":{},\"b\":{}},"
     "\"required\":[\"a\"]}", RF "(), " NEEDED "Missing 'b'."},
    {"{\"type\":\"object\"," CLOSED ",\"properties\":{\"a\":{}}}",
     RF "(), " NEEDED "Missing 'a'."},
    {"{\"type\":\"object\"," CLOSED ",\"properties\":{\"a\":{}},"
     "\"required\":[\"a\",\"x\"]}",
     RF "(), " NEEDED "Extra required key 'x' supplied."},
    {"{\"type\":\"object\"," CLOSED ",\"properties\":{\"b\":{},\"a\":{}},"
     "\"required\":[\"a\",\"b\"]}", ""},
    {"{\"type\":\"array\",\"items\":{\"type\":\"object\"}}",
     RF "('items',), " EXTRA},
    {"{\"anyOf\":[{\"type\":\"object\"}]}", RF "('anyOf', '0'), " EXTRA},
    {"{\"allOf\":[{},{\"type\":\"object\"}]}", RF "('allOf', '1'), " EXTRA},
    {"{\"oneOf\":[{\"type\":\"object\"}]}", RF "('oneOf', '0'), " EXTRA},
    {"{\"prefixItems\":[{\"type\":\"object\"}]}",
     RF "('prefixItems', '0'), " EXTRA},
    {"{\"$defs\":{\"p\":{\"type\":\"object\"}}}",
     RF "('$defs', 'p'), " EXTRA},
    {"{\"definitions\":{\"p\":{\"type\":\"object\"}}}",
     RF "('definitions', 'p'), " EXTRA},
    {"{\"type\":\"array\",\"items\":{\"type\":\"object\"," CLOSED ","
     "\"properties\":{\"roles\":{}}}}",
     RF "('items',), " NEEDED "Missing 'roles'."},
    /* where no schema is */
    {"{\"const\":{\"type\":\"object\"},\"default\":{\"type\":\"object\"},"
     "\"enum\":[{\"type\":\"object\"}],\"examples\":[{\"type\":\"object\"}]}",
     ""},
    {"{\"type\":\"object\"," CLOSED ",\"properties\":{\"type\":{\"type\":"
     "\"string\"}},\"required\":[\"type\"]}", ""},
    /* names as Python writes them */
    {"{\"$defs\":{\"it's\":{\"type\":\"object\"}}}",
     RF "('$defs', \"it's\"), " EXTRA},
    {"{\"$defs\":{\"a\\n\\\\\":{\"type\":\"object\"}}}",
     RF "('$defs', 'a\\x0a\\\\'), " EXTRA},
};

static void check(const char *schema, const char *what, const char *message)
{
    const struct json *v;
    struct err e = {0};
    struct arena a;
    enum st st;

    arena_init(&a, 1u << 20);
    if (ok(!json_parse(&v, &a, schema, strlen(schema), &e), "%.60s is JSON",
           schema)) {
        st = schema_strict(v, what, &e);
        is_str(e.text, message, "and it is judged");
        is_int(st, message[0] ? ST_INVALID : ST_OK, "with this status");
    }
    arena_release(&a);
}

/* Deep, and with long names: the end of the message is still there. */
static void check_deep(void)
{
    char schema[20000], name[200];
    size_t i, n = 0, n0;
    const struct json *v;
    struct err e = {0};
    struct arena a;

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    for (i = 0; i < 40; i++)
        n += (size_t)snprintf(schema + n, sizeof schema - n,
                              "{\"properties\":{\"%s\":", name);
    n0 = n;
    n += (size_t)snprintf(schema + n, sizeof schema - n, "{}");
    for (i = 0; i < 40; i++)
        n += (size_t)snprintf(
            schema + n, sizeof schema - n,
            "}," CLOSED ",\"type\":\"%s\",\"required\":[%s%s%s]}",
            i ? "object" : "array", i ? "\"" : "", i ? name : "",
            i ? "\"" : "");
    arena_init(&a, 1u << 20);
    if (ok(!json_parse(&v, &a, schema, n, &e), "a deep schema: %s", e.text)) {
        is_int(schema_strict(v, "function 'f'", &e), ST_OK,
               "an array of no properties is fine");
        schema[38 * (n0 / 40) + strlen("{\"properties\":{\"nn")] = 'm';
    }
    if (ok(!json_parse(&v, &a, schema, n, &e), "one name is another")) {
        is_int(schema_strict(v, "function 'f'", &e), ST_INVALID, "%.60s",
               e.text);
        ok(strstr(e.text, "Missing 'nnm") && strstr(e.text, "...'."),
           "the message has its end");
    }
    arena_release(&a);
}

/* A name in a message has at most 60 characters, whole ones. */
static void test_names(void)
{
    char schema[300], name[200] = "", want[220];
    struct err e = {0};
    struct arena a;
    const struct json *v;

    for (int n = 59; n <= 62; n++) {
        size_t at = 0;

        for (int i = 0; i < n; i++)
            at += (size_t)snprintf(name + at, sizeof name - at, "%s",
                                   i % 2 ? "\xc3\xa9" : "x");
        snprintf(schema, sizeof schema,
                 "{\"type\":\"object\",\"additionalProperties\":false,"
                 "\"properties\":{\"%s\":{}}}", name);
        name[n > 60 ? 90 : strlen(name)] = 0;
        snprintf(want, sizeof want, "Missing '%s%s'.", name,
                 n > 60 ? "..." : "");
        arena_init(&a, 1u << 20);
        if (ok(!json_parse(&v, &a, schema, strlen(schema), &e), "%d", n)) {
            is_int(schema_strict(v, "function 'f'", &e), ST_INVALID,
                   "%d characters", n);
            ok(strstr(e.text, want), "are quoted: %s", e.text);
        }
        arena_release(&a);
    }
}

int main(void)
{
    size_t i;

    for (i = 0; i < sizeof tests / sizeof *tests; i++)
        check(tests[i].schema, "response_format 'colour'", tests[i].message);
    check("{\"type\":\"object\"}", "function 'get_weather'",
          "Invalid schema for function 'get_weather': In context=(), " EXTRA);
    check_deep();
    test_names();
    return done();
}
