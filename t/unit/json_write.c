/* JSON writing. Oracle: RFC 8259 by hand; what is written reads back. */
#include "json/write.h"
#include "json/read.h"

#include <math.h>

#include "t/lib/tap.h"

static struct buf b;

static void test_document(void)
{
    struct jw *w = jw_new(&b);

    jw_obj(w);
    jw_kstr(w, "s", "a\"\\/\n\x01\x7f\xc3\xa9");
    jw_kstrn(w, "z", "a\0b", 3);
    jw_kint(w, "i", INT64_MIN);
    jw_knum(w, "d", 2.5, 3);
    jw_knum(w, "nan", NAN, 1);
    jw_knum(w, "inf", HUGE_VAL, 1);
    jw_knum(w, "big", 1e300, 0);
    jw_kbool(w, "t", true);
    jw_knull(w, "n");
    jw_key(w, "a");
    jw_arr(w);
    jw_bool(w, false);
    jw_null(w);
    jw_int(w, 7);
    jw_num(w, 0, 0);
    jw_str(w, "");
    jw_arr_end(w);
    jw_obj_end(w);
    ok(jw_end(w), "a document of everything");
    ok(b.n > 280 && strstr(b.p, "\"big\":1"), "a large number is whole");
    buf_clear(&b);

    w = jw_new(&b);
    jw_obj(w);
    jw_kstr(w, "s", "a\"\\/\n\x01\x7f\xc3\xa9");
    jw_kstrn(w, "z", "a\0b", 3);
    jw_kint(w, "i", INT64_MIN);
    jw_knum(w, "d", 2.5, 3);
    jw_knum(w, "nan", NAN, 1);
    jw_obj_end(w);
    ok(jw_end(w), "a smaller one");
    is_str(b.p,
           "{\"s\":\"a\\\"\\\\/\\n\\u0001\x7f\xc3\xa9\",\"z\":\"a\\u0000b\","
           "\"i\":-9223372036854775808,\"d\":2.500,\"nan\":null}",
           "byte for byte");
}

/* The C library writes the same. */
static void test_integers(void)
{
    static const int64_t values[] = {
        0, 1, 9, 10, 99, 100, 255, 1000000007, -1, -10, INT64_MAX,
        INT64_MIN, INT64_MIN + 1,
    };
    char want[32];

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct jw *w;

        buf_clear(&b);
        w = jw_new(&b);
        jw_int(w, values[i]);
        ok(jw_end(w), "a number alone");
        snprintf(want, sizeof(want), "%lld", (long long)values[i]);
        is_str(b.p, want, "digit for digit");
    }
}

static void test_round(void)
{
    const struct json *v;
    struct arena a;
    struct jw *w;
    char s[256];

    for (int i = 0; i < 128; i++)
        s[i] = (char)i;
    buf_clear(&b);
    w = jw_new(&b);
    jw_strn(w, s, 128);
    ok(jw_end(w), "all of ASCII is written");
    arena_init(&a, 1 << 20);
    ok(json_parse(&v, &a, b.p, b.n, NULL) == ST_OK && v->str.n == 128 &&
           !memcmp(v->str.s, s, 128),
       "and reads back");
    arena_release(&a);
}

static void test_refusals(void)
{
    struct buf small;
    struct jw *w;

    buf_clear(&b);
    w = jw_new(&b);
    jw_str(w, "\xff");
    ok(!jw_end(w), "invalid UTF-8 fails the document");
    buf_clear(&b);
    w = jw_new(&b);
    jw_arr(w);
    ok(!jw_end(w), "an open array is not a document");
    buf_clear(&b);
    w = jw_new(&b);
    jw_obj(w);
    jw_int(w, 1);
    jw_obj_end(w);
    ok(!jw_end(w), "a member needs a key");
    for (int levels = 127; levels <= 200; levels += 73) {
        buf_clear(&b);
        w = jw_new(&b);
        for (int i = 0; i < levels; i++)
            jw_arr(w);
        for (int i = 0; i < levels; i++)
            jw_arr_end(w);
        ok(jw_end(w) == (levels == 127), "%d levels", levels);
    }
    buf_init(&small, 10);
    w = jw_new(&small);
    jw_str(w, "more than ten bytes");
    ok(!jw_end(w), "a full buffer shows at the end");
    buf_release(&small);
}

int main(void)
{
    buf_init(&b, 1 << 20);
    test_document();
    test_integers();
    test_round();
    test_refusals();
    buf_release(&b);
    return done();
}
