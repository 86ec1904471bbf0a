/* penstock parse: a reply as clients would see it, after any model ran. */
#include "api/body.h"
#include "api/emit_chunks.h"
#include "chat/format.h"
#include "chat/reply.h"
#include "chat/textreply.h"
#include "chat/vocab.h"
#include "cli/cli.h"
#include "cli/load.h"

#include <getopt.h>

#define STOPS 64

struct parse {
    const char *format, *tools_file, *model, *input;
    bool json, cut, think_open;
    const struct dialect *dialect; /* without a model; NULL: plain */
    struct gguf *gguf;             /* with one */
    struct tok *tok;
    struct format *chat;
    struct ids stops;
    struct arena arena;
    struct buf text;               /* the input, valid UTF-8 */
    const struct json *list;       /* the input as pieces; NULL: as text */
    struct tools *tools;           /* NULL: none were offered */
    bool parallel;
    /* one of them reads */
    struct reply *reply;
    struct textreply *textreply;
    struct buf reasoning, content; /* what came out, beside the calls */
};

static const char help[] =
    "Usage: penstock parse --format=NAME [OPTION]... [FILE]\n"
    "       penstock parse --model=FILE [OPTION]... [FILE]\n\n"
    "A model's reply into reasoning, content and tool calls. FILE (standard\n"
    "input without one) is text, or a list of tokens:\n"
    "  [{\"id\":151657,\"piece\":\"<tool_call>\"},{\"id\":null,\"piece\":\"x\"}]\n"
    "In text a marker counts by its spelling; in a list only where it is one\n"
    "piece with an id.\n\n"
    "      --format=NAME   how the model writes calls: plain";

static const char help_end[] =
    "\n"
    "  -m, --model=FILE    a GGUF file: its chat format, its token ids\n"
    "      --tools=FILE    what was offered: a list of tools, or a request\n"
    "      --think-open    the prompt opened the reasoning\n"
    "      --cut           a limit ended the reply, not the model\n"
    "      --json          one JSON document: the message\n";

static void print_help(void)
{
    fputs(help, stdout);
    for (const char *const *n = dialect_names(); *n; n++)
        printf(",%s%s", n == dialect_names() + 4 ? "\n                      "
                                                 : " ",
               *n);
    fputs(help_end, stdout);
}

/* 0: go on; otherwise the exit status plus one. */
static int find_dialect(struct parse *p)
{
    if (!p->format == !p->model)
        return 1 + cli_usage("parse", "needs --format or --model, one of "
                                      "them");
    if (!p->format || !strcmp(p->format, "plain"))
        return 0;
    p->dialect = dialect_find(p->format);
    return p->dialect ? 0 : 1 + cli_usage("parse", "no such format");
}

static int options(struct parse *p, int argc, char **argv)
{
    static const struct option longs[] = {
        {"format", required_argument, NULL, 'f'},
        {"model", required_argument, NULL, 'm'},
        {"tools", required_argument, NULL, 't'},
        {"think-open", no_argument, NULL, 'o'},
        {"cut", no_argument, NULL, 'c'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    int c;

    while ((c = getopt_long(argc, argv, "m:h", longs, NULL)) != -1)
        switch (c) {
        case 'f':
            p->format = optarg;
            break;
        case 'm':
            p->model = optarg;
            break;
        case 't':
            p->tools_file = optarg;
            break;
        case 'o':
            p->think_open = true;
            break;
        case 'c':
            p->cut = true;
            break;
        case 'j':
            p->json = true;
            break;
        case 'h':
            print_help();
            return 1;
        default:
            return 1 + cli_try_help("parse");
        }
    if (optind + 1 < argc)
        return 1 + cli_usage("parse", "takes one file, the reply");
    p->input = optind < argc ? argv[optind] : "-";
    return find_dialect(p);
}

/* --- what is read -------------------------------------------------------- */

static enum st open_model(struct parse *p, struct err *e)
{
    struct format_from from = {.model_path = p->model};
    enum st st;

    if (!p->model)
        return ST_OK;
    st = gguf_open(&p->gguf, p->model, e);
    if (!st)
        st = vocab_open(&p->tok, p->gguf, e);
    if (!st)
        st = vocab_stop_ids(p->gguf, p->tok, &p->stops, e);
    from.gguf = p->gguf;
    from.tok = p->tok;
    return st ? st : format_find(&p->chat, &from, e);
}

static bool has(const struct json *v, const char *key)
{
    const struct json *member = json_get(v, key);

    return member && member->type != JSON_NULL;
}

/* The bytes in[0..n) are `v`: a list of tools, or an object that has them.
 * Without messages it gets one, behind its own members: of equal keys the
 * last counts. */
static enum st make_request(struct buf *out, const struct json *v,
                            const char *in, size_t n, struct err *e)
{
    static const char ask[] =
        "\"messages\":[{\"role\":\"user\",\"content\":\"\"}]";

    if (v->type == JSON_ARR) {
        buf_printf(out, "{%s,\"tools\":", ask);
        buf_add(out, in, n);
        buf_puts(out, "}");
        return ST_OK;
    }
    if (has(v, "messages")) {
        buf_add(out, in, n);
        return ST_OK;
    }
    if (!has(v, "tools"))
        return err_set(e, ST_INVALID, "",
                       "must be a list of tools, or an object with tools");
    while (in[n - 1] != '}')
        n--;
    buf_add(out, in, n - 1);
    buf_printf(out, ",%s}", ask);
    return ST_OK;
}

static enum st parse_tools(struct parse *p, const struct buf *in,
                           struct body *body, struct err *e)
{
    const struct json *v;
    struct buf request;
    struct err one;
    enum st st = json_parse(&v, &p->arena, in->p ? in->p : "", in->n, &one);

    buf_init(&request, 2 * BUF_EVENT);
    if (!st)
        st = make_request(&request, v, in->p, in->n, &one);
    if (!st)
        st = body_parse_chat(body, &p->arena,
                             (struct text){request.p, request.n}, &one);
    buf_release(&request);
    return st ? err_set(e, st, p->tools_file, "%s%s%s", one.where,
                        one.where[0] ? ": " : "", one.text)
              : ST_OK;
}

static enum st read_tools(struct parse *p, struct err *e)
{
    struct buf in;
    struct body body;
    enum st st;

    p->parallel = true;
    if (!p->tools_file)
        return ST_OK;
    buf_init(&in, BUF_EVENT);
    st = buf_read_file(&in, p->tools_file, e);
    if (!st)
        st = parse_tools(p, &in, &body, e);
    if (!st) {
        p->parallel = body.chat.parallel_calls;
        if (body.n_offered)
            p->tools = tools_new(body.offered, body.n_offered);
        if (p->tools && body.chat.tool_choice >= TOOLS_REQUIRED)
            tools_forced(p->tools);
        if (body.n_offered && !p->tools)
            st = err_set(e, ST_NOMEM, p->tools_file, "no memory for it");
    }
    buf_release(&in);
    return st;
}

static bool is_pieces(const struct json *v)
{
    if (v->type != JSON_ARR || !v->n)
        return false;
    for (const struct json *c = v->child; c; c = c->next) {
        const struct json *piece = json_get(c, "piece");

        if (!piece || piece->type != JSON_STR)
            return false;
    }
    return true;
}

static enum st read_input(struct parse *p, struct err *e)
{
    const struct json *v;
    struct buf in;
    enum st st;

    buf_init(&in, BUF_ANSWER);
    if (!strcmp(p->input, "-"))
        st = buf_read_fd(&in, 0, "standard input", e);
    else
        st = buf_read_file(&in, p->input, e);
    if (!st)
        load_utf8(&p->text, in.p ? in.p : "", in.n);
    buf_release(&in);
    if (!st && !json_parse(&v, &p->arena, p->text.p ? p->text.p : "",
                           p->text.n, NULL) &&
        is_pieces(v))
        p->list = v;
    return st;
}

/* --- reading ------------------------------------------------------------- */

/* How the model's format spells a side of the reasoning pair: the token, not
 * the white space that a prompt puts around it. NULL: it has none. */
static const char *think_of(struct parse *p, bool close)
{
    int32_t id = close ? format_think_close_id(p->chat)
                       : format_think_open_id(p->chat);
    struct text t = format_think_text(p->chat, close);
    struct span s = id < 0 ? (struct span){t.s, t.n} : tok_piece(p->tok, id);

    return s.n ? arena_dup(&p->arena, s.s, s.n) : NULL;
}

static enum st open_reply(struct parse *p, struct err *e)
{
    const struct reply_config rc = {
        .tok = p->tok,
        .format = p->chat,
        .think_open = p->think_open,
        .tools = p->tools,
        .parallel_calls = p->parallel,
        .stop_ids = p->stops.p,
        .n_stop_ids = p->stops.n,
    };
    struct turn_config tc = {
        .dialect = p->chat ? format_dialect(p->chat) : p->dialect,
        .think = {"<think>", "</think>"},
        .think_open = p->think_open,
        .tools = p->tools,
        .parallel_calls = p->parallel,
    };

    if (p->list && p->chat) {
        p->reply = reply_new(&rc);
    } else {
        for (int side = 0; side < THINK_MARKS && p->chat; side++)
            tc.think[side] = think_of(p, side == THINK_CLOSE);
        p->textreply = textreply_new(&tc);
    }
    if (p->reply || p->textreply)
        return ST_OK;
    return err_set(e, ST_NOMEM, p->input, "no memory for this reply");
}

static enum st bad_piece(struct err *e, const struct parse *p, size_t i,
                         const char *text)
{
    char where[160];

    snprintf(where, sizeof(where), "%.100s: [%zu].id", p->input, i);
    return err_set(e, ST_FORMAT, where, "%s", text);
}

/* A piece by the vocabulary: its id, or the ids of ordinary text. */
static enum st feed_ids(struct parse *p, const struct json *id,
                        const struct json *piece, size_t i, struct err *e)
{
    struct ids v;
    enum st st = ST_OK;

    if (id && !(id->is_int && id->i >= 0 &&
                id->i < (int64_t)tok_count(p->tok)))
        return bad_piece(e, p, i, "is not in the vocabulary");
    ids_init(&v, piece->str.n + 1);
    if (id)
        ids_add(&v, (int32_t)id->i);
    else
        st = tok_encode(p->tok, TOK_CONTENT, piece->str.s, piece->str.n, &v,
                        e);
    for (size_t k = 0; k < v.n && !st; k++)
        reply_feed(p->reply, v.p[k], &p->reasoning, &p->content);
    ids_release(&v);
    return st;
}

static enum st feed_list(struct parse *p, struct err *e)
{
    size_t i = 0;
    enum st st = ST_OK;

    for (const struct json *c = p->list->child; c && !st; c = c->next, i++) {
        const struct json *id = json_get(c, "id");
        const struct json *piece = json_get(c, "piece");

        if (id && id->type == JSON_NULL)
            id = NULL;
        if (id && id->type != JSON_NUM)
            return bad_piece(e, p, i, "must be a number or null");
        if (p->reply)
            st = feed_ids(p, id, piece, i, e);
        else if (id)
            textreply_token(p->textreply, piece->str.s, piece->str.n,
                            &p->reasoning, &p->content);
        else
            textreply_plain(p->textreply, piece->str.s, piece->str.n,
                            &p->reasoning, &p->content);
    }
    return st;
}

static enum st work(struct parse *p, struct err *e)
{
    enum st st = open_model(p, e);

    if (!st)
        st = read_tools(p, e);
    if (!st)
        st = read_input(p, e);
    if (!st)
        st = open_reply(p, e);
    if (!st && p->list)
        st = feed_list(p, e);
    else if (!st)
        textreply_feed(p->textreply, p->text.p ? p->text.p : "", p->text.n,
                       &p->reasoning, &p->content);
    if (!st && p->reply)
        reply_end(p->reply, !p->cut, &p->reasoning, &p->content);
    else if (!st)
        textreply_end(p->textreply, !p->cut, &p->reasoning, &p->content);
    return st;
}

/* --- what is printed ----------------------------------------------------- */

static struct text text_of(const struct buf *b)
{
    return (struct text){b->p ? b->p : "", b->n};
}

static const struct calls *calls_of(const struct parse *p)
{
    return p->reply ? reply_calls(p->reply) : textreply_calls(p->textreply);
}

static const char *finish_of(const struct parse *p)
{
    if (p->cut)
        return "length";
    return calls_of(p)->shown ? "tool_calls" : "stop";
}

static void print_json(struct parse *p, struct buf *out)
{
    struct jw *w = jw_new(out);

    jw_obj(w);
    emit_chat.form->whole(w, text_of(&p->reasoning), text_of(&p->content),
                          calls_of(p));
    jw_kstr(w, "finish_reason", finish_of(p));
    jw_obj_end(w);
    if (!jw_end(w))
        out->failed = true;
    buf_putc(out, '\n');
}

/* `word` and a JSON string. */
static void line(struct buf *out, const char *word, struct text t)
{
    struct jw *w;

    buf_printf(out, "%-10s", word);
    w = jw_new(out);
    jw_strn(w, t.s, t.n);
    if (!jw_end(w))
        out->failed = true;
    buf_putc(out, '\n');
}

static void print_text(struct parse *p, struct buf *out)
{
    const struct calls *calls = calls_of(p);

    if (p->reasoning.n)
        line(out, "reasoning", text_of(&p->reasoning));
    if (p->content.n)
        line(out, "content", text_of(&p->content));
    for (size_t k = 0; k < calls->n; k++) {
        const struct tool_call *c = calls->p[k];

        if (c->dropped || c->withdrawn)
            continue;
        line(out, "call", (struct text){c->name, strlen(c->name)});
        line(out, "arguments", text_of(&c->args));
    }
    buf_printf(out, "%-10s%s\n", "finish", finish_of(p));
}

static int print(struct parse *p)
{
    struct buf out;
    bool done;

    buf_init(&out, BUF_FILE);
    if (p->json)
        print_json(p, &out);
    else
        print_text(p, &out);
    done = !out.failed;
    if (done)
        fwrite(out.p, 1, out.n, stdout);
    buf_release(&out);
    return done ? 0 : 1;
}

static void release(struct parse *p)
{
    reply_free(p->reply);
    textreply_free(p->textreply);
    tools_free(p->tools);
    buf_release(&p->text);
    buf_release(&p->reasoning);
    buf_release(&p->content);
    ids_release(&p->stops);
    arena_release(&p->arena);
    format_free(p->chat);
    tok_free(p->tok);
    gguf_close(p->gguf);
}

int cmd_parse(int argc, char **argv)
{
    struct parse p = {0};
    struct err e = {0};
    int rc = options(&p, argc, argv);

    if (rc)
        return rc - 1;
    arena_init(&p.arena, BUF_FILE);
    buf_init(&p.text, BUF_ANSWER);
    buf_init(&p.reasoning, BUF_ANSWER);
    buf_init(&p.content, BUF_ANSWER);
    ids_init(&p.stops, STOPS);
    rc = work(&p, &e) ? cli_fail("parse", &e) : print(&p);
    release(&p);
    return rc;
}
