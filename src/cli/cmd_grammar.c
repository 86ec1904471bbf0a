/* penstock grammar: would an answer in this grammar be this text? */
#include "base/utf8.h"
#include "chat/vocab.h"
#include "cli/cli.h"
#include "gram/forms.h"
#include "gram/mask.h"
#include "json/write.h"

#include <getopt.h>
#include <unistd.h>

#define STOPS 64
#define CHOICES 256
#define IDS_MAX (64u << 20)

enum { ACCEPTED = 0, REJECTED = 1, UNREAD = 2, REFUSED = 3, UNLIKE = 4 };

struct check {
    const char *schema, *regex, *choice, *model, *accepts;
    bool object, json;
    struct buf file, text;      /* the schema as read; TEXT */
    struct arena arena;         /* the schema as a tree; choices */
    struct gxs work;
    struct grammar *grammar;
    /* with a model */
    struct gguf *gguf;
    struct tok *tok;
    struct ids stops, ids;      /* ids: TEXT as the model would write it */
    struct gram_vocab *vocab;
    struct gram_pool *pool;
    uint32_t *mask;
    /* what came of it */
    size_t at;                  /* bytes that may come */
    bool accepted;
};

static const char help[] =
    "Usage: penstock grammar GRAMMAR [OPTION]... --accepts=TEXT\n"
    "Would an answer that is bound to GRAMMAR be TEXT ('-' reads standard\n"
    "input)? Prints 'accepted', or at which byte of TEXT it could not go on.\n"
    "\n"
    "GRAMMAR is one of\n"
    "      --schema=FILE   a JSON Schema ('-' reads standard input)\n"
    "      --regex=R       a regular expression, of the whole answer\n"
    "      --choice=A,B    one of these texts\n"
    "      --json-object   any JSON object\n"
    "\n"
    "  -m, --model=FILE    a GGUF file: also compare, at each token of TEXT,\n"
    "                      the mask of its whole vocabulary\n"
    "      --json          one JSON document, with the size of the grammar\n"
    "\n"
    "Exit status: 0 accepted, 1 not, 2 wrong usage or a file that cannot be\n"
    "read, 3 the grammar is refused (with the reason), 4 the masks differ\n"
    "from the grammar, which is a mistake of ours.\n";

static int options(struct check *c, int argc, char **argv)
{
    static const struct option longs[] = {
        {"schema", required_argument, NULL, 's'},
        {"regex", required_argument, NULL, 'r'},
        {"choice", required_argument, NULL, 'c'},
        {"json-object", no_argument, NULL, 'o'},
        {"model", required_argument, NULL, 'm'},
        {"accepts", required_argument, NULL, 'a'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    int o;

    while ((o = getopt_long(argc, argv, "m:h", longs, NULL)) != -1)
        switch (o) {
        case 's':
            c->schema = optarg;
            break;
        case 'r':
            c->regex = optarg;
            break;
        case 'c':
            c->choice = optarg;
            break;
        case 'o':
            c->object = true;
            break;
        case 'm':
            c->model = optarg;
            break;
        case 'a':
            c->accepts = optarg;
            break;
        case 'j':
            c->json = true;
            break;
        case 'h':
            fputs(help, stdout);
            return 1;
        default:
            return 1 + cli_try_help("grammar");
        }
    if (optind < argc)
        return 1 + cli_usage("grammar", "takes no argument; the text comes "
                                        "with --accepts");
    if (!!c->schema + !!c->regex + !!c->choice + c->object != 1)
        return 1 + cli_usage("grammar", "needs --schema, --regex, --choice "
                                        "or --json-object, one of them");
    if (!c->accepts)
        return 1 + cli_usage("grammar", "--accepts TEXT is missing");
    if (c->schema && !strcmp(c->schema, "-") && !strcmp(c->accepts, "-"))
        return 1 + cli_usage("grammar", "standard input is read once, for "
                                        "the schema or the text");
    return 0;
}

/* --- the grammar ---------------------------------------------------------- */

static enum st whole(const char *option, const char *s, struct err *e)
{
    if (utf8_valid(s, strlen(s), NULL))
        return ST_OK;
    return err_set(e, ST_INVALID, option, "must be UTF-8");
}

static enum st make_regex(struct check *c, int *rule, struct err *e)
{
    struct text pattern = {c->regex, strlen(c->regex)};
    enum st st = whole("--regex", c->regex, e);

    return st ? st : form_regex(rule, &c->work, pattern, e);
}

static enum st make_choice(struct check *c, int *rule, struct err *e)
{
    struct text *list = arena_array(&c->arena, CHOICES, sizeof(*list));
    const char *s = c->choice;
    size_t n = 0;
    enum st st;

    if (!list)
        return err_set(e, ST_NOMEM, "--choice", "out of memory");
    st = whole("--choice", s, e);
    if (st)
        return st;
    for (;;) {
        size_t len = strcspn(s, ",");

        if (n == CHOICES)
            return err_set(e, ST_LIMIT, "--choice", "at most %d texts",
                           CHOICES);
        if (!len)
            return err_set(e, ST_INVALID, "--choice",
                           "one of the texts is empty");
        list[n++] = (struct text){s, len};
        s += len;
        if (!*s++)
            break;
    }
    return form_choice(rule, &c->work, list, n, e);
}

static enum st make_json(struct check *c, int *rule, struct err *e)
{
    const struct json *schema = NULL;
    enum st st = ST_OK;

    if (c->schema)
        st = json_parse(&schema, &c->arena, c->file.p ? c->file.p : "",
                        c->file.n, e);
    return st ? st : form_json(rule, &c->work, schema, e);
}

static enum st make_grammar(struct check *c, struct err *e)
{
    enum st st;
    int rule;

    if (c->regex)
        st = make_regex(c, &rule, e);
    else if (c->choice)
        st = make_choice(c, &rule, e);
    else
        st = make_json(c, &rule, e);
    return st ? st : gram_compile(&c->grammar, &c->work, rule, e);
}

/* --- the model ------------------------------------------------------------ */

/* Bytes of an id that may come as text; none of control, structure and unused
 * ids. White space that a vocabulary lists as its user's is text. */
static struct span piece_of(const struct tok *t, int32_t id)
{
    struct span p = tok_piece(t, id);
    enum tok_type type = tok_type_of(t, id);

    if (type == TOK_USER)
        for (size_t i = 0; i < p.n; i++)
            if (!strchr(" \t\n\r", p.s[i]))
                p.n = 0;
    if (type == TOK_CONTROL || type == TOK_UNUSED || type == TOK_UNKNOWN)
        p.n = 0;
    return p;
}

static enum st open_masks(struct check *c, struct err *e)
{
    size_t n = tok_count(c->tok);
    struct span *pieces = mem_try_array(n ? n : 1, sizeof(*pieces));
    enum st st = ST_OK;

    if (!pieces)
        return err_set(e, ST_NOMEM, c->model, "no memory for its vocabulary");
    for (size_t i = 0; i < n; i++)
        pieces[i] = piece_of(c->tok, (int32_t)i);
    st = gram_vocab_new(&c->vocab, pieces, n, e);
    free(pieces);
    if (st)
        return st;
    c->pool = gram_pool_new(c->vocab);
    c->mask = mem_try_array((n + 31) / 32, sizeof(*c->mask));
    if (!c->pool || !c->mask)
        return err_set(e, ST_NOMEM, c->model, "no memory for masks");
    return ST_OK;
}

static enum st open_model(struct check *c, struct err *e)
{
    enum st st = gguf_open(&c->gguf, c->model, e);

    if (!st)
        st = vocab_open(&c->tok, c->gguf, e);
    if (!st)
        st = vocab_stop_ids(c->gguf, c->tok, &c->stops, e);
    if (!st)
        st = tok_encode(c->tok, TOK_CONTENT, c->text.p ? c->text.p : "",
                        c->text.n, &c->ids, e);
    return st ? st : open_masks(c, e);
}

static bool in_mask(const struct check *c, int32_t id)
{
    return c->mask[id / 32] >> (id % 32) & 1;
}

/* The mask of a place; ends as the grammar has them, or a mistake. */
static enum st mask_at(struct check *c, const struct gram_place *p, size_t at,
                       struct err *e)
{
    struct gram_ids ids = {.end = c->stops.p, .n_end = c->stops.n};
    size_t n = tok_count(c->tok);

    memset(c->mask, 0xff, (n + 31) / 32 * sizeof(*c->mask));
    if (!gram_mask_apply(c->pool, c->grammar, p, &ids, c->mask, n))
        return err_set(e, ST_NOMEM, "masks", "out of memory");
    for (size_t i = 0; i < c->stops.n; i++)
        if (in_mask(c, c->stops.p[i]) != gram_ends(c->grammar, p))
            return err_set(e, ST_INTERNAL, "masks", "the mask at byte %zu "
                           "has id %d, an end, as the grammar has not", at,
                           c->stops.p[i]);
    return ST_OK;
}

/*
 * The ids of TEXT one after another: each is in the mask where its bytes may
 * come, and only there. A space that the tokenizer has put in front is left
 * out, with the id that has it.
 */
static enum st walk_ids(struct check *c, struct err *e)
{
    struct gram_place p;
    size_t at = 0;

    gram_begin(c->grammar, &p);
    for (size_t i = 0; i < c->ids.n; i++) {
        int32_t id = c->ids.p[i];
        struct span piece = tok_piece(c->tok, id);
        bool front = !i && tok_strips_first_space(c->tok) && piece.n &&
                     *piece.s == ' ';
        bool alive;
        enum st st = mask_at(c, &p, at, e);

        if (st)
            return st;
        if (front)
            piece = (struct span){piece.s + 1, piece.n - 1};
        alive = gram_bytes(c->grammar, &p, piece.s, piece.n);
        if (!front && in_mask(c, id) != alive)
            return err_set(e, ST_INTERNAL, "masks", "the mask at byte %zu "
                           "%s id %d, the grammar %s", at,
                           alive ? "has not" : "has", id,
                           alive ? "has" : "has not");
        if (!alive)
            return ST_OK;
        at += piece.n;
    }
    return mask_at(c, &p, at, e);
}

/* --- the text ------------------------------------------------------------- */

static void walk_text(struct check *c)
{
    struct gram_place p;

    gram_begin(c->grammar, &p);
    while (c->at < c->text.n &&
           gram_bytes(c->grammar, &p, c->text.p + c->at, 1))
        c->at++;
    c->accepted = c->at == c->text.n && gram_ends(c->grammar, &p);
}

static enum st read_input(struct check *c, struct err *e)
{
    static const char in[] = "standard input";
    enum st st = ST_OK;

    if (c->schema && !strcmp(c->schema, "-"))
        st = buf_read_fd(&c->file, STDIN_FILENO, in, e);
    else if (c->schema)
        st = buf_read_file(&c->file, c->schema, e);
    if (st)
        return st;
    if (!strcmp(c->accepts, "-"))
        return buf_read_fd(&c->text, STDIN_FILENO, in, e);
    buf_puts(&c->text, c->accepts);
    return c->text.failed ? err_set(e, ST_LIMIT, "--accepts",
                                    "more than %zu bytes", c->text.max)
                          : ST_OK;
}

static void print_json(const struct check *c, const struct err *refused)
{
    struct buf out;
    struct jw *w;

    buf_init(&out, BUF_MESSAGE);
    w = jw_new(&out);
    jw_obj(w);
    if (refused) {
        jw_kstr(w, "refused", st_name(refused->st));
    } else {
        jw_kbool(w, "accepted", c->accepted);
        jw_kint(w, "at", (int64_t)c->at);
        if (c->model)
            jw_kint(w, "tokens", (int64_t)c->ids.n);
        jw_kint(w, "rules", (int64_t)c->grammar->n_rules);
        jw_kint(w, "states", (int64_t)c->grammar->n_states);
        jw_kint(w, "bytes", (int64_t)c->grammar->bytes);
    }
    jw_kint(w, "steps", (int64_t)c->work.work);
    jw_obj_end(w);
    if (jw_end(w))
        puts(out.p);
    buf_release(&out);
}

static void print_text(const struct check *c)
{
    if (c->accepted)
        puts("accepted");
    else if (c->at < c->text.n)
        printf("not accepted: byte %zu may not come\n", c->at);
    else
        printf("not accepted: the text may not end at byte %zu\n", c->at);
}

static int work(struct check *c, struct err *e)
{
    if (read_input(c, e))
        return UNREAD;
    if (make_grammar(c, e)) {
        if (c->json)
            print_json(c, e);
        return REFUSED;
    }
    if (c->model && open_model(c, e))
        return UNREAD;
    walk_text(c);
    if (c->model && walk_ids(c, e))
        return e->st == ST_INTERNAL ? UNLIKE : UNREAD;
    if (c->json)
        print_json(c, NULL);
    else
        print_text(c);
    return c->accepted ? ACCEPTED : REJECTED;
}

static void release(struct check *c)
{
    gram_pool_free(c->pool);
    gram_vocab_free(c->vocab);
    free(c->mask);
    ids_release(&c->ids);
    ids_release(&c->stops);
    tok_free(c->tok);
    gguf_close(c->gguf);
    gram_unref(c->grammar);
    gxs_release(&c->work);
    arena_release(&c->arena);
    buf_release(&c->text);
    buf_release(&c->file);
}

int cmd_grammar(int argc, char **argv)
{
    struct check c = {0};
    struct err e = {0};
    int rc = options(&c, argc, argv);

    if (rc)
        return rc - 1;
    buf_init(&c.file, BUF_FILE);
    buf_init(&c.text, BUF_FILE);
    arena_init(&c.arena, BUF_FILE);
    gxs_init(&c.work);
    ids_init(&c.stops, STOPS);
    ids_init(&c.ids, IDS_MAX);
    rc = work(&c, &e);
    if (rc > REJECTED)
        cli_fail("grammar", &e);
    release(&c);
    return rc;
}
