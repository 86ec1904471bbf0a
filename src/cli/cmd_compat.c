/* penstock compat: the request-field tables, for people or as JSON. */
#include "api/compat.h"
#include "cli/cli.h"
#include "json/write.h"

#include <getopt.h>

/* The tables: chat and completions share one. */
static const struct table {
    const char *names[2]; /* of its columns */
    enum compat_wire wires[2];
    int n;
} tables[] = {
    {{"chat", "completions"}, {WIRE_CHAT, WIRE_COMPLETION}, 2},
    {{"responses"}, {WIRE_RESPONSES}, 1},
    {{"messages"}, {WIRE_MESSAGES}, 1},
};
#define N_TABLES (sizeof(tables) / sizeof(tables[0]))

static void print_table(const struct table *t)
{
    size_t n;
    const struct compat_field *f = compat_fields(t->wires[0], &n);
    struct buf b;

    printf("%-50s", "field");
    for (int k = 0; k < t->n; k++)
        printf(" %-11s", t->names[k]);
    puts(" accepted");
    for (size_t i = 0; i < n; i++) {
        buf_init(&b, BUF_MESSAGE);
        compat_accepts(&f[i], &b);
        if (f[i].dflt)
            buf_printf(&b, "; absent: %s", f[i].dflt);
        printf("%-50s", f[i].name);
        for (int k = 0; k < t->n; k++)
            printf(" %-11s", compat_use_name(f[i].use[t->wires[k]]));
        printf(" %s\n", b.p ? b.p : "");
        buf_release(&b);
    }
    puts("");
}

static void add_use(struct jw *w, const char *key, enum compat_use use)
{
    if (use == USE_NONE)
        jw_knull(w, key);
    else
        jw_kstr(w, key, compat_use_name(use));
}

static void add_row(struct jw *w, const struct compat_field *f)
{
    struct buf b;

    buf_init(&b, BUF_MESSAGE);
    compat_accepts(f, &b);
    jw_obj(w);
    jw_kstr(w, "field", f->name);
    for (size_t t = 0; t < N_TABLES; t++)
        for (int k = 0; k < tables[t].n; k++)
            add_use(w, tables[t].names[k], f->use[tables[t].wires[k]]);
    jw_kstr(w, "accepted", b.p ? b.p : "");
    if (f->dflt)
        jw_kstr(w, "default", f->dflt);
    else
        jw_knull(w, "default");
    jw_obj_end(w);
    buf_release(&b);
}

static bool print_json(void)
{
    struct buf out;
    struct jw *w;
    bool done;

    buf_init(&out, BUF_ANSWER);
    w = jw_new(&out);
    jw_obj(w);
    jw_key(w, "fields");
    jw_arr(w);
    for (size_t t = 0; t < N_TABLES; t++) {
        size_t n;
        const struct compat_field *f = compat_fields(tables[t].wires[0], &n);

        for (size_t i = 0; i < n; i++)
            add_row(w, &f[i]);
    }
    jw_arr_end(w);
    jw_obj_end(w);
    done = jw_end(w);
    if (done)
        printf("%s\n", out.p);
    buf_release(&out);
    return done;
}

int cmd_compat(int argc, char **argv)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    bool json = false;
    int c;

    while ((c = getopt_long(argc, argv, "jh", options, NULL)) != -1)
        switch (c) {
        case 'j':
            json = true;
            break;
        case 'h':
            puts("Usage: penstock compat [--json]\n\n"
                 "The fields of /v1/chat/completions, /v1/completions,\n"
                 "/v1/responses and /v1/messages: honoured, extension, "
                 "neutral or\nrefused, and what each accepts.");
            return 0;
        default:
            return cli_usage("compat", "no such option");
        }
    if (optind < argc)
        return cli_usage("compat", "takes no argument");
    if (json)
        return print_json() ? 0 : 1;
    for (size_t t = 0; t < N_TABLES; t++)
        print_table(&tables[t]);
    puts("Other fields pass. null means absent.");
    return 0;
}
