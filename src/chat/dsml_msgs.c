/* DSML: the conversation (spec waste.md 4.3). */
#include "chat/dsml_int.h"

#include "chat/jsontext.h"

/* messages[i]<rest>, in a buffer that the next call reuses. */
struct field {
    char s[128];
};

static const char *field_of(struct field *f, const struct chat_msg *m,
                            const char *rest)
{
    snprintf(f->s, sizeof(f->s), "messages[%zu]%s", m->sent_i, rest);
    return f->s;
}

static const char *field_at(struct field *f, const struct chat_msg *m,
                            const char *list, size_t j, const char *rest)
{
    snprintf(f->s, sizeof(f->s), "messages[%zu].%s[%zu]%s", m->sent_i, list, j,
             rest);
    return f->s;
}

/* --- content ------------------------------------------------------------- */

/* The parts of content; `join` between them. */
static enum st add_parts(struct dsml *d, const struct chat_msg *m,
                         struct text join)
{
    struct field f;
    enum st st = ST_OK;

    if (!m->parts)
        return dsml_caller(d, field_of(&f, m, ".content"), m->content);
    for (size_t j = 0; !st && j < m->n_parts; j++) {
        if (j)
            add_text(d->out, join);
        if (m->parts[j].type == PART_IMAGE)
            add_markup(d->out, dsml_image);
        else
            st = dsml_caller(d, field_at(&f, m, "content", j, ".text"),
                             m->parts[j].text);
    }
    return st;
}

/* Content where images have no place. */
static enum st add_words(struct dsml *d, const struct chat_msg *m)
{
    struct field f;

    for (size_t j = 0; m->parts && j < m->n_parts; j++)
        if (m->parts[j].type == PART_IMAGE)
            return err_set(d->e, ST_INVALID, field_at(&f, m, "content", j, ""),
                           "the chat format in use has images in user "
                           "messages and tool results only");
    return add_parts(d, m, TEXT(""));
}

enum st dsml_system(struct dsml *d, const struct chat_msg *m)
{
    return add_words(d, m);
}

/* --- calls --------------------------------------------------------------- */

/* A tag is three segments: bracket, token, and the rest with its space. */
static void add_tag(struct dsml *d, struct text bracket, struct text rest)
{
    add_text(d->out, bracket);
    add_markup(d->out, TEXT(DSML_TAG));
    add_text(d->out, rest);
}

/* A name stands in quotes without escapes. */
static enum st check_name(struct dsml *d, const char *field, struct text t)
{
    if (t.n && (memchr(t.s, '"', t.n) || memchr(t.s, '>', t.n)))
        return err_set(d->e, ST_INVALID, field,
                       "has a name with \" or >, which the chat format in "
                       "use cannot write");
    return ST_OK;
}

/* <| name="NAME"REST>, where NAME is a caller's. */
static enum st add_named_tag(struct dsml *d, const char *field,
                             const char *tag, struct text name,
                             const char *rest)
{
    struct buf b;
    enum st st = check_name(d, field, name);

    if (st)
        return st;
    buf_init(&b, BUF_ANSWER);
    buf_printf(&b, " %s name=\"", tag);
    buf_add(&b, name.s, name.n);
    buf_printf(&b, "\"%s>", rest);
    add_text(d->out, TEXT("<"));
    add_markup(d->out, TEXT(DSML_TAG));
    return dsml_caller_buf(d, field, &b);
}

static enum st add_parameter(struct dsml *d, const char *field,
                             struct text key, const struct json *v,
                             struct text raw)
{
    bool string = !v || v->type == JSON_STR;
    enum st st = add_named_tag(d, field, "parameter", key,
                               string ? " string=\"true\""
                                      : " string=\"false\"");
    struct buf b;

    if (st)
        return st;
    if (string) {
        st = dsml_caller(d, field, v ? v->str : raw);
    } else {
        buf_init(&b, BUF_ANSWER);
        jsontext(&b, v, JT_SPACED);
        st = dsml_caller_buf(d, field, &b);
    }
    add_tag(d, TEXT("</"), TEXT(" parameter>"));
    return st;
}

/* The object in a JSON string in a JSON string, which some clients send. */
static const struct json *decode_twice(struct dsml *d, struct text raw)
{
    const struct json *v;

    if (json_parse(&v, d->out->arena, raw.s, raw.n, NULL) ||
        v->type != JSON_STR ||
        json_parse(&v, d->out->arena, v->str.s, v->str.n, NULL) ||
        v->type != JSON_OBJ)
        return NULL;
    return v;
}

static enum st add_call(struct dsml *d, const struct chat_msg *m, size_t j)
{
    const struct chat_call *c = &m->calls[j];
    const struct json *args = c->args;
    struct field f;
    enum st st;

    if (!c->name.n)
        return err_set(d->e, ST_INVALID,
                       field_at(&f, m, "tool_calls", j, ".function.name"),
                       "is missing");
    st = add_named_tag(d, field_at(&f, m, "tool_calls", j, ".function.name"),
                       "invoke", c->name, "");
    if (st)
        return st;
    add_text(d->out, TEXT("\n"));
    field_at(&f, m, "tool_calls", j, ".function.arguments");
    if (!args && c->raw.n)
        args = decode_twice(d, c->raw);
    if (!args && c->raw.n)
        st = add_parameter(d, f.s, TEXT("arguments"), NULL, c->raw);
    for (const struct json *v = args ? args->child : NULL; !st && v;
         v = v->next) {
        if (v != args->child)
            add_text(d->out, TEXT("\n"));
        st = add_parameter(d, f.s, v->key, v, TEXT(""));
    }
    add_text(d->out, TEXT("\n"));
    add_tag(d, TEXT("</"), TEXT(" invoke>"));
    return st;
}

static enum st add_calls(struct dsml *d, const struct chat_msg *m)
{
    enum st st = ST_OK;

    add_text(d->out, TEXT("\n\n"));
    add_tag(d, TEXT("<"), TEXT(" calls>"));
    for (size_t j = 0; !st && j < m->n_calls; j++) {
        add_text(d->out, TEXT("\n"));
        st = add_call(d, m, j);
    }
    add_text(d->out, TEXT("\n"));
    add_tag(d, TEXT("</"), TEXT(" calls>"));
    return st;
}

/* --- turns --------------------------------------------------------------- */

void dsml_open_turn(struct dsml *d, bool think)
{
    add_markup(d->out, TEXT(DSML_ASSISTANT));
    add_markup(d->out, think ? TEXT(DSML_THINK) : TEXT(DSML_THINK_END));
}

static enum st add_assistant(struct dsml *d, const struct chat_msg *m,
                             bool think)
{
    struct field f;
    enum st st = ST_OK;

    dsml_open_turn(d, think);
    if (think) {
        st = dsml_caller(d, field_of(&f, m, ".reasoning_content"),
                         m->reasoning);
        add_markup(d->out, TEXT(DSML_THINK_END));
    }
    if (!st)
        st = add_words(d, m);
    if (!st && m->n_calls)
        st = add_calls(d, m);
    add_markup(d->out, TEXT(DSML_EOS));
    return st;
}

static enum st add_block(struct dsml *d, const struct chat_msg *m)
{
    enum st st;

    if (m->role == ROLE_USER)
        return add_parts(d, m, TEXT("\n\n"));
    add_text(d->out, TEXT("<tool_result>"));
    st = add_parts(d, m, TEXT("\n\n"));
    add_text(d->out, TEXT("</tool_result>"));
    return st;
}

static bool is_users(const struct chat_msg *m)
{
    return m->role == ROLE_USER || m->role == ROLE_TOOL;
}

/* Messages of the user and results that follow each other are one turn. */
static enum st add_user(struct dsml *d, size_t *i)
{
    enum st st = ST_OK;
    size_t first = *i;

    add_markup(d->out, TEXT(DSML_USER));
    for (; !st && *i < d->r->n_messages && is_users(&d->msgs[*i]); ++*i) {
        if (*i > first)
            add_text(d->out, TEXT("\n\n"));
        st = add_block(d, &d->msgs[*i]);
    }
    return st;
}

enum st dsml_messages(struct dsml *d, size_t from)
{
    enum st st = ST_OK;
    size_t i = from;

    while (!st && i < d->r->n_messages) {
        const struct chat_msg *m = &d->msgs[i];

        if (is_users(m)) {
            st = add_user(d, &i);
            continue;
        }
        if (m->role == ROLE_SYSTEM) {
            add_markup(d->out, TEXT(DSML_SYSTEM));
            st = dsml_system(d, m);
        } else {
            st = add_assistant(d, m,
                               d->think && (d->keep || i >= d->turn));
        }
        i++;
    }
    return st;
}
