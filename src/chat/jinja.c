#include "config.h"
#include "chat/jinja_parse.h"
#include "chat/jinja_run.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* --- compile ------------------------------------------------------------- */

/* A copy with every newline as \n and without the last one, as Jinja2 reads
 * its sources. */
static enum st take_source(struct jinja *t, const char *s, size_t n,
                           struct span *out, struct err *e)
{
    char *copy;
    size_t k = 0, bad;

    if (n > JINJA_SOURCE_MAX)
        return err_set(e, ST_FORMAT, t->name, "%zu bytes; a template has at "
                       "most %u", n, JINJA_SOURCE_MAX);
    if (!utf8_valid(s, n, &bad))
        return err_set(e, ST_FORMAT, t->name, "no UTF-8 at byte %zu", bad);
    copy = arena_alloc(&t->arena, n + 1);
    if (!copy)
        return err_set(e, ST_NOMEM, t->name, "out of memory");
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\r' && i + 1 < n && s[i + 1] == '\n')
            continue;
        copy[k++] = s[i] == '\r' ? '\n' : s[i];
    }
    if (k > 0 && copy[k - 1] == '\n')
        k--;
    *out = (struct span){copy, k};
    return ST_OK;
}

enum st jinja_compile(struct jinja **out, const char *s, size_t n,
                      const char *name, struct err *e)
{
    struct jinja *t = mem_try(sizeof(*t));
    struct jparse p = {.t = t};
    struct span source = {NULL, 0};
    enum st st;

    *out = NULL;
    if (!t)
        return err_set(e, ST_NOMEM, name, "out of memory");
    arena_init(&t->arena, JINJA_AST_MAX);
    t->name = mem_dup(name);
    st = take_source(t, s, n, &source, e);
    if (!st) {
        jlex_init(&p.lex, source.s, source.n, &t->arena, t->name, e);
        st = jparse_template(&p);
    }
    if (!st) {
        *out = t;
        t = NULL; /* handed to the caller */
    }
    jinja_free(t);
    return st;
}

void jinja_free(struct jinja *t)
{
    if (!t)
        return;
    arena_release(&t->arena);
    free(t->name);
    free(t);
}

bool jinja_mentions(const struct jinja *t, const char *text)
{
    size_t n = strlen(text);

    for (const struct jliteral *l = t->literals; l; l = l->next)
        if (memmem(l->s.s, l->s.n, text, n))
            return true;
    return false;
}

bool jinja_reads(const struct jinja *t, const char *name)
{
    const struct jname *k = jinja_name(t, name, strlen(name));

    return k && k->free;
}

/* --- render -------------------------------------------------------------- */

/* Variables that the template never names are left out. */
static enum st set_vars(struct jev *v, const struct jinja_run *run)
{
    enum st st = ST_OK;

    for (size_t i = 0; i < run->n_vars && !st; i++) {
        const struct jv *key = &run->vars[i].key;
        const struct jname *name =
            key->type == JV_STR
                ? jinja_name(v->t, key->u.str.s, key->u.str.n)
                : NULL;

        st = jx_pay(&v->x, 1);
        if (!st && name)
            st = jscope_set(v, v->scope, name, run->vars[i].value);
    }
    return st;
}

enum st jinja_render(const struct jinja *t, struct jinja_run *run,
                     struct err *e)
{
    struct jev v = {
        .x = {
            .arena = run->arena, .e = e, .name = t->name, .line = 1,
            .steps_left = run->max_steps, .max_bytes = run->max_out,
            .now_s = run->now_s,
        },
        .t = t,
    };
    struct jbuild out;
    enum st st = ST_OK;

    jbuild_init(&out, &v.x);
    v.out = &out;
    v.scope = jscope_new(&v, NULL);
    if (!v.scope)
        st = jx_full(&v.x);
    if (!st)
        st = set_vars(&v, run);
    if (!st)
        st = jexec(&v, t->body);
    run->out = st ? jv_undef() : jbuild_done(&out);
    if (!st && run->out.type != JV_STR)
        st = jx_full(&v.x);
    run->raised = v.x.raised;
    run->steps = run->max_steps - v.x.steps_left;
    return st;
}
