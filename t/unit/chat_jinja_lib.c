/*
 * Values, operators, filters, tests, methods and globals of the template
 * language, called directly.
 *
 * Expectations: t/data/chat/jinja-lib.tsv was written by Python 3 (its str,
 * list, dict and json are what templates were written against); see the head
 * of contrib/gen-jinja-lib. Provenance and limits are our own rules
 * (chat/jinja_value.h).
 */
#include "chat/jinja.h"
#include "t/lib/tap.h"

static struct arena arena;
static struct err err;
static struct jx jx;

static void fresh(void)
{
    arena_release(&arena);
    arena_init(&arena, 8 << 20);
    err = (struct err){0};
    jx = (struct jx){.arena = &arena, .e = &err, .name = "test", .line = 3,
                     .steps_left = 1000000, .max_bytes = 1 << 20};
}

int main(void)
{
    struct jv v = jv_lit("ab"), out;
    struct jargs none = {0};

    arena_init(&arena, 1);
    fresh();
    is_int(jlib_filter(&jx, "upper", 5, &v, &none, &out), ST_OK, "upper");
    ok(jv_is(&out, "AB"), "AB");
    return done();
}
