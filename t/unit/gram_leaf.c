/*
 * Strings, numbers and literals of JSON Schema. What must match is in
 * t/data/gram/leaf-*.tsv, made by make-leaf.py there with exact arithmetic,
 * calendars and address parsers of Python's.
 */
#include "t/lib/gram_t.h"
#include "gram/decimal.h"
#include "gram/schema_way.h"
#include "t/lib/tap.h"
#include <stdlib.h>

struct count {
    size_t schemas, texts, wrong;
};

static void look(struct count *c, const struct grammar *g,
                 const char *schema, const char *line, size_t n)
{
    bool want = line[0] == '+';

    c->texts++;
    if ((g && gramt_accepts(g, line + 2, n - 2)) == want)
        return;
    if (c->wrong++ < 10)
        printf("# %s: %.60s... should %smatch\n#   %.100s\n", schema, line + 2,
               want ? "" : "not ", line + 2);
}

/* A schema that no text matches is refused as such: g is NULL. */
static struct grammar *open_schema(struct count *c, const char *line, size_t n)
{
    struct err e;
    struct grammar *g = gramt_schema(line + 2, n - 2, &e);

    c->schemas++;
    if (!g && !strstr(e.text, "no text")) {
        printf("# %.*s: %s\n", (int)(n - 2), line + 2, e.text);
        c->wrong++;
    }
    return g;
}

static void check_file(const char *path)
{
    struct count c = {0};
    struct grammar *g = NULL;
    char schema[400] = "";
    struct buf b;
    size_t i, n;

    buf_init(&b, BUF_FILE);
    if (!ok(!buf_read_file(&b, path, NULL), "%s can be read", path))
        return;
    for (i = 0; i < b.n; i += n + 1) {
        const char *line = b.p + i, *end = memchr(line, '\n', b.n - i);

        n = end ? (size_t)(end - line) : b.n - i;
        if (n < 2 || line[1] != '\t')
            continue;
        if (line[0] == '?') {
            gram_unref(g);
            snprintf(schema, sizeof schema, "%.*s", (int)(n - 2), line + 2);
            g = open_schema(&c, line, n);
        } else {
            look(&c, g, schema, line, n);
        }
    }
    gram_unref(g);
    buf_release(&b);
    ok(c.schemas && c.texts, "%zu schemas, %zu texts", c.schemas, c.texts);
    is_int(c.wrong, 0, "%s: all as the oracle says", path);
}

/* Values and the one way in which they are written. */
static void check_literals(void)
{
    static const struct {
        const char *value, *text;
    } t[] = {
        {"1.0", "1"}, {"-0", "0"}, {"-0.0", "0"}, {"1e2", "100"},
        {"1.50", "1.5"}, {"0.001", "0.001"}, {"1E-3", "0.001"},
        {"12.5e1", "125"}, {"12.5e-1", "1.25"}, {"100", "100"},
        {"-120e-1", "-12"}, {"0e5", "0"}, {"1e-8", "0.00000001"},
        {"1e401", "1e401"}, {"-25e500", "-2.5e501"}, {"3e-500", "3e-500"},
        {"98249283749234923498293171823948729348710298301928331",
         "98249283749234923498293171823948729348710298301928331"},
        {"0.1e1", "1"}, {"0.010e2", "1"}, {"00.1", NULL},
        {"\"\\u0041\\/\\u00e9\"", "\"A/\xc3\xa9\""},
        {"\"\\u0000\\u001F\\u0008\\n\\u007f\"",
         "\"\\u0000\\u001f\\b\\n\x7f\""},
        {"[ 1.0, true , null ]", "[1,true,null]"},
        {"{ \"b\" : [], \"a\" : {\"\\n\" : \"\\\"\"} }",
         "{\"b\":[],\"a\":{\"\\n\":\"\\\"\"}}"},
    };
    struct buf b;
    size_t i;

    buf_init(&b, 1u << 20);
    for (i = 0; i < sizeof t / sizeof *t; i++) {
        const struct json *v;
        struct arena a;

        arena_init(&a, 1u << 20);
        buf_clear(&b);
        if (!json_parse(&v, &a, t[i].value, strlen(t[i].value), NULL)) {
            schema_literal_text(v, &b);
            is_str(buf_text(&b).s, t[i].text, "%s", t[i].value);
        } else {
            ok(!t[i].text, "%s is no JSON", t[i].value);
        }
        arena_release(&a);
    }
    buf_release(&b);
}

static void refused(const char *schema, const char *message)
{
    struct err e;
    struct grammar *g = gramt_schema(schema, strlen(schema), &e);

    ok(!g, "%s is refused", schema);
    is_str(e.text, message, "and it says why");
    gram_unref(g);
}

static void check_refused(void)
{
    refused("{\"type\":\"string\",\"minLength\":-1}",
            "minLength at #: must be a whole number from 0 on, "
            "not this value");
    refused("{\"properties\":{\"a\":{\"type\":\"string\",\"maxLength\":2.5}}}",
            "maxLength at #/properties/a: must be a whole number from 0 on, "
            "not this value");
    refused("{\"type\":\"string\",\"maxLength\":\"7\"}",
            "maxLength at #: must be a whole number from 0 on, "
            "not this value");
    refused("{\"type\":\"string\",\"format\":\"idn-email\"}",
            "format at #: 'idn-email' is not supported");
    refused("{\"type\":\"string\",\"format\":7}",
            "format at #: must be a string, not a number");
    refused("{\"type\":\"string\",\"pattern\":7}",
            "pattern at #: must be a string, not a number");
    refused("{\"type\":\"integer\",\"minimum\":\"7\"}",
            "minimum at #: must be a number, not a string");
    refused("{\"type\":\"integer\",\"minimum\":1e999}",
            "minimum at #: must be a number of at most 400 digits");
    refused("{\"type\":\"integer\",\"multipleOf\":0}",
            "multipleOf at #: must be a number above 0");
    refused("{\"type\":\"integer\",\"multipleOf\":-2}",
            "multipleOf at #: must be a number above 0");
    refused("{\"type\":\"integer\",\"multipleOf\":997,\"maximum\":1e300}",
            "multipleOf at #: remainders times digits of the bounds are over "
            "60000");
    refused("{\"type\":\"number\",\"multipleOf\":0.123456789}",
            "multipleOf at #: all of one value must have at most 5000 "
            "remainders together");
}

static void accepts(const char *schema, const char *text, bool want)
{
    struct err e;
    struct grammar *g = gramt_schema(schema, strlen(schema), &e);

    if (!g)
        printf("# %s\n", e.text);
    ok(g && gramt_accepts(g, text, strlen(text)) == want, "%s: %s %s", schema,
       text, want ? "matches" : "does not match");
    gram_unref(g);
}

static void check_others(void)
{
    const char *old = "{\"type\":\"integer\",\"minimum\":3,"
                      "\"exclusiveMinimum\":true}";
    const char *two = "{\"type\":\"string\",\"pattern\":\"^a\","
                      "\"allOf\":[{\"pattern\":\"b$\"}],\"maxLength\":4}";

    accepts(old, "3", false);
    accepts(old, "4", true);
    accepts("{\"type\":\"string\",\"format\":\"password\"}", "\"x\"", true);
    accepts("{\"type\":\"integer\",\"format\":\"int32\"}", "7", true);
    accepts("{\"type\":\"integer\",\"format\":\"date\"}", "7", true);
    accepts("{\"type\":\"string\",\"maxLength\":2.0}", "\"ab\"", true);
    accepts("{\"type\":\"string\",\"maxLength\":2.0}", "\"abc\"", false);
    accepts(two, "\"ab\"", true);
    accepts(two, "\"axxb\"", true);
    accepts(two, "\"axxxb\"", false);
    accepts(two, "\"ba\"", false);
    accepts("{\"const\":{\"b\":[1.0,\"x\"],\"a\":null}}",
            "{ \"b\": [1 ,\"x\" ]\t,\"a\":null }", true);
    accepts("{\"const\":{\"b\":1,\"a\":2}}", "{\"b\":1,\"a\":3}", false);
    accepts("{\"type\":\"string\",\"format\":\"date\",\"minLength\":10}",
            "\"2024-02-29\"", true);
}

/* The examples of RFC 3986, section 5.4, without fragments. */
static void check_uris(void)
{
    static const char *const t[][2] = {
        {"g:h", "g:h"}, {"g", "http://a/b/c/g"}, {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"}, {"/g", "http://a/g"}, {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"}, {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q"}, {"g#s", "http://a/b/c/g"},
        {"g?y#s", "http://a/b/c/g?y"}, {";x", "http://a/b/c/;x"},
        {"g;x", "http://a/b/c/g;x"}, {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"}, {"./", "http://a/b/c/"},
        {"..", "http://a/b/"}, {"../", "http://a/b/"},
        {"../g", "http://a/b/g"}, {"../..", "http://a/"},
        {"../../", "http://a/"}, {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"}, {"../../../../g", "http://a/g"},
        {"/./g", "http://a/g"}, {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."}, {".g", "http://a/b/c/.g"},
        {"g..", "http://a/b/c/g.."}, {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"}, {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"}, {"g/../h", "http://a/b/c/h"},
        {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
        {"g;x=1/../y", "http://a/b/c/y"}, {"g?y/./x", "http://a/b/c/g?y/./x"},
        {"g?y/../x", "http://a/b/c/g?y/../x"}, {"http:g", "http:g"},
    };
    const struct text base = {"http://a/b/c/d;p?q", 18};
    struct buf b;
    size_t i;

    buf_init(&b, BUF_MESSAGE);
    for (i = 0; i < sizeof t / sizeof *t; i++) {
        buf_clear(&b);
        schema_uri_join(base, (struct text){t[i][0], strlen(t[i][0])}, &b);
        is_str(buf_text(&b).s, t[i][1], "%s", t[i][0]);
    }
    buf_release(&b);
}

int main(void)
{
    check_file("t/data/gram/leaf-numbers.tsv");
    check_file("t/data/gram/leaf-strings.tsv");
    check_file("t/data/gram/leaf-formats.tsv");
    check_literals();
    check_uris();
    check_refused();
    check_others();
    return done();
}
