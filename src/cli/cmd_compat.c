/* penstock compat: the request-field table, for people or as JSON. */
#include "api/compat.h"
#include "cli/cli.h"
#include "json/write.h"

#include <getopt.h>

static void print_text(const struct compat_field *f, size_t n)
{
    struct buf b;

    printf("%-50s %-10s %-12s %s\n", "field", "chat", "completions",
           "accepted");
    for (size_t i = 0; i < n; i++) {
        buf_init(&b, BUF_MESSAGE);
        compat_accepts(&f[i], &b);
        if (f[i].dflt)
            buf_printf(&b, "; absent: %s", f[i].dflt);
        printf("%-50s %-10s %-12s %s\n", f[i].name,
               compat_use_name(f[i].use[WIRE_CHAT]),
               compat_use_name(f[i].use[WIRE_COMPLETION]), b.p ? b.p : "");
        buf_release(&b);
    }
    puts("\nOther fields pass. null means absent.");
}

static void add_use(struct jw *w, const char *key, enum compat_use use)
{
    if (use == USE_NONE)
        jw_knull(w, key);
    else
        jw_kstr(w, key, compat_use_name(use));
}

static bool print_json(const struct compat_field *f, size_t n)
{
    struct buf out, b;
    struct jw *w;
    bool done;

    buf_init(&out, BUF_ANSWER);
    w = jw_new(&out);
    jw_obj(w);
    jw_key(w, "fields");
    jw_arr(w);
    for (size_t i = 0; i < n; i++) {
        buf_init(&b, BUF_MESSAGE);
        compat_accepts(&f[i], &b);
        jw_obj(w);
        jw_kstr(w, "field", f[i].name);
        add_use(w, "chat", f[i].use[WIRE_CHAT]);
        add_use(w, "completions", f[i].use[WIRE_COMPLETION]);
        jw_kstr(w, "accepted", b.p ? b.p : "");
        if (f[i].dflt)
            jw_kstr(w, "default", f[i].dflt);
        else
            jw_knull(w, "default");
        jw_obj_end(w);
        buf_release(&b);
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
    size_t n;
    const struct compat_field *f = compat_fields(&n);
    int c;

    while ((c = getopt_long(argc, argv, "jh", options, NULL)) != -1)
        switch (c) {
        case 'j':
            json = true;
            break;
        case 'h':
            puts("Usage: penstock compat [--json]\n\n"
                 "The fields of /v1/chat/completions and /v1/completions:\n"
                 "honoured, extension, neutral or refused, and what each "
                 "accepts.");
            return 0;
        default:
            return cli_usage("compat", "no such option");
        }
    if (optind < argc)
        return cli_usage("compat", "takes no argument");
    if (!json)
        print_text(f, n);
    else if (!print_json(f, n))
        return 1;
    return 0;
}
