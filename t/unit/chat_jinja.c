/* The template language: t/data/chat/jinja_lang.json holds what Jinja2 makes
 * of each template; the rest is ours: provenance, errors, limits. */
#include "chat/jinja.h"
#include "t/lib/tap.h"

#include <pthread.h>
#include <stdlib.h>

static const char *const name = "t";

struct world {
    struct arena arena;
    struct jpair *vars;
    size_t n_vars;
};

static void world_init(struct world *w, const struct json *vars)
{
    struct err e = {0};
    struct jx x = {.e = &e, .name = name, .steps_left = 1000000,
                   .max_bytes = 1u << 20};

    arena_init(&w->arena, 64u << 20);
    x.arena = &w->arena;
    w->n_vars = 0;
    w->vars = arena_array(&w->arena, vars->n, sizeof(*w->vars));
    BUG_ON(!w->vars);
    for (const struct json *j = vars->child; j; j = j->next) {
        struct jpair *p = &w->vars[w->n_vars++];

        p->key = jv_span(j->key.s, j->key.n, true);
        BUG_ON(jv_from_json(&x, j, false, &p->value) != ST_OK);
    }
}

/* Compile and render; the text of the output or NULL. */
static enum st try_run(const struct json *vars, struct span source,
                       struct jinja_run *run, struct world *w, struct err *e)
{
    struct jinja *t = NULL;
    enum st st;

    world_init(w, vars);
    *e = (struct err){0};
    st = jinja_compile(&t, source.s, source.n, name, e);
    if (!st) {
        run->arena = &w->arena;
        run->vars = w->vars;
        run->n_vars = w->n_vars;
        if (!run->max_steps)
            run->max_steps = 200000;
        if (!run->max_out)
            run->max_out = 1u << 20;
        st = jinja_render(t, run, e);
    }
    jinja_free(t);
    return st;
}

static struct span span_of(const char *s)
{
    return (struct span){s, strlen(s)};
}

/* --- the language -------------------------------------------------------- */

static void one_case(const struct json *vars, const struct json *c)
{
    const struct json *source = json_get(c, "template");
    const struct json *want = json_get(c, "want");
    const struct json *syntax = json_get(c, "syntax");
    struct jinja_run run = {0};
    struct world w;
    struct err e;
    enum st st = try_run(vars, (struct span){source->str.s, source->str.n},
                         &run, &w, &e);
    char line[80];
    bool good;

    if (want) {
        good = !st && run.out.u.str.n == want->str.n &&
               (!want->str.n ||
                memcmp(run.out.u.str.s, want->str.s, want->str.n) == 0);
    } else {
        snprintf(line, sizeof(line), "%s line %d", name,
                 syntax ? (int)syntax->i : 0);
        good = st == ST_FORMAT && e.text[0] &&
               (!syntax || strcmp(e.where, line) == 0);
    }
    if (!good)
        printf("# %s\n# %s: %s: %s\n# got      '%.*s'\n# expected '%.*s'\n",
               source->str.s, st_name(st), e.where, e.text,
               st ? 0 : (int)run.out.u.str.n, st ? "" : run.out.u.str.s,
               want ? (int)want->str.n : 0, want ? want->str.s : "");
    ok(good, "%.60s", strchr(source->str.s, '\n') ? "(lines)" : source->str.s);
    arena_release(&w.arena);
}

static const struct json *read_cases(struct arena *a)
{
    const struct json *all = NULL;
    struct buf text;
    struct err e = {0};

    buf_init(&text, BUF_FILE);
    if (buf_read_file(&text, "t/data/chat/jinja_lang.json", &e) ||
        json_parse(&all, a, text.p, text.n, &e))
        printf("Bail out! %s: %s\n", e.where, e.text);
    buf_release(&text);
    return all;
}

/* --- provenance ---------------------------------------------------------- */

/* m markup, t text */
static void provenance(const struct json *vars)
{
    static const struct {
        const char *source, *out, *map;
    } cases[] = {
        {"<{{ s }}>", "<text>", "mttttm"},
        {"{{ 'x' + s + 'y' }}", "xtexty", "mttttm"},
        {"{{ '<|image_' ~ loop ~ '|>' }}", "<|image_|>", "mmmmmmmmmm"},
        {"{% for i in xs %}{{ '<' ~ loop.index ~ i ~ '>' }}{% endfor %}",
         "<11><22><33>", "mmtmmmtmmmtm"},
        {"{% set x %}a{{ s }}b{% endset %}{{ x }}", "atextb", "mttttm"},
        {"{% set x | upper %}a{{ s }}b{% endset %}{{ x }}", "ATEXTB",
         "mttttm"},
        {"{% macro m(v) %}[{{ v }}{{ 'k' }}]{% endmacro %}{{ m(s) }}",
         "[textk]", "mttttmm"},
        {"{% macro m() %}<{{ caller() }}>{% endmacro %}"
         "{% call m() %}a{{ s }}{% endcall %}", "<atext>", "mmttttm"},
        {"{% filter upper %}a{{ s }}{% endfilter %}", "ATEXT", "mtttt"},
        {"{{ s if yes else 'no' }}{{ 'yes' if yes else s }}", "textyes",
         "ttttmmm"},
        {"{{ 1 + 2 }}{{ a + 2 }}", "33", "mt"},
        {"{{ ('<' ~ s ~ '>')[1:-1] }}", "text", "tttt"},
        {"{{ ('<' ~ s ~ '>')[:3] }}", "<te", "mtt"},
        {"{{ s or 'x' }}{{ zz or 'x' }}", "textx", "ttttm"},
        {"{{ 'a' 'b' }}{{ true }}{{ none }}", "abTrueNone", "mmmmmmmmmm"},
        {"{% set ns = namespace(v='q') %}{{ ns.v }}{% set ns.v = s %}"
         "{{ ns.v }}", "qtext", "mtttt"},
        {"{% for c in s %}{{ c }}-{% endfor %}", "t-e-x-t-", "tmtmtmtm"},
        {"{% with v = s %}{{ v }}!{% endwith %}", "text!", "ttttm"},
        {"{{ loop.cycle is defined }}", NULL, NULL},
        {"{% for i in xs %}{{ loop.cycle('<', s) }}{% endfor %}", "<text<",
         "mttttm"},
        {"{{ s.upper() }}{{ 'k'.upper() }}", "TEXTK", "ttttm"},
        {"{% generation %}g{{ s }}{% endgeneration %}", "gtext", "mtttt"},
        {"{% raw %}{{ s }}{% endraw %}", "{{ s }}", "mmmmmmm"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct jinja_run run = {0};
        struct world w;
        struct err e;
        struct buf out, map;
        enum st st = try_run(vars, span_of(cases[i].source), &run, &w, &e);

        buf_init(&out, BUF_MESSAGE);
        buf_init(&map, BUF_MESSAGE);
        buf_puts(&out, "");
        buf_puts(&map, "");
        for (size_t k = 0; !st && k < run.out.u.str.n; k++) {
            buf_putc(&out, run.out.u.str.s[k]);
            buf_putc(&map, jv_markup_at(&run.out, k) ? 'm' : 't');
        }
        if (cases[i].out) {
            is_str(out.p, cases[i].out, "%s", cases[i].source);
            is_str(map.p, cases[i].map, "where each byte comes from");
        } else {
            is_int(st, ST_FORMAT, "%s", cases[i].source);
        }
        buf_release(&out);
        buf_release(&map);
        arena_release(&w.arena);
    }
}

/* --- errors -------------------------------------------------------------- */

#define DIGITS "1234567890123456789012345678901234567890123456789012345678901" \
    "234567890123456789012345678901234567890123456789012345678901234567890"

static void errors(const struct json *vars)
{
    static const struct {
        const char *source;
        enum st st;
        int line;
        const char *word; /* in the message */
    } cases[] = {
        {"a\n{{ s\n ~ zz.field }}", ST_FORMAT, 3, "field"},
        {"a\n\n{{ nosuch(1) }}", ST_FORMAT, 3, "nosuch"},
        {"\n{% if yes %}\n{{ s|nosuch }}{% endif %}", ST_FORMAT, 3, "nosuch"},
        {"{% if no %}{{ s|nosuch }}{% endif %}", ST_OK, 0, ""},
        {"\n{{ s is nosuch }}", ST_FORMAT, 2, "nosuch"},
        {"{% include 'x' %}", ST_FORMAT, 1, "include"},
        {"\n{% import 'x' as y %}", ST_FORMAT, 2, "import"},
        {"\n{% from 'x' import y %}", ST_FORMAT, 2, "from"},
        {"{% extends 'x' %}", ST_FORMAT, 1, "extends"},
        {"{% block b %}{% endblock %}", ST_FORMAT, 1, "block"},
        {"\n{% for x in xs recursive %}{% endfor %}", ST_FORMAT, 2,
         "recursive"},
        {"{% macro m() %}\n{{ zz.y }}{% endmacro %}\n\n{{ m() }}", ST_FORMAT,
         2, "y"},
        {"{% macro m() %}\n{% endmacro %}\n{{ m() + 1 }}", ST_FORMAT, 3, ""},
        {"{{ raise_exception('x\ty') }}", ST_INVALID, 1, "x"},
        {"\n{{ raise_exception('no ' + s) }}", ST_INVALID, 2, ""},
        {"{{ '\\xzz' }}", ST_FORMAT, 1, "escape"},
        {"{{ '\\ud800' }}", ST_FORMAT, 1, "escape"},
        {"{{ 99999999999999999999 }}", ST_FORMAT, 1, "range"},
        {"{{ \xc3\xa9 }}", ST_FORMAT, 1, "character"},
        {"{{ 1." DIGITS " }}", ST_FORMAT, 1, "range"},
        {"{{ " DIGITS " }}", ST_FORMAT, 1, "range"},
        {"{{ 1e" DIGITS " }}", ST_FORMAT, 1, "range"},
        {"a\n{% if yes %}\n\nx", ST_FORMAT, 2, "end tag"},
        {"{% set x, y %}z{% endset %}", ST_FORMAT, 1, "'='"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct jinja_run run = {0};
        struct world w;
        struct err e;
        char where[80];

        is_int(try_run(vars, span_of(cases[i].source), &run, &w, &e),
               cases[i].st, "%s", st_name(cases[i].st));
        if (cases[i].st) {
            snprintf(where, sizeof(where), "%s line %d", name, cases[i].line);
            is_str(e.where, where, "the line");
            ok(strstr(e.text, cases[i].word) && !strstr(e.text, "text"),
               "names it and quotes no caller: %s", e.text);
            ok(run.raised == (cases[i].st == ST_INVALID), "raised");
        }
        arena_release(&w.arena);
    }
}

static void sources(void)
{
    struct jinja *t;
    struct err e = {0};
    char *big = mem_zalloc(JINJA_SOURCE_MAX + 1);

    memset(big, 'x', JINJA_SOURCE_MAX + 1);
    is_int(jinja_compile(&t, big, JINJA_SOURCE_MAX + 1, name, &e), ST_FORMAT,
           "a source over the limit");
    ok(!t, "nothing is made");
    is_int(jinja_compile(&t, big, JINJA_SOURCE_MAX, name, &e), ST_OK,
           "a source at the limit");
    jinja_free(t);
    is_int(jinja_compile(&t, "a\xff", 2, name, &e), ST_FORMAT, "no UTF-8");
    jinja_free(NULL);
    free(big);
}

static void questions(void)
{
    static const char source[] =
        "{# hidden secret #}data {{ 'lit\\x21' }}{% if tools %}{% set x = 1 %}"
        "{% endif %}{% for m in messages %}{{ m.role }}{{ other }}{% endfor %}"
        "{% set own = 1 %}{{ own }}{{ x }}{% macro f(p) %}{{ p }}{{ g }}"
        "{% endmacro %}{{ f(q=kw) }}{{ m }}{% with v = 1 %}{{ v }}{% endwith %}"
        "{% set z = z|default(1) %}{{ z }}"
        "{% set y %}{% set inner = 1 %}{% endset %}{{ inner }}";
    static const char *const reads[] = {"tools", "messages", "other", "x", "g",
                                        "kw", "m", "z", "inner"};
    static const char *const not[] = {"own", "p", "f", "q", "role", "v",
                                      "hidden", "nothing", "loop"};
    struct jinja *t;
    struct err e = {0};

    is_int(jinja_compile(&t, source, sizeof(source) - 1, name, &e), ST_OK,
           "compiles: %s", e.text);
    if (!t)
        return;
    ok(jinja_mentions(t, "data ") && jinja_mentions(t, "lit!"), "mentions");
    ok(!jinja_mentions(t, "secret") && !jinja_mentions(t, "messages"),
       "comments and code are not mentioned");
    for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++)
        ok(jinja_reads(t, reads[i]), "reads %s", reads[i]);
    for (size_t i = 0; i < sizeof(not) / sizeof(not[0]); i++)
        ok(!jinja_reads(t, not[i]), "does not read %s", not[i]);
    jinja_free(t);
}

/* --- limits -------------------------------------------------------------- */

/* head, n times each, tail */
static struct buf repeat(const char *head, const char *each, size_t n,
                         const char *tail)
{
    struct buf b;

    buf_init(&b, BUF_FILE);
    buf_puts(&b, head);
    for (size_t i = 0; i < n; i++)
        buf_puts(&b, each);
    buf_puts(&b, tail);
    return b;
}

static const struct {
    const char *what, *head, *each;
    size_t n;
    const char *tail;
    enum st st;
} sizes[] = {
    {"2,000 ~", "{{ s", " ~ s", 2000, " }}", ST_OK},
    {"2,000 +", "{{ 1", " + 1", 2000, " }}", ST_OK},
    {"2,000 and", "{{ 1", " and 1", 2000, " }}", ST_OK},
    {"2,000 or", "{{ 0", " or 0", 2000, " }}", ST_OK},
    {"2,000 comparisons", "{{ 1", " == 1", 2000, " }}", ST_OK},
    {"2,000 elif", "{% if no %}", "{% elif no %}", 2000, "{% endif %}", ST_OK},
    {"2,000 else", "{{ 1", " if no else 1", 2000, " }}", ST_OK},
    {"2,000 filters", "{{ s", "|upper", 2000, " }}", ST_OK},
    {"2,000 items", "{{ [", "1,", 2000, "]|length }}", ST_OK},
    {"2,000 statements", "", "{% set x = 1 %}", 2000, "", ST_OK},
    {"2,000 strings", "{{", " 'a'", 2000, " }}", ST_OK},
    {"2,000 if without else", "{{ 1", " if 1", 2000, " }}", ST_OK},
    {"2,000 not", "{{", " not", 2000, " 1 }}", ST_FORMAT},
    {"2,000 minus", "{{", " -", 2000, "1 }}", ST_FORMAT},
    {"2,000 (", "{{ ", "(", 2000, "1", ST_FORMAT},
    {"2,000 [", "{{ ", "[", 2000, "1", ST_FORMAT},
    {"2,000 {", "{{ ", "{1:", 2000, "1", ST_FORMAT},
    {"2,000 f(", "{{ ", "f(", 2000, "1", ST_FORMAT},
    {"2,000 x[", "{{ ", "x[", 2000, "1", ST_FORMAT},
    {"2,000 if blocks", "", "{% if 1 %}", 2000, "", ST_FORMAT},
    {"2,000 for blocks", "", "{% for x in xs %}", 2000, "", ST_FORMAT},
    {"2,000 tests", "{{ 1", " is eq -1", 2000, " }}", ST_FORMAT},
    {"every level, deep", "{{ ", "1 or 1 and not 1 == 1 + 1 ~ 1 * 1 ** - (",
     2000, "1", ST_FORMAT},
    {"5,000 names", "", NULL, 5000, "", ST_FORMAT},
};

static void size_case(const struct json *vars, size_t i)
{
    struct jinja_run run = {0};
    struct world w;
    struct err e;
    struct buf b;
    enum st st;

    if (sizes[i].each) {
        b = repeat(sizes[i].head, sizes[i].each, sizes[i].n, sizes[i].tail);
    } else {
        buf_init(&b, BUF_FILE);
        for (size_t k = 0; k < sizes[i].n; k++)
            buf_printf(&b, "{{ v%zu }}", k);
    }
    st = try_run(vars, (struct span){b.p, b.n}, &run, &w, &e);
    is_int(st, sizes[i].st, "%s %s", sizes[i].what, e.text);
    arena_release(&w.arena);
    buf_release(&b);
}

/* As deep as nesting goes, compiled and run. */
static const struct {
    const char *what, *head, *each, *mid, *close, *tail;
    size_t n;
    enum st st;
} depths[] = {
    {"lists", "{{ ", "[", "1", "]", "|length }}", 96, ST_OK},
    {"dicts", "{{ ", "{1: ", "1", "}", "|length }}", 96, ST_OK},
    {"parentheses", "{{ ", "(", "1", ")", " }}", 96, ST_OK},
    {"lists, one more", "{{ ", "[", "1", "]", "|length }}", 97, ST_FORMAT},
    {"if", "", "{% if 1 %}", "x", "{% endif %}", "", 96, ST_OK},
    {"if, one more", "", "{% if 1 %}", "x", "{% endif %}", "", 97, ST_FORMAT},
    {"for", "", "{% for x in [1] %}", "x", "{% endfor %}", "", 95, ST_OK},
    {"with", "", "{% with %}", "x", "{% endwith %}", "", 96, ST_OK},
    {"set", "", "{% set x %}", "x", "{% endset %}", "", 96, ST_OK},
    {"calls", "{% macro m(x) %}{{ x }}{% endmacro %}{{ ", "m(", "1", ")",
     " }}", 50, ST_OK},
    {"filters", "{{ ", "1|default(", "1", ")", " }}", 96, ST_OK},
    {"subscripts", "{{ ", "xs[", "0", "]", " }}", 50, ST_OK},
    {"slices", "{{ ", "xs[0:", "0", "]", " }}", 50, ST_FORMAT},
    {"operators", "{{ ", "1 or 1 and not 1 == 1 + 1 ~ 1 * 1 ** - (", "1", ")",
     " }}", 30, ST_OK},
    {"false operators", "{{ ", "0 or 1 and not 1 == 1 ~ 1 * 1 ** - (", "1",
     ")", " }}", 24, ST_OK},
    {"recursion", "{% macro m(x) %}{% for i in [1] %}{% if x %}{% set y %}"
     "{{ m(x)|upper }}{% endset %}{{ y }}{% endif %}{% endfor %}{% endmacro %}"
     "{{ m(1) }}", "", "", "", "", 0, ST_LIMIT},
    {"call blocks", "{% macro m(x) %}{% call m(1) %}x{% endcall %}"
     "{{ caller() }}{% endmacro %}{{ m(1) }}", "", "", "", "", 0, ST_LIMIT},
    {"defaults", "{% macro m(x=m()) %}{% endmacro %}{{ m() }}", "", "", "",
     "", 0, ST_LIMIT},
    {"comparing", "{% macro m() %}{{ 1 == (1 + (m() ~ 1)) }}{% endmacro %}"
     "{{ m() }}", "", "", "", "", 0, ST_LIMIT},
    {"dict values", "{% macro m() %}{% with x = {1: [m(*[m()])]} %}"
     "{% endwith %}{% endmacro %}{{ m() }}", "", "", "", "", 0, ST_LIMIT},
};

static void depth_case(const struct json *vars, size_t i)
{
    struct jinja_run run = {0};
    struct world w;
    struct err e;
    struct buf b = repeat(depths[i].head, depths[i].each, depths[i].n,
                          depths[i].mid);
    enum st st;

    for (size_t k = 0; k < depths[i].n; k++)
        buf_puts(&b, depths[i].close);
    buf_puts(&b, depths[i].tail);
    st = try_run(vars, (struct span){b.p, b.n}, &run, &w, &e);
    is_int(st, depths[i].st, "%s %s", depths[i].what, e.text);
    arena_release(&w.arena);
    buf_release(&b);
}

static void *deep_thread(void *vars)
{
    for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
        depth_case(vars, i);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        size_case(vars, i);
    return NULL;
}

static void small_stack(const struct json *vars)
{
    pthread_attr_t attr;
    pthread_t id;

    BUG_ON(pthread_attr_init(&attr));
    BUG_ON(pthread_attr_setstacksize(&attr, 256u << 10));
    BUG_ON(pthread_create(&id, &attr, deep_thread, (void *)vars));
    BUG_ON(pthread_join(id, NULL));
    pthread_attr_destroy(&attr);
}

#define MANY(s) s s s s s

static void limits(const struct json *vars)
{
    static const struct {
        const char *source;
        uint64_t steps;
        size_t out;
        enum st st;
    } cases[] = {
        {"{% for a in range(1000) %}{% for b in range(1000) %}"
         "{% for c in range(1000) %}{% endfor %}{% endfor %}{% endfor %}",
         0, 0, ST_LIMIT},
        {"{% for a in range(100) %}x{% endfor %}", 0, 100, ST_OK},
        {"{% for a in range(101) %}x{% endfor %}", 0, 100, ST_LIMIT},
        {"{% set ns = namespace(x='ab') %}{% for a in range(60) %}"
         "{% set ns.x = ns.x + ns.x %}{% endfor %}", 0, 0, ST_LIMIT},
        {"{% set ns = namespace(x=[1]) %}{% for a in range(60) %}"
         "{% set ns.x = ns.x + ns.x %}{% endfor %}", 0, 0, ST_LIMIT},
        {"{{ 1 }}", 2, 0, ST_LIMIT},
        {"{{ 1 }}", 200, 0, ST_OK},
        {"{% for x in range(10000) %}{{ x }}{% endfor %}", 0, 0, ST_OK},
        {"{% set l = range(10000)|list %}{{ l[9999] }}{{ l|length }}", 0, 0,
         ST_OK},
        {"{{ 'x' * 100000000 }}", 0, 0, ST_LIMIT},
        {"{{ '%10000d' % 1 }}", 300, 0, ST_LIMIT},
        {"{{ '%10000d' % 1 }}", 2000, 0, ST_OK},
        {"{{ ('%10000d' % 1)[::2] }}", 2500, 0, ST_LIMIT},
        {MANY(MANY(MANY("x{##}"))), 100, 0, ST_LIMIT},
        {MANY(MANY(MANY("x{##}"))), 200, 0, ST_OK},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct jinja_run run = {.max_steps = cases[i].steps,
                                .max_out = cases[i].out};
        struct world w;
        struct err e;
        enum st st = try_run(vars, span_of(cases[i].source), &run, &w, &e);

        is_int(st, cases[i].st, "%.50s %s", cases[i].source, e.text);
        ok(run.steps > 0 && run.steps <= run.max_steps - !st,
           "steps are counted");
        arena_release(&w.arena);
    }
}

/* --- threads ------------------------------------------------------------- */

struct shared {
    const struct jinja *t;
    const struct json *vars;
    char *out;
};

static void *render_thread(void *p)
{
    struct shared *s = p;
    struct world w;
    struct err e = {0};
    struct jinja_run run = {.max_steps = 100000, .max_out = 1u << 16};

    world_init(&w, s->vars);
    run.arena = &w.arena;
    run.vars = w.vars;
    run.n_vars = w.n_vars;
    if (jinja_render(s->t, &run, &e) == ST_OK)
        s->out = mem_dup_n(run.out.u.str.s, run.out.u.str.n);
    arena_release(&w.arena);
    return NULL;
}

static void threads(const struct json *vars)
{
    static const char source[] =
        "{% macro m(x) %}{{ x|upper }}{% endmacro %}{% set ns = namespace(n=0)"
        " %}{% for x in messages %}{% set ns.n = ns.n + loop.index %}"
        "{{ m(x.role) }}{{ ns.n }}{% endfor %}";
    struct shared s[4] = {{0}};
    pthread_t id[4];
    struct jinja *t;
    struct err e = {0};

    BUG_ON(jinja_compile(&t, source, sizeof(source) - 1, name, &e));
    for (int i = 0; i < 4; i++) {
        s[i].t = t;
        s[i].vars = vars;
        BUG_ON(pthread_create(&id[i], NULL, render_thread, &s[i]));
    }
    for (int i = 0; i < 4; i++) {
        BUG_ON(pthread_join(id[i], NULL));
        is_str(s[i].out, "SYSTEM1USER3ASSISTANT6USER10",
               "one template on four threads");
        free(s[i].out);
    }
    jinja_free(t);
}

int main(void)
{
    struct arena a;
    const struct json *all, *vars;

    arena_init(&a, 64u << 20);
    all = read_cases(&a);
    if (!all)
        return 1;
    vars = json_get(all, "vars");
    for (const struct json *c = json_get(all, "cases")->child; c; c = c->next)
        one_case(vars, c);
    provenance(vars);
    errors(vars);
    sources();
    questions();
    limits(vars);
    small_stack(vars);
    threads(vars);
    arena_release(&a);
    return done();
}
