#include "cli/store.h"
#include "cli/cli.h"

#include "base/num.h"
#include "base/utf8.h"

const char *store_db_path(const char *option)
{
    const char *env = getenv("PENSTOCK_DB");

    if (option)
        return option;
    return env && env[0] ? env : STORE_DB_DEFAULT;
}

void store_time(int64_t ms, char out[20])
{
    time_t t = (time_t)(ms / 1000);
    struct tm tm;

    if (!ms || !gmtime_r(&t, &tm) ||
        !strftime(out, 20, "%Y-%m-%d %H:%M:%S", &tm))
        snprintf(out, 20, "-");
}

static bool parse_date(const char *s, int64_t *out)
{
    int64_t y, m, d;
    struct tm tm = {0}, back;
    time_t t;

    if (strlen(s) != 10 || s[4] != '-' || s[7] != '-' ||
        !num_parse_i64(s, 4, 1970, 9999, &y) ||
        !num_parse_i64(s + 5, 2, 1, 12, &m) ||
        !num_parse_i64(s + 8, 2, 1, 31, &d))
        return false;
    tm.tm_year = (int)y - 1900;
    tm.tm_mon = (int)m - 1;
    tm.tm_mday = (int)d;
    t = timegm(&tm);
    if (!gmtime_r(&t, &back) || back.tm_mday != (int)d)
        return false; /* the 31st of a shorter month */
    *out = (int64_t)t * 1000;
    return true;
}

bool store_since(const char *s, int64_t now_ms, int64_t *out)
{
    static const struct {
        char unit;
        int64_t ms;
    } units[] = {{'s', 1000}, {'m', 60000}, {'h', 3600000}, {'d', 86400000}};
    size_t n = strlen(s);
    int64_t v;

    if (parse_date(s, out))
        return true;
    if (n < 2 || !num_parse_i64(s, n - 1, 0, 1000000, &v))
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (units[i].unit != s[n - 1])
            continue;
        *out = now_ms - v * units[i].ms;
        return true;
    }
    return false;
}

/* --- tables -------------------------------------------------------------- */

void table_init(struct table *t, const char *align)
{
    *t = (struct table){.cols = strlen(align), .align = align};
}

void table_release(struct table *t)
{
    for (size_t i = 0; i < t->cells; i++)
        free(t->cell[i]);
    free(t->cell);
    *t = (struct table){0};
}

void table_add(struct table *t, const char *text)
{
    char *copy = mem_dup(text);

    if (t->cells == t->cap) {
        size_t cap = t->cap ? t->cap * 2 : 64;
        char **cell = mem_array(char *, cap);

        if (t->cells)
            memcpy(cell, t->cell, t->cells * sizeof(*cell));
        free(t->cell);
        t->cell = cell;
        t->cap = cap;
    }
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?'; /* a name must not steer the terminal */
    t->cell[t->cells++] = copy;
}

void table_add_int(struct table *t, int64_t v)
{
    char text[24];

    snprintf(text, sizeof(text), "%lld", (long long)v);
    table_add(t, text);
}

/* Characters, taken as one column each. */
static size_t width(const char *s)
{
    size_t n = 0;

    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static void pad(FILE *to, size_t n)
{
    while (n--)
        putc(' ', to);
}

void table_print(const struct table *t, FILE *to)
{
    size_t *wide = mem_array(size_t, t->cols);

    BUG_ON(t->cells % t->cols);
    for (size_t i = 0; i < t->cells; i++) {
        size_t w = width(t->cell[i]);

        if (w > wide[i % t->cols])
            wide[i % t->cols] = w;
    }
    for (size_t i = 0; i < t->cells; i++) {
        size_t col = i % t->cols, gap = wide[col] - width(t->cell[i]);
        bool last = col + 1 == t->cols;

        if (t->align[col] == 'r')
            pad(to, gap);
        fputs(t->cell[i], to);
        if (t->align[col] != 'r' && !last)
            pad(to, gap);
        fputs(last ? "\n" : "  ", to);
    }
    free(wide);
}

int store_print_json(const char *cmd, bool good, const struct buf *b)
{
    struct err e;

    if (good) {
        fwrite(b->p, 1, b->n, stdout);
        putchar('\n');
        return 0;
    }
    err_set(&e, ST_LIMIT, "--json", "the document is too large");
    return cli_fail(cmd, &e);
}
