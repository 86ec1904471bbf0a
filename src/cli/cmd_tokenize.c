/* penstock tokenize, penstock detokenize: the two tokenizer entries. */
#include "base/num.h"
#include "chat/vocab.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "json/write.h"

#include <getopt.h>
#include <unistd.h>

#define IDS_MAX (64u << 20)

static const char help_tokenize[] =
    "Usage: penstock tokenize -m FILE [--markup] [--json] TEXT\n"
    "Token ids of TEXT ('-' reads standard input), after the beginning-of-\n"
    "text token if the model's prompts begin with one.\n\n"
    "  -m, --model FILE  GGUF file\n"
    "      --markup      recognise control tokens, as in a chat format's own\n"
    "                    text; without it TEXT is a caller's: only text\n"
    "      --json        {\"ids\":[...],\"pieces\":[...]}\n";

static const char help_detokenize[] =
    "Usage: penstock detokenize -m FILE ID[,ID]...\n"
    "The text that token ids stand for.\n\n"
    "  -m, --model FILE  GGUF file\n";

struct args {
    const char *model, *rest;
    enum tok_mode mode;
    bool json;
};

/* The exit status + 1 when there is nothing left to do, else 0. */
static int options(struct args *a, int argc, char **argv, const char *help)
{
    static const struct option opts[] = {
        {"model", required_argument, NULL, 'm'},
        {"markup", no_argument, NULL, 'M'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    bool plain = help == help_detokenize;
    int c;

    optind = 1;
    while ((c = getopt_long(argc, argv, "m:h", opts, NULL)) != -1) {
        if (c == 'm') {
            a->model = optarg;
        } else if (c == 'M' && !plain) {
            a->mode = TOK_MARKUP;
        } else if (c == 'j' && !plain) {
            a->json = true;
        } else if (c == 'h') {
            fputs(help, stdout);
            return 1;
        } else {
            return 1 + cli_usage(argv[0], "no such option");
        }
    }
    if (!a->model)
        return 1 + cli_usage(argv[0], "-m FILE is missing");
    if (optind + 1 != argc)
        return 1 + cli_usage(argv[0], plain ? "takes one list of ids"
                                            : "takes one TEXT, or '-'");
    a->rest = argv[optind];
    return 0;
}

/* JSON carries whole characters only: bytes of others become U+FFFD. */
static void add_piece(struct jw *w, struct span p)
{
    struct buf b;

    buf_init(&b, BUF_ANSWER);
    load_utf8(&b, p.s, p.n);
    jw_strn(w, b.p ? b.p : "", b.n);
    buf_release(&b);
}

static bool print_json(const struct tok *t, const struct ids *ids)
{
    struct buf out;
    struct jw *w;
    bool done;

    buf_init(&out, BUF_FILE);
    w = jw_new(&out);
    jw_obj(w);
    jw_key(w, "ids");
    jw_arr(w);
    for (size_t i = 0; i < ids->n; i++)
        jw_int(w, ids->p[i]);
    jw_arr_end(w);
    jw_key(w, "pieces");
    jw_arr(w);
    for (size_t i = 0; i < ids->n; i++)
        add_piece(w, tok_piece(t, ids->p[i]));
    jw_arr_end(w);
    jw_obj_end(w);
    done = jw_end(w) && fwrite(out.p, 1, out.n, stdout) == out.n &&
           putchar('\n') != EOF;
    buf_release(&out);
    return done;
}

static bool print_ids(const struct ids *ids)
{
    for (size_t i = 0; i < ids->n; i++)
        printf(i ? ",%d" : "%d", ids->p[i]);
    return putchar('\n') != EOF;
}

static enum st open_tok(const char *path, struct gguf **g, struct tok **t,
                        struct err *e)
{
    enum st st = gguf_open(g, path, e);

    return st ? st : vocab_open(t, *g, e);
}

static enum st encode(const struct tok *t, const struct args *a,
                      struct ids *ids, struct err *e)
{
    struct buf in;
    enum st st = ST_OK;

    buf_init(&in, BUF_FILE);
    if (!strcmp(a->rest, "-"))
        st = buf_read_fd(&in, STDIN_FILENO, "standard input", e);
    else
        buf_puts(&in, a->rest);
    if (!st && in.failed)
        st = err_set(e, ST_LIMIT, "", "more than %zu bytes of text", in.max);
    if (!st && tok_add_bos(t))
        ids_add(ids, tok_bos(t));
    if (!st)
        st = tok_encode(t, a->mode, in.p ? in.p : "", in.n, ids, e);
    buf_release(&in);
    return st;
}

int cmd_tokenize(int argc, char **argv)
{
    struct args a = {.mode = TOK_CONTENT};
    struct gguf *g = NULL;
    struct tok *t = NULL;
    struct ids ids;
    struct err e = {0};
    int rc = options(&a, argc, argv, help_tokenize);

    if (rc)
        return rc - 1;
    ids_init(&ids, IDS_MAX);
    if (open_tok(a.model, &g, &t, &e) || encode(t, &a, &ids, &e))
        rc = cli_fail("tokenize", &e);
    else
        rc = (a.json ? print_json(t, &ids) : print_ids(&ids)) ? 0 : 1;
    ids_release(&ids);
    tok_free(t);
    gguf_close(g);
    return rc;
}

/* What tokenize put in front, the token and the space, is left out. */
static enum st decode(const struct tok *t, const char *list, struct buf *out,
                      struct err *e)
{
    bool first = true;

    for (const char *s = list; *s;) {
        size_t n = strcspn(s, ",");
        struct span p;
        int64_t id;

        if (!num_parse_i64(s, n, 0, (int64_t)tok_count(t) - 1, &id))
            return err_set(e, ST_USAGE, "", "ids are numbers from 0 to %zu "
                           "with commas between them", tok_count(t) - 1);
        p = tok_piece(t, (int32_t)id);
        if (s == list && tok_add_bos(t) && id == tok_bos(t)) {
            p.n = 0;
        } else if (first) {
            first = false;
            if (tok_strips_first_space(t) && p.n && *p.s == ' ')
                p = (struct span){p.s + 1, p.n - 1};
        }
        buf_add(out, p.s, p.n);
        s += n;
        if (*s && !*++s)
            return err_set(e, ST_USAGE, "", "the list ends with a comma");
    }
    return out->failed
               ? err_set(e, ST_LIMIT, "", "more than %zu bytes of text",
                         out->max)
               : ST_OK;
}

int cmd_detokenize(int argc, char **argv)
{
    struct args a = {0};
    struct gguf *g = NULL;
    struct tok *t = NULL;
    struct buf out;
    struct err e = {0};
    int rc = options(&a, argc, argv, help_detokenize);

    if (rc)
        return rc - 1;
    buf_init(&out, BUF_FILE);
    if (open_tok(a.model, &g, &t, &e) || decode(t, a.rest, &out, &e))
        rc = cli_fail("detokenize", &e);
    else if (out.n && fwrite(out.p, 1, out.n, stdout) != out.n)
        rc = 1;
    else if (isatty(STDOUT_FILENO))
        putchar('\n'); /* elsewhere the bytes are exact */
    buf_release(&out);
    tok_free(t);
    gguf_close(g);
    return rc;
}
