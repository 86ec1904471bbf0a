/* Buffers and arenas keep their maximum; sums and products are checked. */
#include "base/buf.h"
#include "base/num.h"

#include "t/lib/tap.h"

int main(void)
{
    static const char *const bad[] = {"", "a", "1,", ",1", "3-1", "1-", "10",
                                      "0-5", "1 2", "-1"};
    int list[5], n;
    struct buf b;
    struct arena a;
    size_t r = 7;
    int64_t i;
    uint32_t *table, bits = 0;
    double d;

    buf_init(&b, 8);
    buf_puts(&b, "12345678");
    ok(!b.failed && b.n == 8, "a buffer takes its maximum");
    buf_putc(&b, '9');
    ok(b.failed && b.n == 8, "one byte more fails and changes nothing");
    buf_drop(&b, 3);
    is_str(b.p, "45678", "drop removes the head");
    buf_release(&b);

    arena_init(&a, 100);
    ok(arena_alloc(&a, 64) != NULL, "an arena allocates");
    ok(arena_alloc(&a, 64) == NULL, "and keeps its maximum");
    ok(arena_array(&a, SIZE_MAX, 16) == NULL, "overflow is no allocation");
    arena_release(&a);

    table = mem_try_table(((size_t)5 << 20) / 4, 4);
    ok(table != NULL, "a table of more than two huge pages");
    for (size_t k = 0; table && k < ((size_t)5 << 20) / 4; k++)
        bits |= table[k];
    ok(!bits, "is zeroed");
    free(table);
    table = mem_try_table(10, 4);
    ok(table && !table[9], "so is a small one");
    free(table);
    ok(!mem_try_table(SIZE_MAX, 2) && !mem_try_table(SIZE_MAX / 4, 4),
       "and overflow is none");

    ok(!mem_add(&r, SIZE_MAX, 1) && r == 7, "a sum that overflows is refused");
    ok(!mem_mul(&r, SIZE_MAX / 2, 3) && r == 7, "so is a product");
    ok(num_parse_i64("-9223372036854775808", 20, INT64_MIN, INT64_MAX, &i) &&
           i == INT64_MIN, "the smallest int64 parses");
    ok(!num_parse_i64("9223372036854775808", 19, INT64_MIN, INT64_MAX, &i),
       "one over the largest does not");
    ok(num_parse_list("0-2,9,4-4", 9, list, 5, &n) && n == 5 &&
           list[2] == 2 && list[3] == 9 && list[4] == 4,
       "a list of numbers and ranges");
    for (size_t t = 0; t < sizeof(bad) / sizeof(bad[0]); t++)
        ok(!num_parse_list(bad[t], 9, list, 5, &n), "no list: '%s'", bad[t]);
    ok(!num_parse_i64("12x", 3, 0, 100, &i), "rubbish after a number does not");
    ok(!num_parse_double("1e400", 5, &d), "1e400 is not a double");
    ok(!num_parse_double("nan", 3, &d), "nan is not a number");
    ok(num_parse_double("-1.5e3", 6, &d) && d == -1500, "-1.5e3 is");
    return done();
}
