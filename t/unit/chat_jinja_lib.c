/*
 * Values, operators, filters, tests, methods and globals of the template
 * language.
 *
 * Expectations: t/data/chat/jinja-lib.tsv was written by Jinja2 itself
 * (contrib/gen-jinja-lib; versions in the file). Provenance and limits are
 * our own rules (chat/jinja_value.h).
 */
#include "base/buf.h"
#include "chat/jinja.h"
#include "json/read.h"
#include "t/lib/tap.h"

#include <stdlib.h>

static struct arena arena;
static struct err err;
static struct jx jx;

static void fresh(void)
{
    arena_release(&arena);
    arena_init(&arena, 16 << 20);
    err = (struct err){0};
    jx = (struct jx){.arena = &arena, .e = &err, .name = "test", .line = 3,
                     .steps_left = 1000000, .max_bytes = 1 << 20};
}

/* --- against Jinja2 ------------------------------------------------------- */

static const struct json *json_of(const char *s, size_t n)
{
    const struct json *j = NULL;

    if (json_parse(&j, &arena, s, n, NULL))
        return NULL;
    return j;
}

static enum st render(const char *s, size_t n, const char *vars, struct jv *out)
{
    struct jinja_run run = {.arena = &arena, .max_steps = 1000000,
                            .max_out = 1 << 20};
    const struct json *j = json_of(vars, strlen(vars));
    struct jinja *t = NULL;
    struct jv v = jv_undef();
    enum st st = jinja_compile(&t, s, n, "test", &err);

    *out = jv_lit("");
    if (!st)
        st = jv_from_json(&jx, j, false, &v);
    if (!st) {
        run.vars = v.u.dict->p;
        run.n_vars = v.u.dict->n;
        st = jinja_render(t, &run, &err);
        *out = run.out;
    }
    jinja_free(t);
    return st;
}

static void one_line(const char *line, const char *tab, const char *vars)
{
    const struct json *want;
    bool same = false;
    struct jv got;
    enum st st;

    fresh();
    st = render(line, (size_t)(tab - line), vars, &got);
    if (!strcmp(tab + 1, "error")) {
        if (!ok(st, "%.*s: refused", (int)(tab - line), line))
            printf("#   got %.*s\n", (int)got.u.str.n, got.u.str.s);
        return;
    }
    want = json_of(tab + 1, strlen(tab + 1));
    if (!st && want)
        same = got.u.str.n == want->str.n &&
               !memcmp(got.u.str.s, want->str.s, want->str.n);
    if (!ok(same, "%.*s", (int)(tab - line), line) && st)
        printf("#   %s: %s: %s\n", st_name(st), err.where, err.text);
    else if (!same && want)
        printf("#   got %.*s\n#  want %.*s\n", (int)got.u.str.n, got.u.str.s,
               (int)want->str.n, want->str.s);
}

static void against_jinja2(void)
{
    char *line, *vars = NULL, *next;
    struct buf b;

    buf_init(&b, BUF_FILE);
    if (!ok(!buf_read_file(&b, "t/data/chat/jinja-lib.tsv", NULL) && b.n,
            "the cases are there"))
        return;
    for (line = b.p; *line; line = next) {
        char *tab, *end = strchr(line, '\n');

        if (end)
            *end = 0;
        next = end ? end + 1 : line + strlen(line);
        if (*line == '#')
            continue;
        tab = strchr(line, '\t');
        if (!vars)
            vars = line;
        else if (tab)
            one_line(line, tab, vars);
        else
            ok(false, "%s: no second column", line);
    }
    buf_release(&b);
}

/* --- provenance ----------------------------------------------------------- */

/* m: the template wrote this byte, t: a caller did. */
static const char vars_text[] =
    "{\"u\": \"xY<z\", \"l\": [\"p\", \"q\"], \"d\": {\"k\": \"v\"}, "
    "\"n\": 5, \"w\": \"a b\", \"c\": \"a,b\", \"b\": true, \"nl\": "
    "\"1\\n2\", \"two\": \"\\u00e9\\u00df\", \"f\": \"%s-{}\", "
    "\"j\": \"[1, \\\"s\\\"]\", \"z\": null, \"fl\": 2.5, \"em\": \"\", "
    "\"pf\": \"%4d|\", \"bf\": \"{:>3}\", \"pc\": \"5%%\", \"al\": \"<>3\"}";

static const struct {
    const char *template, *out, *map;
} masks[] = {
    {"a{{ u }}b", "axY<zb", "mttttm"},
    {"{{ 'ab' ~ u ~ 1 ~ n }}", "abxY<z15", "mmttttmt"},
    {"{{ ('ab' + u)[1:3] }}", "bx", "mt"},
    {"{{ ('ab' + u)[::-1] }}", "z<Yxba", "ttttmm"},
    {"{{ ('ab' + u)[1] }}{{ ('ab' + u)[2] }}", "bx", "mt"},
    {"{{ ('ab' + u) | upper }}", "ABXY<Z", "mmtttt"},
    {"{{ ('ab' + u).lower() }}", "abxy<z", "mmtttt"},
    {"{{ ('ab' + u) | title }}", "Abxy<Z", "mmtttt"},
    {"{{ ('e' + two) | upper }}", "E\xc3\x89SS", "mtttt"},
    {"{{ u | replace('x', '(x)') }}", "(x)Y<z", "mmmttt"},
    {"{{ 'x-x'.replace('x', w) }}", "a b-a b", "tttmttt"},
    {"{{ '--'.replace('', n | string) }}", "5-5-5", "tmtmt"},
    {"{{ ('a,' ~ c).split(',') | join('|') }}", "a|a|b", "mmtmt"},
    {"{{ ('a ' ~ w).split() | join('|') }}", "a|a|b", "mmtmt"},
    {"{{ l | join(', ') }}", "p, q", "tmmt"},
    {"{{ c.join(['x', 'y']) }}", "xa,by", "mtttm"},
    {"{{ 'x %s y' | format(u) }}", "x xY<z y", "mmttttmm"},
    {"{{ f | format('m') }}", "m-{}", "mttt"},
    {"{{ f.format('m') }}", "%s-m", "tttm"},
    {"{{ '%4d|' | format(n) }}", "   5|", "mmmtm"},
    {"{{ '{:>3}|{}'.format(n, 7) }}", "  5|7", "mmtmm"},
    {"{{ (' ' ~ w ~ ' ') | trim }}", "a b", "ttt"},
    {"{{ ('- ' ~ w).strip('-') }}", " a b", "mttt"},
    {"{{ u | tojson }}", "\"xY<z\"", "tttttt"},
    {"{{ 'a' | tojson }}", "\"a\"", "mmm"},
    {"{{ ('\"' ~ nl) | tojson }}", "\"\\\"1\\n2\"", "tmmttttt"},
    {"{{ d | tojson }}", "{\"k\": \"v\"}", "tttttttttt"},
    {"{{ {'k': u, 'n': n, 'o': 1} | tojson }}",
     "{\"k\": \"xY<z\", \"n\": 5, \"o\": 1}", "mmmmmmmttttmmmmmmmmtmmmmmmmmm"},
    {"{{ [u] | tojson(indent=1) }}", "[\n \"xY<z\"\n]", "mmmmttttmmm"},
    {"{{ [u, 1] }}", "['xY<z', 1]", "mmttttmmmmm"},
    {"{{ l }}", "['p', 'q']", "tttttttttt"},
    {"{{ [nl] }}", "['1\\n2']", "mmttttmm"},
    {"{{ n | string }}{{ 5 | string }}", "55", "tm"},
    {"{{ n + 1 }}{{ 1 + 1 }}{{ n * n }}", "6225", "tmtt"},
    {"{{ u | length }}{{ 'ab' | length }}", "42", "tm"},
    {"{{ -n }}{{ n | abs }}{{ n / 2 }}", "-552.5", "tttttt"},
    {"{{ b }}{{ b and true }}", "TrueTrue", "ttttmmmm"},
    {"{% for k, v in d.items() %}{{ k }}={{ v }}{% endfor %}", "k=v", "tmt"},
    {"{{ d.keys() | first }}{{ d | list | last }}", "kk", "tt"},
    {"{{ {'a': u}.keys() | first }}", "a", "m"},
    {"{{ ['b', 'a', l[0]] | sort | join }}", "abp", "mmt"},
    {"{{ ['p', l[0], l[1]] | unique | join }}", "pq", "mt"},
    {"{{ l | select('eq', 'q') | join }}", "q", "t"},
    {"{{ l | map('upper') | join('-') }}", "P-Q", "tmt"},
    {"{{ nope | default('x') }}{{ nope | default(u) }}", "xxY<z", "mtttt"},
    {"{% for c in 'a' ~ w %}{{ c }}{% endfor %}", "aa b", "mttt"},
    {"{{ ('ab' ~ u) | list | join }}", "abxY<z", "mmtttt"},
    {"{{ ('ab' ~ u) | e }}", "abxY&lt;z", "mmttttttt"},
    {"{{ nl | indent(2) }}", "1\n  2", "ttmmt"},
    {"{{ nl | indent(w, true) }}", "a b1\na b2", "ttttttttt"},
    {"{{ u | center(6) }}", " xY<z ", "mttttm"},
    {"{{ j | fromjson }}{{ '[1]' | fromjson }}", "[1, 's'][1]",
     "ttttttttmmm"},
    {"{{ '7' | int }}{{ j[1] | int }}", "71", "mt"},
    {"{{ w | truncate(1, true, '', 0) }}", "a", "t"},
    {"{{ 'ab' * 2 }}{{ w * 2 }}", "ababa ba b", "mmmmtttttt"},
    {"{{ l + ['m'] }}", "['p', 'q', 'm']", "ttttttttttttmtt"},
    {"{{ u.partition('Y') | join }}", "xY<z", "tttt"},
    {"{{ strftime_now(w) }}{{ strftime_now('b') }}", "a bb", "tttm"},
    {"{% set x = [] %}{% set _ = x.append(u) %}{{ x | join('+') }}{{ x[0] }}",
     "xY<zxY<z", "tttttttt"},
    /* what a computation inserts is a caller's when the reason for it is */
    {"{{ (em ~ '') | tojson }}{{ em | tojson }}", "\"\"\"\"", "tttt"},
    {"{{ z }}{{ z | tojson }}", "Nonenull", "tttttttt"},
    {"{{ b | tojson }}{{ fl }}{{ fl | tojson }}", "true2.52.5", "tttttttttt"},
    {"{{ u is string }}{{ not b }}", "TrueFalse", "ttttttttt"},
    {"{{ u == 'q' }}{{ 'q' == u }}", "FalseFalse", "tttttttttt"},
    {"{{ pf | format(7) }}{{ pc | format }}", "   7|5%", "tttmttt"},
    {"{{ bf.format(7) }}{{ bf.format(n) }}", "  7  5", "ttmttt"},
    {"{{ '%r' | format(u) }}{{ '{!r}'.format(w) }}", "'xY<z''a b'",
     "ttttttttttt"},
    {"{{ ('{:' ~ al ~ '}').format(7) }}", "<<7", "ttm"},
    {"{{ '{:>3}{:>{}}'[:5].format(7) }}", "  7", "mmm"},
    {"{{ w | urlencode }}{{ 'a b' | urlencode }}", "a%20ba%20b",
     "tttttmmmmm"},
    {"{{ d | urlencode }}", "k=v", "ttt"},
    {"{{ 'ab' | center(n) }}{{ 'ab' | center(4) }}", "  ab  ab ",
     "ttmmtmmmm"},
    {"{{ 'a\nb' | indent(n) }}", "a\n     b", "mmtttttm"},
    {"{{ u | wordcount }}{{ 'a b' | wordcount }}", "22", "tm"},
    {"{{ '5'.zfill(n) }}{{ '5'.zfill(2) }}", "0000505", "ttttmmm"},
    {"{{ 'a'.ljust(3, w[0]) }}{{ 'a'.rjust(3, w[0]) }}", "aaaaaa",
     "mttttm"},
    {"{{ u.find('Y') }}{{ 'aY'.find('Y') }}", "11", "tm"},
    {"{{ u.count('Y') }}{{ u.isalpha() }}", "1False", "tttttt"},
    {"{{ u.startswith('x') }}", "True", "tttt"},
    {"{{ -fl }}{{ fl | round(0, 'floor') }}{{ fl | float }}", "-2.52.02.5",
     "tttttttttt"},
    {"{% for i in range(n) %}{{ i }}{% endfor %}", "01234", "ttttt"},
    {"{{ range(n) | list }}", "[0, 1, 2, 3, 4]", "ttttttttttttttt"},
    {"{{ dict(d) }}", "{'k': 'v'}", "tttttttttt"},
    {"{{ [1] | tojson(indent=w) }}", "[\na b1\n]", "mmtttmmm"},
    {"{{ [1, 2] | tojson(separators=(w, ': ')) }}", "[1a b2]", "mmtttmm"},
    {"{{ l | tojson }}", "[\"p\", \"q\"]", "tttttttttt"},
    {"{{ l | list }}{{ c.split(',') }}", "['p', 'q']['a', 'b']",
     "tttttttttttttttttttt"},
    {"{{ d.copy() }}{{ d | items | list }}", "{'k': 'v'}[('k', 'v')]",
     "tttttttttttttttttttttt"},
};

static void provenance(void)
{
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        const char *t = masks[i].template;
        char out[100] = "", map[100] = "";
        struct jv got;
        enum st st;

        fresh();
        st = render(t, strlen(t), vars_text, &got);
        for (size_t k = 0; !st && k < got.u.str.n && k < 99; k++) {
            out[k] = got.u.str.s[k];
            map[k] = jv_markup_at(&got, k) ? 'm' : 't';
        }
        ok(!st, "%s: renders%s%s", t, st ? ": " : "", st ? err.text : "");
        is_str(out, masks[i].out, "%s", t);
        is_str(map, masks[i].map, "who wrote %s", t);
    }
}

/* A string of one provenance has no map, whatever it was made of. */
static void no_map(void)
{
    struct jv m = jv_lit("m"), t = jv_span("t", 1, false), mixed, cut;

    fresh();
    ok(!jop_binary(&jx, JOP_ADD, &m, &t, &mixed) && mixed.u.str.map,
       "a mixed string has a map");
    cut = jv_cut(&mixed, 1, 1);
    ok(!cut.u.str.map && !cut.markup, "its text half has none");
    cut = jv_cut(&mixed, 0, 1);
    ok(!cut.u.str.map && cut.markup, "nor has its markup half");
}

/* --- limits --------------------------------------------------------------- */

static const char *const too_much[] = {
    "{{ 'x' * 10**9 }}",
    "{{ 'x' * 10**18 }}",
    "{{ 'xy' * 9223372036854775807 }}",
    "{{ [1] * 10**9 }}",
    "{{ range(10**9) }}",
    "{{ range(-9223372036854775807, 9223372036854775807) }}",
    "{{ 'x' | center(10**9) }}",
    "{{ 'x' | indent(10**9, true) }}",
    "{{ [1] | tojson(indent=9223372036854775807) }}",
    "{{ [[1]] | tojson(indent=9223372036854775807) }}",
    "{{ '%1000000000d' | format(1) }}",
    "{{ '%99999999999999999999999d' | format(1) }}",
    "{{ '%.1000000000f' | format(1.5) }}",
    "{{ '{:1000000000}'.format(1) }}",
    "{{ '{:.1000000000f}'.format(1.5) }}",
    "{{ 'x'.zfill(10**9) }}",
    "{{ 'x'.rjust(10**9) }}",
    "{{ ('x' * 10000).replace('', 'y' * 1000) }}",
    "{{ ('x' * 100000).replace('x', 'y' * 1000) }}",
    "{{ [1, 2] | slice(10**9) | list }}",
    "{{ [1] | batch(10**9, 1) | list }}",
    "{% set l = [1] %}{% for i in range(99) %}{% set _ = l.extend(l) %}"
    "{% endfor %}",
    "{% set l = [] %}{% set _ = l.append(l) %}{{ l }}",
    "{% set l = [] %}{% set _ = l.append(l) %}{{ l | tojson }}",
    "{% set l = [] %}{% set m = [] %}{% set _ = l.append(m) %}"
    "{% set _ = m.append(l) %}{{ l == m }}",
    "{% set l = [] %}{% set m = [] %}{% set _ = l.append(m) %}"
    "{% set _ = m.append(l) %}{{ l < m }}",
    "{% set d = {} %}{% set _ = d.update(a=d) %}{{ d }}",
    "{% set ns = namespace(a=[1], b=[1]) %}{% for i in range(60) %}"
    "{% set ns.a = [ns.a, ns.a] %}{% set ns.b = [ns.b, ns.b] %}{% endfor %}"
    "{{ ns.a == ns.b }}",
    "{% set ns = namespace(a=[1]) %}{% for i in range(60) %}"
    "{% set ns.a = [ns.a, ns.a] %}{% endfor %}{{ ns.a | tojson }}",
    "{% set x = ('a' * 100000) %}{% for i in range(10000) %}"
    "{{ x.rfind('b') }}{{ x.count('a') }}{% endfor %}",
    "{% set x = ('a' * 100000) %}{{ x.rfind('a' * 50000) }}"
    "{{ x.strip('b' * 90000 ~ 'a') }}",
    "{% set l = range(100000) | list %}{{ l | unique | list | length }}",
    "{{ strftime_now('%c' * 10000) }}",
    "{{ strftime_now('x' * 101) }}",
    "{% set d = {} %}{% for i in range(10000) %}{% set _ = d.update({i: i}) %}"
    "{% endfor %}",
};

static void limits(void)
{
    for (size_t i = 0; i < sizeof(too_much) / sizeof(too_much[0]); i++) {
        const char *t = too_much[i];
        struct jv got;

        fresh();
        if (!ok(render(t, strlen(t), "{}", &got) == ST_LIMIT, "limit: %s", t))
            printf("#   %s %s\n", st_name(err.st), err.text);
        ok(!strncmp(err.where, "test line 1", 11), "with its line");
    }
}

/* --- errors --------------------------------------------------------------- */

/* Each must fail without a word of the caller's "CANARY". */
static const char *const refused[] = {
    "{{ u + 1 }}", "{{ u.nope() }}", "{{ [1] | map(u) | list }}",
    "{{ [1] | select(u) | list }}", "{{ nope | attr(u) }}", "{{ nope[u] }}",
    "{{ u | format }}", "{{ u.index('x') }}", "{{ u | fromjson }}",
    "{{ strftime_now('%Q' ~ u) }}", "{{ {}[[u]] }}{{ {}.pop(u) }}",
    "{{ u | round }}", "{{ 1 | round(1, u) }}", "{{ {} | dictsort(by=u) }}",
    "{{ raise_exception('no ' ~ u) }}", "{{ dict([u]) }}", "{{ -u }}",
    "{{ '{' ~ u ~ '}'}}{{ ('{' ~ u ~ '}').format(1) }}",
    "{{ ('%(' ~ u ~ ')s') | format(a=1) }}", "{{ u < 1 }}", "{{ u in 1 }}",
};

static void errors(void)
{
    struct jv got;

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        const char *t = refused[i];
        enum st st;

        fresh();
        st = render(t, strlen(t), "{\"u\": \"%d CANARY\"}", &got);
        ok(st == ST_FORMAT || st == ST_INVALID, "%s fails", t);
        ok(!strstr(err.text, "CANARY"), "and quotes nobody: %s", err.text);
    }
    fresh();
    is_int(render("{{ strftime_now('x' * 100) }}", 29, "{}", &got), ST_OK,
           "a time format at the limit");
    fresh();
    is_int(render("{{ strftime_now('a\\x00b') }}", 29, "{}", &got),
           ST_FORMAT, "a time format with NUL");
    fresh();
    is_int(render("{{ raise_exception('x' * 199 ~ '\xc3\xa9') }}", 40, "{}",
                  &got), ST_INVALID, "a message that is cut");
    ok(strlen(err.text) == 199, "before the character that does not fit");
    fresh();
    is_int(render("{{ raise_exception('a\nb') }}", 29, "{}", &got),
           ST_INVALID, "the template's own message");
    is_str(err.text, "a b", "on one line");
    is_str(err.where, "test line 1", "with its place");
}

/* --- bytes that are not UTF-8, and JSON numbers --------------------------- */

/* Too little memory is a limit, never another answer. */
static void no_memory(void)
{
    static const char *const cases[][2] = {
        {"{% if range %}yes{% endif %}", "yes"},
        {"{{ range is defined }}", "True"},
        {"{{ d.items is defined }}", "True"},
        {"{{ d['items'] is defined }}", "True"},
        {"{{ u.upper is defined }}", "True"},
        {"{{ d|attr('keys') is defined }}", "True"},
        {"{{ d.items()|list|length }}", "0"},
        {"{{ 5|string }}", "5"}, {"{{ u ~ 1 }}", "x1"},
        {"{{ namespace(a=1).a }}", "1"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *s = cases[i][0];
        struct jinja_run run = {.max_steps = 1000, .max_out = 1000};
        struct jpair vars[] = {{jv_lit("u"), jv_lit("x")},
                               {jv_lit("d"), jv_undef()}};
        struct jinja *t = NULL;
        enum st st = ST_LIMIT;
        bool same = false;

        fresh();
        vars[1].value = jv_new_dict(&jx);
        BUG_ON(jinja_compile(&t, s, strlen(s), "test", &err));
        run.vars = vars;
        run.n_vars = 2;
        for (size_t max = 16; st == ST_LIMIT && max < 65536; max += 16) {
            struct arena small;

            arena_init(&small, max);
            run.arena = &small;
            st = jinja_render(t, &run, &err);
            same = !st && jv_is(&run.out, cases[i][1]);
            arena_release(&small);
        }
        ok(same, "%s in every size of memory", s);
        jinja_free(t);
    }
}

static void odd_bytes(void)
{
    static const char *const filters[] = {
        "upper", "lower", "title", "capitalize", "trim", "length", "list",
        "reverse", "tojson", "string", "first", "last", "wordcount", "e",
        "urlencode", "indent", "center", "truncate", "int", "float",
    };
    struct jv bad = jv_span("a\xff\xc3\xe2\x82", 5, false), out, list;
    struct jargs none = {0};

    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        fresh();
        ok(!jlib_filter(&jx, filters[i], strlen(filters[i]), &bad, &none,
                        &out),
           "%s of bytes that are not UTF-8", filters[i]);
    }
    fresh();
    list = jv_new_list(&jx);
    ok(!jv_push(&jx, list, bad) &&
           !jlib_filter(&jx, "string", 6, &list, &none, &out),
       "repr of them");
}

static void numbers(void)
{
    struct jv v, s;
    struct jargs none = {0};

    fresh();
    ok(!jv_from_json(&jx, json_of("[9223372036854775807, 1.0, 1e2, "
                                  "18446744073709551616]", 53),
                     false, &v) &&
           !jlib_filter(&jx, "tojson", 6, &v, &none, &s),
       "numbers of JSON");
    ok(jv_is(&s, "[9223372036854775807, 1.0, 100.0, 1.8446744073709552e+19]"),
       "ints when they fit");
}

int main(void)
{
    arena_init(&arena, 1);
    against_jinja2();
    provenance();
    no_map();
    limits();
    errors();
    no_memory();
    odd_bytes();
    numbers();
    arena_release(&arena);
    return done();
}
