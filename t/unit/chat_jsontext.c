/*
 * JSON as chat formats were trained on it: against Python's json module
 * (t/data/chat/python-*.txt, .json).
 */
#include "chat/jsontext.h"
#include "t/lib/tap.h"

static struct arena arena;

static const struct json *parse(struct text t)
{
    const struct json *v;
    struct err e = {0};

    if (json_parse(&v, &arena, t.s, t.n, &e)) {
        printf("# %s\n", e.text);
        return NULL;
    }
    return v;
}

static bool same(const struct json *v, unsigned style, const struct json *want)
{
    struct buf b;
    bool is;

    buf_init(&b, 1u << 20);
    jsontext(&b, v, style);
    is = !b.failed && b.n == want->str.n && !memcmp(b.p, want->str.s, b.n);
    if (!is)
        printf("# got  %s\n# want %s\n", b.p, want->str.s);
    buf_release(&b);
    return is;
}

static void test_styles(void)
{
    struct buf file;
    struct err e;
    const struct json *doc;

    buf_init(&file, 1u << 20);
    if (buf_read_file(&file, "t/data/chat/python-json.json", &e)) {
        ok(false, "python-json.json: %s", e.text);
        return;
    }
    doc = parse((struct text){file.p, file.n});
    for (const struct json *c = json_get(doc, "cases")->child; c;
         c = c->next) {
        const char *source = json_get(c, "json")->str.s;
        const struct json *v = parse(json_get(c, "json")->str);

        ok(v && same(v, JT_COMPACT, json_get(c, "compact")), "compact: %s",
           source);
        ok(v && same(v, JT_SPACED, json_get(c, "spaced")), "spaced: %s",
           source);
        ok(v && same(v, JT_SORTED, json_get(c, "sorted")), "sorted: %s",
           source);
        ok(v && same(v, JT_SPACED | JT_ASCII, json_get(c, "ascii")),
           "ASCII: %s", source);
    }
    buf_release(&file);
}

static void test_doubles(void)
{
    struct buf file, b;
    struct err e;
    size_t seen = 0, good = 0;

    buf_init(&file, 1u << 20);
    buf_init(&b, 4096);
    if (buf_read_file(&file, "t/data/chat/python-floats.txt", &e)) {
        ok(false, "python-floats.txt: %s", e.text);
        return;
    }
    for (char *line = file.p; *line;) {
        char *end = strchr(line, '\n');
        uint64_t bits;
        double v;

        *end = '\0';
        if (*line != '#') {
            bits = strtoull(line, NULL, 16);
            memcpy(&v, &bits, sizeof(v));
            buf_clear(&b);
            jsontext_double(&b, v);
            seen++;
            if (!strcmp(b.p, line + 17))
                good++;
            else
                printf("# got %s for %s\n", b.p, line);
        }
        line = end + 1;
    }
    ok(seen > 500 && good == seen, "%zu of %zu doubles as Python's", good,
       seen);
    buf_release(&file);
    buf_release(&b);
}

/* What Python's reader would change, and a reader of chat should not. */
static void test_numbers_kept(void)
{
    static const struct {
        const char *json, *want;
    } t[] = {
        {"1.0", "1.0"}, {"1.10", "1.10"}, {"-0", "0"}, {"1e3", "1000.0"},
        {"123456789012345678901234567890", "123456789012345678901234567890"},
        {"0.1000000000000000055511151231257827", "0.1000000000000000055511151"
                                                 "231257827"},
        {"1e400", "1e400"}, {"-1E400", "-1E400"}, {"1e-400", "0.0"},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        struct buf b;

        buf_init(&b, 4096);
        jsontext(&b, parse((struct text){t[i].json, strlen(t[i].json)}),
                 JT_COMPACT);
        is_str(b.p, t[i].want, "the number %s", t[i].json);
        buf_release(&b);
    }
}

/* Any cut between characters gives the same bytes; bad bytes are left out of
 * ASCII text. */
static void test_escape(void)
{
    static const char s[] = "a\"\\\n\x01\xc3\xa9\xf0\x9f\x98\x80z";
    struct buf whole, cut;

    for (unsigned style = 0; style <= JT_ASCII; style += JT_ASCII) {
        bool equal = true;

        buf_init(&whole, 4096);
        buf_init(&cut, 4096);
        jsontext_escape(&whole, s, sizeof(s) - 1, style);
        for (size_t at = 0; at <= 5; at++) {
            buf_clear(&cut);
            jsontext_escape(&cut, s, at, style);
            jsontext_escape(&cut, s + at, sizeof(s) - 1 - at, style);
            equal = equal && !strcmp(cut.p, whole.p);
        }
        ok(equal, "a string cut in two escapes the same, style %u", style);
        buf_release(&whole);
        buf_release(&cut);
    }
    buf_init(&whole, 4096);
    jsontext_string(&whole, "a\xff\xc3", 3, JT_ASCII);
    is_str(whole.p, "\"a\"", "bytes that are not UTF-8 are no ASCII text");
    buf_release(&whole);
}

int main(void)
{
    arena_init(&arena, 16u << 20);
    test_styles();
    test_doubles();
    test_numbers_kept();
    test_escape();
    arena_release(&arena);
    return done();
}
