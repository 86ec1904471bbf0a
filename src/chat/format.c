#include "chat/format_int.h"

#include "base/buf.h"
#include "chat/builtin.h"

#include <unistd.h>

#define FORMAT_FILE_MAX (1u << 20)

void format_free(struct format *f)
{
    if (!f)
        return;
    arena_release(&f->arena);
    free(f->source);
    free(f);
}

static enum st parse_file(struct format **out, const char *path,
                          const struct tok *t, struct err *e)
{
    struct buf b;
    enum st st;

    buf_init(&b, FORMAT_FILE_MAX);
    st = buf_read_file(&b, path, e);
    if (!st)
        st = format_parse(out, b.p ? b.p : "", b.n, path, t, e);
    buf_release(&b);
    return st;
}

/* The first built-in format whose markers this vocabulary knows. */
static enum st parse_builtin(struct format **out, const struct tok *t,
                             struct err *e)
{
    struct buf why;
    struct err one;
    enum st st;

    buf_init(&why, BUF_MESSAGE);
    for (const struct embedded *b = chat_builtin; b->name; b++) {
        char name[64];

        snprintf(name, sizeof(name), "built-in %s", b->name);
        st = format_parse(out, b->text, b->n, name, t, &one);
        if (!st) {
            buf_release(&why);
            return ST_OK;
        }
        buf_printf(&why, "; %s: %s", one.where, one.text);
    }
    st = err_set(e, ST_UNSUPPORTED, "chat format",
                 "no chat.json is given or lies beside the model%s",
                 why.p ? why.p : "");
    buf_release(&why);
    return st;
}

enum st format_find(struct format **out, const char *explicit_path,
                    const char *model_path, const struct tok *t,
                    struct err *e)
{
    *out = NULL;
    if (explicit_path)
        return parse_file(out, explicit_path, t, e);
    if (model_path) {
        const char *slash = strrchr(model_path, '/');
        struct buf path;
        enum st st;

        buf_init(&path, BUF_MESSAGE);
        if (slash)
            buf_add(&path, model_path, (size_t)(slash - model_path) + 1);
        buf_puts(&path, "chat.json");
        if (!path.failed && !access(path.p, F_OK)) {
            st = parse_file(out, path.p, t, e);
            buf_release(&path);
            return st;
        }
        buf_release(&path);
    }
    return parse_builtin(out, t, e);
}

const struct format_caps *format_caps(const struct format *f)
{
    return &f->caps;
}

const char *format_source(const struct format *f)
{
    return f->source;
}

const int32_t *format_stop_ids(const struct format *f, size_t *n)
{
    *n = f->stop_id >= 0;
    return &f->stop_id;
}

int32_t format_think_open_id(const struct format *f)
{
    return f->think_id[0];
}

int32_t format_think_close_id(const struct format *f)
{
    return f->think_id[1];
}

static void add_markup(struct segments *out, struct text t)
{
    segments_add(out, TOK_MARKUP, t.s, t.n);
}

static void add_content(struct segments *out, struct text t)
{
    segments_add(out, TOK_CONTENT, t.s, t.n);
}

/* What the opened turn says about reasoning. */
static enum st add_think(const struct format *f, enum think_mode mode,
                         struct segments *out, bool *open, struct err *e)
{
    *open = false;
    if (!f->caps.think) {
        if (mode == THINK_ON)
            return err_set(e, ST_INVALID, "reasoning_effort",
                           "this model's chat format has no reasoning");
        return ST_OK;
    }
    if (mode == THINK_DEFAULT)
        mode = f->think_default;
    if (mode == THINK_OFF && f->caps.think_forced)
        return err_set(e, ST_INVALID, "reasoning_effort",
                       "this model's chat format always reasons");
    if (mode == THINK_ON)
        add_markup(out, f->think[0]);
    else if (mode == THINK_OFF)
        add_markup(out, f->think_off);
    *open = mode == THINK_ON;
    return ST_OK;
}

/* The first message that belongs to the current turn: whatever follows the
 * last user message. Reasoning before it is not sent to the model again. */
static size_t current_turn(const struct chat_req *r)
{
    size_t i = r->n_messages;

    while (i && r->messages[i - 1].role != ROLE_USER)
        i--;
    return i;
}

enum st format_render(const struct format *f, const struct chat_req *r,
                      struct segments *out, bool *think_open, struct err *e)
{
    size_t current = current_turn(r);

    *think_open = false;
    add_markup(out, f->prelude);
    for (size_t i = 0; i < r->n_messages; i++) {
        const struct chat_msg *m = &r->messages[i];
        char where[48];

        if (m->role >= ROLE_TOOL || !f->turns[m->role].known) {
            snprintf(where, sizeof(where), "messages[%zu].role", i);
            return err_set(e, ST_INVALID, where,
                           "this model's chat format has no such turn");
        }
        add_markup(out, f->turns[m->role].prefix);
        if (m->reasoning.n && f->think_history && i >= current) {
            add_markup(out, f->think[0]);
            add_content(out, m->reasoning);
            add_markup(out, f->think[1]);
        }
        add_content(out, m->content);
        add_markup(out, f->turns[m->role].suffix);
    }
    add_markup(out, f->open);
    return add_think(f, r->think, out, think_open, e);
}
