/*
 * jinja_tool NOW CONTEXTS.json TEMPLATE...: render each template with each
 * context. Not a test by itself: t/3100-jinja-templates.t and
 * t/3110-jinja-npm.t feed it.
 *
 * NOW is the time in epoch seconds; CONTEXTS.json a list of {"name", "vars"}.
 * Prints one JSON document a line, one line per template: an object with,
 * under the name of each context, {"text", "markup": [FROM, TO, ...]} (ranges
 * of bytes that the template wrote) or {"error", "where", "raised"}. A
 * template that does not compile has {"compile": error, "where"}.
 */
#include "chat/jinja.h"
#include "json/write.h"

#define OUT_MAX (256u << 20)
#define VARS_MAX 32

static void put_error(struct jw *w, const char *key, const struct err *e)
{
    jw_kstr(w, key, e->text);
    jw_kstr(w, "where", e->where);
}

static void put_text(struct jw *w, const struct jv *out)
{
    size_t n = out->u.str.n;

    jw_kstrn(w, "text", out->u.str.s, n);
    jw_key(w, "markup");
    jw_arr(w);
    for (size_t i = 0, from; i < n; i++) {
        if (!jv_markup_at(out, i))
            continue;
        for (from = i; i < n && jv_markup_at(out, i);)
            i++;
        jw_int(w, (int64_t)from);
        jw_int(w, (int64_t)i);
    }
    jw_arr_end(w);
}

/* All variables are a caller's but for the two tokens of the vocabulary. */
static enum st fill(struct jx *x, const struct json *vars,
                    struct jpair *pairs, size_t *n)
{
    enum st st = ST_OK;

    *n = 0;
    for (const struct json *v = vars->child; v && !st; v = v->next) {
        bool markup = v->key.n == 9 && (!memcmp(v->key.s, "bos_token", 9) ||
                                        !memcmp(v->key.s, "eos_token", 9));

        if (*n == VARS_MAX)
            return err_set(x->e, ST_LIMIT, "", "too many variables");
        pairs[*n].key = jv_span(v->key.s, v->key.n, true);
        st = jv_from_json(x, v, markup, &pairs[(*n)++].value);
    }
    return st;
}

static void render(struct jw *w, const struct jinja *t,
                   const struct json *vars, int64_t now_s)
{
    struct arena arena;
    struct jpair pairs[VARS_MAX];
    struct err e;
    struct jx x = { .arena = &arena, .e = &e, .name = "variables",
                    .steps_left = 1000000, .max_bytes = 1 << 20 };
    struct jinja_run run = { .arena = &arena, .vars = pairs, .now_s = now_s,
                             .max_steps = 10000000, .max_out = 1 << 24 };
    enum st st;

    arena_init(&arena, 256u << 20);
    st = fill(&x, vars, pairs, &run.n_vars);
    if (!st)
        st = jinja_render(t, &run, &e);
    jw_obj(w);
    if (st) {
        put_error(w, "error", &e);
        jw_kbool(w, "raised", run.raised);
    } else {
        put_text(w, &run.out);
    }
    jw_obj_end(w);
    arena_release(&arena);
}

static enum st one(struct buf *out, const struct json *contexts,
                   const char *path, int64_t now_s, struct err *e)
{
    struct buf source;
    struct jinja *t = NULL;
    struct jw *w;
    enum st st;

    buf_init(&source, BUF_FILE);
    st = buf_read_file(&source, path, e);
    if (st) {
        buf_release(&source);
        return st;
    }
    w = jw_new(out);
    jw_obj(w);
    if (jinja_compile(&t, source.p, source.n, "template", e)) {
        put_error(w, "compile", e);
    } else {
        for (const struct json *c = contexts->child; c; c = c->next) {
            const struct json *name = json_get(c, "name");
            const struct json *vars = json_get(c, "vars");

            if (!name || !vars)
                continue;
            jw_key(w, name->str.s);
            render(w, t, vars, now_s);
        }
    }
    jw_obj_end(w);
    if (!jw_end(w))
        st = err_set(e, ST_LIMIT, path, "the renderings are too long");
    jinja_free(t);
    buf_release(&source);
    return st;
}

int main(int argc, char **argv)
{
    struct buf text;
    struct buf out;
    struct arena arena;
    const struct json *contexts;
    struct err e;
    enum st st;

    if (argc < 4) {
        fputs("usage: jinja_tool NOW CONTEXTS.json TEMPLATE...\n", stderr);
        return 2;
    }
    arena_init(&arena, OUT_MAX);
    buf_init(&text, BUF_FILE);
    st = buf_read_file(&text, argv[2], &e);
    if (!st)
        st = json_parse(&contexts, &arena, text.p, text.n, &e);
    for (int i = 3; i < argc && !st; i++) {
        buf_init(&out, OUT_MAX);
        st = one(&out, contexts, argv[i], strtoll(argv[1], NULL, 10), &e);
        if (!st)
            printf("%s\n", out.p);
        buf_release(&out);
    }
    if (st)
        fprintf(stderr, "%s: %s\n", e.where, e.text);
    buf_release(&text);
    arena_release(&arena);
    return st ? 1 : 0;
}
