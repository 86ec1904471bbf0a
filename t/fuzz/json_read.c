/* Any bytes: json_parse returns, and what it accepts it can write again. */
#include "json/read.h"
#include "json/write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void write_scalar(struct jw *w, const struct json *v)
{
    switch (v->type) {
    case JSON_STR:
        jw_strn(w, v->str.s, v->str.n);
        break;
    case JSON_NUM:
        jw_num(w, v->d, 3);
        break;
    case JSON_BOOL:
        jw_bool(w, v->boolean);
        break;
    default:
        jw_null(w);
    }
}

/* Depth is capped by the parser, so this may recurse. */
static void write_value(struct jw *w, const struct json *v)
{
    size_t n = 0;

    if (v->type != JSON_ARR && v->type != JSON_OBJ) {
        write_scalar(w, v);
        return;
    }
    if (v->type == JSON_ARR)
        jw_arr(w);
    else
        jw_obj(w);
    for (const struct json *c = v->child; c; c = c->next, n++) {
        if (v->type == JSON_OBJ)
            jw_strn(w, c->key.s, c->key.n);
        write_value(w, c);
    }
    BUG_ON(n != v->n);
    if (v->type == JSON_ARR)
        jw_arr_end(w);
    else
        jw_obj_end(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const struct json *v, *again;
    struct arena a;
    struct buf b;
    struct jw *w;

    arena_init(&a, 16u << 20);
    if (json_parse(&v, &a, (const char *)data, n, NULL) == ST_OK) {
        buf_init(&b, 64u << 20);
        w = jw_new(&b);
        write_value(w, v);
        BUG_ON(!jw_end(w));
        arena_release(&a);
        BUG_ON(json_parse(&again, &a, b.p, b.n, NULL) != ST_OK);
        buf_release(&b);
    }
    arena_release(&a);
    return 0;
}
