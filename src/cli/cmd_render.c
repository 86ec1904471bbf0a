/* penstock render: the prompt of a chat request, before any model runs. */
#include "api/body.h"
#include "base/buf.h"
#include "chat/format.h"
#include "chat/vocab.h"
#include "cli/cli.h"
#include "json/write.h"

#include <getopt.h>

#define IDS_MAX (1u << 24)

struct render {
    const char *model, *chat, *format_name, *request;
    bool json;
    struct gguf *gguf;
    struct tok *tok;       /* NULL without a model */
    struct format *format;
    struct arena arena;
    struct buf text;       /* the request as read */
    struct body body;
    struct segments segments;
    struct ids ids;
    bool think_open;
};

static void add_names(struct buf *out)
{
    const char *const *names = format_names();

    buf_init(out, BUF_MESSAGE);
    for (size_t i = 0; names[i]; i++)
        buf_printf(out, "%s%s", i ? ", " : "", names[i]);
}

static void print_help(void)
{
    struct buf names;

    add_names(&names);
    printf("Usage: penstock render [OPTION]... REQUEST.json\n\n"
           "The prompt of a chat request as segments: markup, which the chat "
           "format\nwrote, and text, which is encoded as a caller's and never "
           "becomes a\ncontrol token.\n\n"
           "  -m, --model=FILE    a GGUF file; prints token ids too\n"
           "      --format=NAME   the chat format [auto]: one of\n"
           "                      %s\n"
           "      --chat=FILE     a chat.json, or a template (*.jinja)\n"
           "      --json          one JSON document\n"
           "REQUEST.json may be - for standard input. Without a model, name "
           "a format\nor a file.\n",
           names.p);
    buf_release(&names);
}

/* 0: go on; otherwise the exit status plus one. */
static int check_format(const char *name)
{
    struct buf names;
    int rc;

    for (const char *const *n = format_names(); *n; n++)
        if (!strcmp(*n, name))
            return 0;
    add_names(&names);
    rc = 1 + cli_usage("render", "no such format; accepted are %s", names.p);
    buf_release(&names);
    return rc;
}

static int options(struct render *r, int argc, char **argv)
{
    static const struct option longs[] = {
        {"model", required_argument, NULL, 'm'},
        {"format", required_argument, NULL, 'f'},
        {"chat", required_argument, NULL, 'c'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    int c, rc;

    while ((c = getopt_long(argc, argv, "m:jh", longs, NULL)) != -1)
        switch (c) {
        case 'm':
            r->model = optarg;
            break;
        case 'f':
            rc = check_format(optarg);
            if (rc)
                return rc;
            r->format_name = optarg;
            break;
        case 'c':
            r->chat = optarg;
            break;
        case 'j':
            r->json = true;
            break;
        case 'h':
            print_help();
            return 1;
        default:
            return 1 + cli_usage("render", "no such option");
        }
    if (optind + 1 != argc)
        return 1 + cli_usage("render", "takes one file, the request");
    r->request = argv[optind];
    return 0;
}

static enum st work(struct render *r, struct err *e)
{
    struct format_from from;
    struct text body;
    enum st st;

    if (r->model) {
        st = gguf_open(&r->gguf, r->model, e);
        if (!st)
            st = vocab_open(&r->tok, r->gguf, e);
        if (st)
            return st;
    }
    from = (struct format_from){
        .name = r->format_name,
        .path = r->chat,
        .model_path = r->model,
        .gguf = r->gguf,
        .tok = r->tok,
    };
    st = format_find(&r->format, &from, e);
    if (st)
        return st;
    if (!strcmp(r->request, "-"))
        st = buf_read_fd(&r->text, 0, "standard input", e);
    else
        st = buf_read_file(&r->text, r->request, e);
    if (st)
        return st;
    body = (struct text){r->text.p, r->text.n};
    st = body_parse_chat(&r->body, &r->arena, body, e);
    if (!st)
        st = format_render(r->format, &r->body.chat, &r->segments,
                           &r->think_open, e);
    if (!st && r->tok)
        st = segments_encode(&r->segments, r->tok, &r->ids, e);
    else if (!st && r->segments.failed)
        st = err_set(e, ST_LIMIT, "messages", "too many parts");
    return st;
}

static void add_caps(const struct format *f, struct jw *w)
{
    static const char *const late[] = {"no", "tools", "yes"};
    const struct format_caps *c = format_caps(f);
    const struct dialect *d = format_dialect(f);
    struct text think = format_think_text(f, false);

    jw_key(w, "capabilities");
    jw_obj(w);
    jw_kbool(w, "system", c->system);
    jw_kstr(w, "late_system", late[c->late_system]);
    jw_kbool(w, "reasoning", c->think);
    jw_kbool(w, "reasoning_forced", c->think_forced);
    jw_kstrn(w, "reasoning_opens_with", think.s ? think.s : "", think.n);
    jw_kbool(w, "tools", c->tools);
    if (d)
        jw_kstr(w, "calls", d->name);
    else
        jw_knull(w, "calls");
    jw_kbool(w, "images", c->images);
    jw_key(w, "efforts");
    jw_arr(w);
    for (size_t i = 0; c->efforts && c->efforts[i]; i++)
        jw_str(w, c->efforts[i]);
    jw_arr_end(w);
    jw_kint(w, "effort_max", c->effort_max);
    jw_kbool(w, "response_format", c->forms);
    jw_kbool(w, "tool_choice", c->tool_choice);
    jw_obj_end(w);
}

static void add_segments(struct render *r, struct jw *w)
{
    jw_key(w, "segments");
    jw_arr(w);
    for (size_t i = 0; i < r->segments.n; i++) {
        const struct segment *s = &r->segments.p[i];

        jw_obj(w);
        jw_kbool(w, "markup", s->mode == TOK_MARKUP);
        jw_kstrn(w, "text", s->text.s, s->text.n);
        jw_obj_end(w);
    }
    jw_arr_end(w);
}

static void add_ids(struct render *r, struct jw *w)
{
    jw_key(w, "ids");
    jw_arr(w);
    for (size_t i = 0; i < r->ids.n; i++)
        jw_int(w, r->ids.p[i]);
    jw_arr_end(w);
}

static bool print_json(struct render *r)
{
    struct buf out;
    struct jw *w;
    bool done;

    buf_init(&out, BUF_FILE);
    w = jw_new(&out);
    jw_obj(w);
    jw_kstr(w, "format", format_name(r->format));
    jw_kstr(w, "source", format_source(r->format));
    add_caps(r->format, w);
    add_segments(r, w);
    jw_kbool(w, "think_open", r->think_open);
    if (r->tok)
        add_ids(r, w);
    jw_obj_end(w);
    done = jw_end(w);
    if (done)
        printf("%s\n", out.p);
    buf_release(&out);
    return done;
}

/* One line per segment, its text as a JSON string; then the ids. */
static bool print_text(struct render *r)
{
    struct buf out;
    bool done = true;

    buf_init(&out, BUF_FILE);
    for (size_t i = 0; i < r->segments.n && done; i++) {
        const struct segment *s = &r->segments.p[i];
        struct jw *w;

        buf_puts(&out, s->mode == TOK_MARKUP ? "markup " : "text   ");
        w = jw_new(&out);
        jw_strn(w, s->text.s, s->text.n);
        done = jw_end(w);
        buf_putc(&out, '\n');
    }
    if (r->tok)
        buf_puts(&out, "ids    ");
    for (size_t i = 0; i < r->ids.n; i++)
        buf_printf(&out, "%s%d", i ? "," : "", r->ids.p[i]);
    if (r->tok)
        buf_putc(&out, '\n');
    done = done && !out.failed;
    if (done)
        fwrite(out.p, 1, out.n, stdout);
    buf_release(&out);
    return done;
}

int cmd_render(int argc, char **argv)
{
    struct render r = {0};
    struct err e = {0};
    int rc = options(&r, argc, argv);

    if (rc)
        return rc - 1;
    arena_init(&r.arena, BUF_FILE);
    buf_init(&r.text, BUF_FILE);
    ids_init(&r.ids, IDS_MAX);
    segments_init(&r.segments, &r.arena);
    if (work(&r, &e))
        rc = cli_fail("render", &e);
    else
        rc = (r.json ? print_json(&r) : print_text(&r)) ? 0 : 1;
    ids_release(&r.ids);
    buf_release(&r.text);
    arena_release(&r.arena);
    format_free(r.format);
    tok_free(r.tok);
    gguf_close(r.gguf);
    return rc;
}
