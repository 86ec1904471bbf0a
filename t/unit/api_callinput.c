/*
 * The text of a custom tool's call out of its arguments: as RFC 8259 reads a
 * string (yajl is the judge where the arguments are JSON), the rows of
 * api/callinput.h where they are not, and the same however they are cut.
 */
#include "api/callinput.h"
#include "base/utf8.h"
#include "chat/jsontext.h"
#include "json/read.h"
#include "t/lib/tap.h"

/* Read in pieces: the first ends at `cut`, the next are `step` long. */
static void read_cut(struct text args, size_t cut, size_t step, bool over,
                     struct buf *out)
{
    struct call_input c = {0};

    buf_clear(out);
    for (size_t n = cut; n < args.n; n += step)
        call_input_read(&c, (struct text){args.s, n}, false, out);
    call_input_read(&c, args, over, out);
    buf_puts(out, "");
}

/* Every way to cut it in two, and byte by byte. */
static bool always(struct text args, struct text want)
{
    struct buf out;
    bool good = true;

    buf_init(&out, 1 << 20);
    for (size_t cut = 0; cut <= args.n && good; cut++) {
        read_cut(args, cut, args.n + 1, true, &out);
        good = text_same(buf_text(&out), want);
    }
    if (good) {
        read_cut(args, 0, 1, true, &out);
        good = text_same(buf_text(&out), want);
    }
    if (!good)
        printf("# got '%s'\n", out.n ? out.p : "");
    buf_release(&out);
    return good;
}

#define BAD "\xef\xbf\xbd"

static void rows(void)
{
    static const char *const list[][2] = {
        {"{\"input\": \"a b\"}", "a b"},
        {"{\"input\":\"\"}", ""},
        {" {\n \"input\" :\t\"x\" , \"more\": 1}", "x"},
        {"{\"input\":\"a\\n\\t\\\"\\\\\\/\\b\\f\\r\"}", "a\n\t\"\\/\b\f\r"},
        {"{\"input\":\"\\u00e9\\u6F22\\ud83d\\ude00\"}",
         "\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80"},
        {"{\"input\":\"\xf0\x9f\x98\x80\xc3\xa9\"}", "\xf0\x9f\x98\x80\xc3\xa9"},
        {"{\"input\":\"line\nbreak\"}", "line\nbreak"},
        /* no pairs */
        {"{\"input\":\"\\ud83dx\"}", BAD "x"},
        {"{\"input\":\"\\ud83d\\n\"}", BAD "\n"},
        {"{\"input\":\"\\ud83d\\u0041\"}", BAD "A"},
        {"{\"input\":\"\\ud83d\\ud83d\\ude00\"}", BAD "\xf0\x9f\x98\x80"},
        {"{\"input\":\"\\ude00\\ud83d\"}", BAD BAD},
        {"{\"input\":\"\\udc00\\udc00\"}", BAD BAD},
        {"{\"input\":\"\\ud83dxude00\"}", BAD "xude00"},
        /* no escapes */
        {"{\"input\":\"\\d+\\q\\\"}\"}", "\\d+\\q\"}"},
        {"{\"input\":\"\\u12g4\\u\"}", "\\u12g4\\u"},
        {"{\"input\":\"\\ud83d\\u12\"}", BAD "\\u12"},
        /* cut off */
        {"{\"input\": \"a", "a"}, {"{\"input\": \"a\\", "a"},
        {"{\"input\": \"a\\u00e", "a"}, {"{\"input\": \"a\\ud83d", "a"},
        {"{\"input\": \"a\\ud83d\\ude0", "a"},
        {"{\"input\": \"a\xf0\x9f", "a"}, {"{\"input\": \"", ""},
        /* none of the form */
        {"", ""}, {"{}", ""}, {" { } ", ""}, {"{", "{"}, {"{\"inp", "{\"inp"},
        {"{\"input\"", "{\"input\""}, {"{\"input\": ", "{\"input\": "},
        {"{\"input\": 5}", "{\"input\": 5}"},
        {"{\"input\": {\"a\": 1}}", "{\"input\": {\"a\": 1}}"},
        {"{\"inputs\": \"a\"}", "{\"inputs\": \"a\"}"},
        {"{\"patch\": \"\\n\"}", "{\"patch\": \"\\n\"}"},
        {"{\"a\": 1, \"input\": \"b\"}", "{\"a\": 1, \"input\": \"b\"}"},
        {"[\"input\"]", "[\"input\"]"}, {"plain \xc3\xa9", "plain \xc3\xa9"},
        {"plain \xc3", "plain "}, {"\"input\"", "\"input\""},
    };

    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        ok(always((struct text){list[i][0], strlen(list[i][0])},
                  (struct text){list[i][1], strlen(list[i][1])}),
           "%s", list[i][0]);
    ok(always((struct text){"{\"input\":\"a\\u0000\0b\"}", 22},
              (struct text){"a\0\0b", 4}), "NUL is a character");
    ok(always((struct text){"{\"input\":\"a\\\0b\"}", 15},
              (struct text){"a\\\0b", 4}), "and not what escapes end with");
}

/* What is clear is told before the end. */
static void early(void)
{
    static const char *const list[][2] = {
        {"{\"input\": \"a", "a"}, {"{\"inp", ""}, {"{\"x", "{\"x"},
        {"plain", "plain"}, {"[1", "[1"}, {"{\"input\": 5", "{\"input\": 5"},
        {"{\"input\": \"a\\ud83d", "a"}, {"", ""},
    };
    struct buf out;

    buf_init(&out, 1 << 20);
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        read_cut((struct text){list[i][0], strlen(list[i][0])}, 0, 1, false,
                 &out);
        is_str(out.p, list[i][1], "early: %s", list[i][0]);
    }
    buf_release(&out);
}

static uint32_t draw(uint32_t *seed, uint32_t n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % n;
}

static void random_text(uint32_t *seed, struct buf *out)
{
    static const uint32_t tops[] = {0x20, 0x80, 0x800, 0xd800, 0x110000};
    uint32_t n = draw(seed, 24);
    char s[4];

    for (uint32_t i = 0; i < n; i++) {
        uint32_t cp = draw(seed, tops[draw(seed, 5)]);

        if (cp >= 0xd800 && cp < 0xe000)
            cp = '"';
        buf_add(out, s, utf8_encode(cp, s));
    }
}

/* Every character as \u. */
static void escaped(struct text t, struct buf *out)
{
    buf_putc(out, '"');
    for (size_t i = 0; i < t.n;) {
        uint32_t cp = 0;

        i += utf8_decode(t.s + i, t.n - i, &cp);
        if (cp > 0xffff)
            buf_printf(out, "\\u%04X\\u%04x", 0xd800 + ((cp - 0x10000) >> 10),
                       0xdc00 + ((cp - 0x10000) & 0x3ff));
        else
            buf_printf(out, "\\u%04x", cp);
    }
    buf_putc(out, '"');
}

static bool is_read(struct text text, bool escapes)
{
    const struct json *v;
    struct arena a;
    struct buf args;
    bool good;

    arena_init(&a, 1 << 20);
    buf_init(&args, 1 << 16);
    buf_puts(&args, "{\"input\": ");
    if (escapes)
        escaped(text, &args);
    else
        jsontext_string(&args, text.s, text.n, JT_COMPACT);
    buf_putc(&args, '}');
    good = !json_parse(&v, &a, args.p, args.n, NULL) &&
           text_same(json_get(v, "input")->str, text) &&
           always(buf_text(&args), text);
    arena_release(&a);
    buf_release(&args);
    return good;
}

static void judged(void)
{
    uint32_t seed = 8;
    struct buf text;
    int bad = 0;

    buf_init(&text, 1 << 16);
    buf_puts(&text, "");
    for (int i = 0; i < 400; i++) {
        buf_clear(&text);
        random_text(&seed, &text);
        bad += !is_read(buf_text(&text), i % 2);
    }
    is_int(bad, 0, "random texts are read as yajl reads them");
    buf_release(&text);
}

int main(void)
{
    rows();
    early();
    judged();
    return done();
}
