/*
 * No template makes a step of chat/jinja expensive: what takes time is paid
 * for. Each case does one kind of work over and over, on long values where
 * it can; the CPU time of the thread, divided by the steps used, must stay
 * small. Most cases are at 5 to 60 nanoseconds a step, the worst near 400.
 */
#include "chat/jinja.h"
#include "t/lib/tap.h"

#include <stdlib.h>
#include <time.h>

#define STEPS 1000000u
#define BIG "{% set b = 'a' * 1000 * 1000 %}"
#define TIMES "{% for i in range(100000) %}"

/* Nanoseconds for each step; sanitizers cost a factor. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NS_MAX 20000.0
#else
#define NS_MAX 1000.0
#endif

static const struct {
    const char *what, *source;
} cases[] = {
    {"names", TIMES "{% set x = i %}{% endfor %}"},
    {"globals", TIMES "{% set x = range %}{% endfor %}"},
    {"calls", TIMES "{% set x = i|string %}{% endfor %}"},
    {"a long key", BIG "{% set d = {b: 1} %}{% set k = 'a' * 1000 * 1000 %}" TIMES
     "{% set x = d[k] %}{% endfor %}"},
    {"a long key by get", BIG "{% set d = {b: 1} %}"
     "{% set k = 'a' * 1000 * 1000 %}{% set g = d.get %}" TIMES
     "{% set x = g(k) %}{% endfor %}"},
    {"a long key in a dict", BIG "{% set d = {b: 1} %}"
     "{% set k = 'a' * 1000 * 1000 %}" TIMES
     "{% set x = k in d %}{% endfor %}"},
    {"a long key of a literal", BIG "{% set k = 'a' * 1000 * 1000 %}" TIMES
     "{% set x = {b: 1, k: 2} %}{% endfor %}"},
    {"keys that differ late", BIG "{% set s = b ~ 'b' ~ b %}"
     "{% set d = {s[:1000000]: 1, s[1:1000001]: 1, s[2:1000002]: 1,"
     " s[3:1000003]: 1} %}{% set k = b[1:] ~ 'c' %}" TIMES
     "{% set x = d[k] %}{% endfor %}"},
    {"dicts with long keys", BIG "{% set d = {b: 1} %}"
     "{% set e = {'a' * 1000 * 1000: 1} %}" TIMES
     "{% set x = d == e %}{% endfor %}"},
    {"many keys", "{% set d = {} %}{% for i in range(2000) %}"
     "{% set _ = d.update({i: i}) %}{% endfor %}" TIMES
     "{% set x = d[-1] %}{% endfor %}"},
    {"keys of a kind", "{% set d = {} %}{% for i in range(1000) %}"
     "{% set _ = d.update({'abcdefghijkl%04d' % i: i}) %}{% endfor %}" TIMES
     "{% set x = d['abcdefghijkl9999'] %}{% endfor %}"},
    {"a long path", BIG
     "{% set x = range(100000)|map(attribute=b)|list %}"},
    {"a long path with a comma", "{% set b = 'a' * 1000 * 1000 ~ ',b' %}"
     "{% set x = range(100000)|sort(attribute=b) %}"},
    {"a long path of selectattr", BIG
     "{% set x = range(100000)|selectattr(b)|list %}"},
    {"long keywords", BIG TIMES "{% set x = 'x'.strip(chars=b) %}{% endfor %}"},
    {"a long name in a format", BIG "{% set f = '%(' ~ b ~ ')s' %}"
     "{% set d = {b: 1} %}" TIMES "{% set x = f % d %}{% endfor %}"},
    {"long flags in a format", "{% set f = '%' ~ '-' * 1000 * 1000 ~ 'd' %}" TIMES
     "{% set x = f % 1 %}{% endfor %}"},
    {"a long name in braces", BIG "{% set f = '{' ~ b ~ '}' %}"
     "{% set d = {b: 1} %}" TIMES
     "{% set x = f.format(**d) %}{% endfor %}"},
    {"long starts", BIG "{% set s = b[1:] ~ 'b' %}"
     "{% set t = (b,) * 30000 %}" TIMES
     "{% set x = s.startswith(t) %}{% endfor %}"},
    {"long ends", BIG "{% set s = 'b' ~ b[1:] %}"
     "{% set t = (b,) * 30000 %}" TIMES
     "{% set x = s.endswith(t) %}{% endfor %}"},
    {"searching", BIG "{% set n = 'a' * 120 ~ 'b' ~ 'a' * 120 %}" TIMES
     "{% set x = n in b %}{% endfor %}"},
    {"replacing nothing", BIG TIMES
     "{% set x = b.replace('b', 'c') %}{% endfor %}"},
    {"case", BIG TIMES "{% set x = b|upper %}{% endfor %}"},
    {"case of signs", "{% set b = '\xe4\xb8\xad' * 500 * 600 %}" TIMES
     "{% set x = b|upper %}{% endfor %}"},
    {"is upper", "{% set b = '1' * 1000 * 1000 %}" TIMES
     "{% set x = b.isupper() %}{% endfor %}"},
    {"is digit", "{% set b = '1' * 1000 * 1000 %}" TIMES
     "{% set x = b.isnumeric() %}{% endfor %}"},
    {"is alpha", "{% set b = '\xe4\xb8\xad' * 500 * 600 %}" TIMES
     "{% set x = b.isalpha() %}{% endfor %}"},
    {"words", "{% set b = 'a ' * 500 * 1000 %}" TIMES
     "{% set x = b|wordcount %}{% endfor %}"},
    {"lengths", "{% set b = '\xe4\xb8\xad' * 500 * 600 %}" TIMES
     "{% set x = b|length %}{% endfor %}"},
    {"characters", BIG TIMES "{% set x = b[-1] %}{% endfor %}"},
    {"slices", BIG TIMES "{% set x = b[1:-1] %}{% endfor %}"},
    {"slices backwards", BIG TIMES "{% set x = b[::-1] %}{% endfor %}"},
    {"stripping", "{% set b = ' ' * 1000 * 1000 %}" TIMES
     "{% set x = b|trim %}{% endfor %}"},
    {"lines", "{% set b = '\n' * 10000 %}" TIMES
     "{% set x = b.splitlines() %}{% endfor %}"},
    {"indents", "{% set b = 'a\n' * 10000 %}" TIMES
     "{% set x = b|indent(2) %}{% endfor %}"},
    {"quotes", BIG TIMES "{% set x = b|urlencode %}{% endfor %}"},
    {"escapes", "{% set b = '<' * 1000 * 100 %}" TIMES
     "{% set x = b|e %}{% endfor %}"},
    {"JSON strings", "{% set b = '\n' * 1000 * 100 %}" TIMES
     "{% set x = b|tojson %}{% endfor %}"},
    {"JSON floats", "{% set b = [0.1] * 10000 %}" TIMES
     "{% set x = b|tojson %}{% endfor %}"},
    {"reading JSON", "{% set b = '[' ~ '1,' * 100 * 100 ~ '1]' %}" TIMES
     "{% set x = b|fromjson %}{% endfor %}"},
    {"repr", "{% set b = ['\n' * 1000 * 100] %}" TIMES
     "{% set x = b|string %}{% endfor %}"},
    {"sorting", "{% set b = range(10000)|list %}" TIMES
     "{% set x = b|sort %}{% endfor %}"},
    {"sorting words", "{% set b = ['ab'] * 10000 %}" TIMES
     "{% set x = b|sort %}{% endfor %}"},
    {"floats", TIMES "{% set x = 1.7976931348623157e308|round(300) %}"
     "{% endfor %}"},
    {"formatted floats", TIMES "{% set x = '%.60f' % 1e308 %}{% endfor %}"},
    {"dates", TIMES "{% set x = strftime_now('%c%c%c%c%c%c%c%c%c%c%c%c%c%c"
     "%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c%c') %}{% endfor %}"},
    {"inserting", "{% set b = [0] * 20000 %}" TIMES
     "{% do b.insert(0, 1) %}{% endfor %}"},
    {"popping", "{% set b = [0] * 100000 %}" TIMES
     "{% do b.pop(0) %}{% endfor %}"},
    {"removing", "{% set b = [0] * 100000 %}" TIMES
     "{% do b.remove(0) %}{% endfor %}"},
};

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena arena;
        struct jinja_run run = {.arena = &arena, .max_steps = STEPS,
                                .max_out = 16u << 20};
        struct jinja *t = NULL;
        struct err e = {0};
        double start, each;
        enum st st;

        arena_init(&arena, 256u << 20);
        st = jinja_compile(&t, cases[i].source, strlen(cases[i].source), "t",
                           &e);
        start = now_ns();
        if (!st)
            st = jinja_render(t, &run, &e);
        each = (now_ns() - start) / (double)(run.steps ? run.steps : 1);
        if (!ok((!st || st == ST_LIMIT) && each < NS_MAX,
                "%s: %s", cases[i].what, e.text))
            printf("# %s: %s\n", e.where, e.text);
        printf("# %.0f ns a step, %llu steps\n", each,
               (unsigned long long)run.steps);
        jinja_free(t);
        arena_release(&arena);
    }
    return done();
}
