#include "chat/format_int.h"

#include "base/ascii.h"

#define THINK_ARENA 4096

struct format *format_new(const struct format_kind *kind, const char *name,
                          const char *source)
{
    struct format *f = mem_new(struct format);

    f->kind = kind;
    f->name = name;
    f->source = mem_dup(source);
    arena_init(&f->arena, FORMAT_ARENA);
    f->think_id[0] = f->think_id[1] = -1;
    return f;
}

void format_free(struct format *f)
{
    if (!f)
        return;
    if (f->kind->free)
        f->kind->free(f);
    arena_release(&f->arena);
    free(f->source);
    free(f);
}

int32_t format_marker_id(const struct tok *t, const char *marker)
{
    int32_t id = tok_find(t, marker, strlen(marker));
    enum tok_type type = id < 0 ? TOK_NORMAL : tok_type_of(t, id);

    return type == TOK_CONTROL || type == TOK_USER ? id : -1;
}

const struct format_caps *format_caps(const struct format *f)
{
    return &f->caps;
}

const char *format_name(const struct format *f)
{
    return f->name;
}

const char *format_source(const struct format *f)
{
    return f->source;
}

void format_describe(const struct format *f, struct buf *out)
{
    const struct format_caps *c = &f->caps;

    buf_puts(out, !c->think         ? "no reasoning channel"
                  : c->think_forced ? "a reasoning channel, always open"
                                    : "a reasoning channel");
    buf_puts(out, c->tools ? ", tools" : ", no tools");
    buf_puts(out, c->images ? ", images" : ", no images");
    if (!c->efforts && !c->effort_max)
        return;
    buf_puts(out, ", efforts");
    for (size_t i = 0; c->efforts && c->efforts[i]; i++)
        buf_printf(out, "%s%s", i ? "/" : " ", c->efforts[i]);
    if (c->effort_max)
        buf_printf(out, " 1-%d", c->effort_max);
}

const int32_t *format_stop_ids(const struct format *f, size_t *n)
{
    *n = f->n_stop_ids;
    return f->stop_ids;
}

struct text format_think_text(const struct format *f, bool close)
{
    return f->think[close];
}

int32_t format_think_open_id(const struct format *f)
{
    return f->think_id[0];
}

int32_t format_think_close_id(const struct format *f)
{
    return f->think_id[1];
}

/* Without the vocabulary's BOS: they stand in an answer. */
static enum st encode(const struct format *f, const struct segments *s,
                      struct ids *out, struct err *e)
{
    enum st st = s->failed ? ST_NOMEM : ST_OK;

    for (size_t i = 0; i < s->n && !st; i++)
        st = tok_encode(f->tok, s->p[i].mode, s->p[i].text.s, s->p[i].text.n,
                        out, e);
    if (st || out->failed)
        return err_set(e, ST_NOMEM, "", "no memory for this request");
    return ST_OK;
}

void format_think_ids(const struct format *f, bool close, struct ids *out)
{
    struct segments s;
    struct arena a;

    out->n = 0;
    if (f->think_id[close] >= 0)
        ids_add(out, f->think_id[close]);
    if (!f->kind->think || !f->tok)
        return;
    arena_init(&a, THINK_ARENA);
    segments_init(&s, &a);
    f->kind->think(&s, close, false);
    if (encode(f, &s, out, NULL) || out->n > THINK_IDS_MAX)
        out->n = 0;
    arena_release(&a);
}

static struct text trimmed(struct text t)
{
    struct span s = ascii_trim(t.s, t.n);

    return (struct text){s.s, s.n};
}

/* Blank lines are part of what a model reads; where it reads nothing of its
 * own before the answer, and where the vocabulary would put a space before
 * them, only what is structure counts. */
enum st format_think_cut(const struct format *f, struct text sentence,
                         struct ids *out, struct err *e)
{
    struct segments s;
    struct arena a;
    enum st st;

    if (!f->tok || (!f->cut.n && !f->kind->think))
        return err_set(e, ST_UNSUPPORTED, "model",
                       "this chat format has no reasoning channel");
    arena_init(&a, THINK_ARENA);
    segments_init(&s, &a);
    add_text(&s, sentence);
    if (f->kind->think)
        f->kind->think(&s, true, true);
    else if (!sentence.n || tok_strips_first_space(f->tok))
        add_markup(&s, trimmed(f->cut));
    else
        add_markup(&s, f->cut);
    st = encode(f, &s, out, e);
    arena_release(&a);
    return st;
}

const struct dialect *format_dialect(const struct format *f)
{
    return f->dialect;
}

const struct callform *format_callform(const struct format *f)
{
    return f->callform || !f->dialect ? f->callform : f->dialect->forms;
}

int32_t format_mark_id(const struct format *f, int k)
{
    for (int i = 0; f->dialect && f->dialect->markers[i]; i++)
        if (i == k)
            return f->tok ? format_marker_id(f->tok, f->dialect->markers[k])
                          : -1;
    return -1;
}

bool format_strict_end(const struct format *f)
{
    return f->strict_end;
}

size_t format_current_turn(const struct chat_req *r)
{
    size_t i = r->n_messages;

    while (i && r->messages[i - 1].role != ROLE_USER)
        i--;
    return i;
}

struct text format_keep(struct segments *out, const struct buf *b)
{
    char *s = b->failed ? NULL : arena_dup(out->arena, b->n ? b->p : "", b->n);

    if (!s) {
        out->failed = true;
        return TEXT("");
    }
    return (struct text){s, b->n};
}

/* --- what a format cannot say -------------------------------------------- */

static enum st refuse(struct err *e, const char *field, const char *text)
{
    return err_set(e, ST_INVALID, field, "the chat format in use %s", text);
}

/* The words it knows, in the message; `medium` is what clients send most and
 * some formats lack. */
static enum st bad_effort(const struct format_caps *c, struct text effort,
                          struct err *e)
{
    bool medium = text_is(effort, "medium");
    struct buf words;
    enum st st;

    buf_init(&words, BUF_MESSAGE);
    for (size_t i = 0; c->efforts[i]; i++)
        buf_printf(&words, "%s%s", i ? ", " : "", c->efforts[i]);
    st = err_set(e, ST_INVALID, "reasoning_effort",
                 "%saccepted by the chat format in use are %s, and none",
                 medium ? "medium is not known; " : "",
                 words.p ? words.p : "");
    buf_release(&words);
    return st;
}

static enum st check_think(const struct format_caps *c,
                           const struct chat_req *r, struct err *e)
{
    bool effort = r->effort.n && (c->efforts || c->effort_max);

    if (r->think == THINK_ON && !c->think && !effort)
        return refuse(e, "reasoning_effort", "has no reasoning");
    if (r->think == THINK_OFF && c->think_forced)
        return refuse(e, "reasoning_effort", "always reasons");
    if (r->effort_n >= 0 && !c->efforts && !c->effort_max &&
        r->think != THINK_OFF)
        return refuse(e, "reasoning_effort", "takes no effort in numbers");
    if (!r->effort.n || !c->efforts || r->think == THINK_OFF)
        return ST_OK;
    for (size_t i = 0; c->efforts[i]; i++)
        if (text_is(r->effort, c->efforts[i]))
            return ST_OK;
    return bad_effort(c, r->effort, e);
}

static enum st check_msg(const struct format_caps *c, const struct chat_msg *m,
                         struct err *e)
{
    char where[64];

    if (m->role == ROLE_SYSTEM && !c->system) {
        snprintf(where, sizeof(where), "messages[%zu].role", m->sent_i);
        return refuse(e, where, "has no system turn");
    }
    if (m->role == ROLE_TOOL && !c->tools) {
        snprintf(where, sizeof(where), "messages[%zu].role", m->sent_i);
        return refuse(e, where, "has no tools");
    }
    if (m->n_calls && !c->tools) {
        snprintf(where, sizeof(where), "messages[%zu].tool_calls", m->sent_i);
        return refuse(e, where, "has no tools");
    }
    if (m->tools && c->late_system != LATE_SYSTEM_TOOLS) {
        snprintf(where, sizeof(where), "messages[%zu].tools", m->sent_i);
        return refuse(e, where, "takes tools at the top only");
    }
    for (size_t j = 0; j < m->n_parts && !c->images; j++)
        if (m->parts[j].type == PART_IMAGE) {
            snprintf(where, sizeof(where), "messages[%zu].content[%zu]",
                     m->sent_i, j);
            return refuse(e, where, "has no place for images");
        }
    return ST_OK;
}

/* A system message behind the conversation's begin. */
static enum st check_late_system(const struct format_caps *c,
                                 const struct chat_req *r, struct err *e)
{
    size_t i = 0;
    char where[48];

    if (c->late_system == LATE_SYSTEM_YES)
        return ST_OK;
    while (i < r->n_messages && r->messages[i].role == ROLE_SYSTEM)
        i++;
    for (; i < r->n_messages; i++) {
        const struct chat_msg *m = &r->messages[i];

        if (m->role != ROLE_SYSTEM ||
            (m->tools && c->late_system == LATE_SYSTEM_TOOLS))
            continue;
        snprintf(where, sizeof(where), "messages[%zu].role", m->sent_i);
        return err_set(e, ST_INVALID, where,
                       "a system message must come before the conversation "
                       "begins");
    }
    return ST_OK;
}

static enum st check(const struct format *f, const struct chat_req *r,
                     struct err *e)
{
    const struct format_caps *c = &f->caps;
    enum st st = check_think(c, r, e);

    if (st)
        return st;
    if (r->tools && r->tool_choice != TOOLS_NONE && !c->tools)
        return refuse(e, "tools", "has no tools");
    for (size_t i = 0; i < r->n_messages; i++) {
        st = check_msg(c, &r->messages[i], e);
        if (st)
            return st;
    }
    return check_late_system(c, r, e);
}

enum st format_render(const struct format *f, const struct chat_req *r,
                      struct segments *out, bool *think_open, struct err *e)
{
    enum st st = check(f, r, e);

    *think_open = false;
    if (!st)
        st = f->kind->render(f, r, out, think_open, e);
    if (!st && out->failed)
        st = err_set(e, ST_LIMIT, "messages",
                     "the prompt has too many parts for a request");
    return st;
}
