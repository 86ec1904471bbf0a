#include "t/lib/gramfile.h"

#include "gram/forms.h"

static _Noreturn void die(const char *path, const char *what)
{
    fprintf(stderr, "%s: %s\n", path, what);
    exit(2);
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static char *read_all(const char *path, size_t *n)
{
    FILE *in = fopen(path, "rb");
    size_t cap = 1 << 20, got = 0, more;
    char *s = mem_try(cap);

    if (!in || !s)
        die(path, "cannot be read");
    for (; (more = fread(s + got, 1, cap - got, in)) > 0; got += more) {
        if (got + more == cap) {
            char *bigger = realloc(s, cap *= 2);
            if (!bigger)
                die(path, "too large");
            s = bigger;
        }
    }
    fclose(in);
    *n = got;
    return s;
}

void idfile_read(struct idfile *f, const char *path, size_t at_least)
{
    size_t n, lines = 0, at = 0;
    char *s = read_all(path, &n);

    for (size_t i = 0; i < n; i++)
        lines += s[i] == '\n';
    f->n = lines > at_least ? lines : at_least;
    f->pieces = mem_array(struct span, f->n + 1);
    f->bytes = s;
    lines = 0;
    /* digits become bytes in place */
    for (size_t i = 0; i < n; i++, lines++) {
        size_t begin = at;
        for (; i + 1 < n && s[i] != '\n'; i += 2) {
            int hi = digit(s[i]), lo = digit(s[i + 1]);
            if (hi < 0 || lo < 0)
                die(path, "not hexadecimal");
            s[at++] = (char)(hi << 4 | lo);
        }
        f->pieces[lines] = (struct span){s + begin, at - begin};
    }
}

void idfile_release(struct idfile *f)
{
    free(f->pieces);
    free(f->bytes);
}

struct grammar *gram_from_form(const char *form, struct text of,
                               struct err *e)
{
    const struct json *schema = NULL;
    struct grammar *g = NULL;
    struct arena a;
    struct gxs w;
    int rule = -1;
    enum st st = ST_OK;

    arena_init(&a, 64u << 20);
    gxs_init(&w);
    if (strcmp(form, "schema") == 0)
        st = json_parse(&schema, &a, of.s, of.n, e);
    if (!st)
        st = strcmp(form, "regex") == 0 ? form_regex(&rule, &w, of, e)
                                        : form_json(&rule, &w, schema, e);
    if (!st)
        st = gram_compile(&g, &w, rule, e);
    gxs_release(&w);
    arena_release(&a);
    return st ? NULL : g;
}
