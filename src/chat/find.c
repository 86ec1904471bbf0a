/* Which format is it? Each kind says why it is not. */
#include "chat/format_int.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "chat/builtin.h"
#include "gguf/gguf.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT_FILE_MAX (1u << 20)
#define REASON_MAX 76 /* bytes of one reason among several */
#define GGUF_TEMPLATE "tokenizer.chat_template"

static const char *const names[] = {
    "auto", "jinja", "xtml", "kimi", "glm", "dsml", "chatjson", NULL,
};

const char *const *format_names(void)
{
    return names;
}

static bool named(const struct format_from *from, const char *name)
{
    return from->name && !strcmp(from->name, name);
}

/* --- files --------------------------------------------------------------- */

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);

    return n >= k && !strcmp(s + n - k, end);
}

/* `path` is a setting's value that was taken for no name. */
static enum st no_such(const char *path, struct err *e)
{
    struct buf all;
    enum st st;

    buf_init(&all, BUF_MESSAGE);
    for (size_t i = 0; names[i]; i++) {
        if (!strcmp(names[i], path)) {
            buf_release(&all);
            return err_set(e, ST_IO, path,
                           "no such file; it is the name of a format");
        }
        buf_printf(&all, "%s, ", names[i]);
    }
    st = err_set(e, ST_IO, path,
                 "no such file, and no format of that name; accepted are "
                 "%sor a file", all.p);
    buf_release(&all);
    return st;
}

/* What is no regular file may never end, or never begin. */
static enum st check_file(const char *path, struct err *e)
{
    struct stat s;
    bool there = !stat(path, &s);

    if (!there && (errno == ENOENT || errno == ENOTDIR))
        return no_such(path, e);
    if (there && !S_ISREG(s.st_mode))
        return err_set(e, ST_IO, path,
                       "is not a regular file; accepted are a chat.json and "
                       "a template (*.jinja)");
    return ST_OK; /* other errors are buf_read_file's */
}

/* A template when asked for one, else a chat.json. */
static enum st from_path(struct format **out, const struct format_from *from,
                         const char *path, struct err *e)
{
    bool jinja = named(from, "jinja") ||
                 (ends_with(path, ".jinja") && !named(from, "chatjson"));
    struct buf b;
    enum st st;

    if (from->name && (named(from, "xtml") || named(from, "dsml")))
        return err_set(e, ST_USAGE, path, "format %s takes no file",
                       from->name);
    buf_init(&b, FORMAT_FILE_MAX);
    st = check_file(path, e);
    if (!st)
        st = buf_read_file(&b, path, e);
    if (!st && jinja) {
        const struct jinja_source s = {
            .text = {b.p ? b.p : "", b.n}, .source = path,
        };

        st = format_jinja(out, &s, from->tok, e);
    } else if (!st) {
        st = format_chatjson(out, b.p ? b.p : "", b.n, path, from->tok, e);
    }
    buf_release(&b);
    return st;
}

/* ST_NOT_FOUND: there is none. */
static enum st beside_model(struct format **out, const struct format_from *from,
                            struct err *e)
{
    const char *slash;
    struct buf path;
    enum st st;

    if (!from->model_path)
        return err_set(e, ST_NOT_FOUND, "chat.json", "no model");
    slash = strrchr(from->model_path, '/');
    buf_init(&path, BUF_MESSAGE);
    if (slash)
        buf_add(&path, from->model_path,
                (size_t)(slash - from->model_path) + 1);
    buf_puts(&path, "chat.json");
    if (path.failed || access(path.p, F_OK))
        st = err_set(e, ST_NOT_FOUND, "chat.json", "none beside the model");
    else
        st = from_path(out, from, path.p, e);
    buf_release(&path);
    return st;
}

/* --- the template of the model file -------------------------------------- */

/* The default template, or the first variant of a file without one. */
static bool main_template(const struct gguf *g, struct buf *key,
                          struct span *text)
{
    const struct span *list;
    size_t n;

    buf_puts(key, GGUF_TEMPLATE);
    if (gguf_str(g, key->p, text))
        return text->n > 0;
    list = gguf_arr_str(g, GGUF_TEMPLATE "s", &n);
    for (size_t i = 0; list && i < n; i++) {
        buf_clear(key);
        buf_puts(key, GGUF_TEMPLATE ".");
        buf_add(key, list[i].s, list[i].n);
        if (!key->failed && gguf_str(g, key->p, text) && text->n)
            return true;
    }
    return false;
}

/* A template of the file was refused: who looks at the source wants to know. */
static void add_refusal(struct format *f, const char *what,
                        const struct err *e)
{
    struct buf b;

    buf_init(&b, BUF_MESSAGE);
    buf_printf(&b, "%s; not %s: %s", f->source, what, e->text);
    if (!b.failed) {
        free(f->source);
        f->source = mem_dup(b.p);
    }
    buf_release(&b);
}

/* With its variant for tools where that can be used, else without. */
static enum st from_templates(struct format **out, struct jinja_source *s,
                              const struct tok *t, struct err *e)
{
    enum st st = format_jinja(out, s, t, e);
    struct err one;
    const char *line;
    char what[96];

    if (!st || !s->tools.n)
        return st;
    s->tools = (struct span){NULL, 0};
    if (format_jinja(out, s, t, &one))
        return st; /* the variant is not what is wrong, or not alone */
    line = strstr(e->where, "line ");
    snprintf(what, sizeof(what), GGUF_TEMPLATE ".tool_use%s%s",
             line ? " " : "", line ? line : "");
    add_refusal(*out, what, e);
    return ST_OK;
}

/* ST_NOT_FOUND: the file has none. */
static enum st from_gguf(struct format **out, const struct format_from *from,
                         struct err *e)
{
    struct jinja_source s = {0};
    struct buf key, source;
    enum st st;

    if (!from->gguf)
        return err_set(e, ST_NOT_FOUND, "jinja", "no model file");
    buf_init(&key, BUF_MESSAGE);
    buf_init(&source, BUF_MESSAGE);
    if (!main_template(from->gguf, &key, &s.text)) {
        st = err_set(e, ST_NOT_FOUND, "jinja",
                     "no " GGUF_TEMPLATE " in the file");
    } else {
        if (!gguf_str(from->gguf, GGUF_TEMPLATE ".tool_use", &s.tools))
            s.tools = (struct span){NULL, 0};
        buf_printf(&source, "%s of %s", key.p, gguf_path(from->gguf));
        s.source = source.p;
        st = from_templates(out, &s, from->tok, e);
    }
    buf_release(&key);
    buf_release(&source);
    return st;
}

/* --- built-in files ------------------------------------------------------ */

/* Is it NAME.json? */
static bool is_file_of(const struct embedded *b, const char *name)
{
    size_t n = strlen(name);

    return !strncmp(b->name, name, n) && !strcmp(b->name + n, ".json");
}

/* The name that is its own among format_names; NULL. */
static const char *own_name(const struct embedded *b)
{
    size_t i = 0;

    while (names[i] && !is_file_of(b, names[i]))
        i++;
    return names[i];
}

static enum st from_builtin(struct format **out, const struct embedded *b,
                            const struct tok *t, struct err *e)
{
    char source[64];
    enum st st;

    snprintf(source, sizeof(source), "built-in %s", b->name);
    st = format_chatjson(out, b->text, b->n, source, t, e);
    if (st == ST_FORMAT) /* it is the vocabulary's fault, not the file's */
        st = ST_UNSUPPORTED;
    if (!st && own_name(b))
        (*out)->name = own_name(b);
    return st;
}

/* --- the search ---------------------------------------------------------- */

/* One more reason; `e` keeps what the kind said. */
static void add_reason(struct buf *why, const char *kind, const struct err *e)
{
    size_t n = strlen(e->text), from = why->n, cut = n;

    if (n > REASON_MAX)
        cut = utf8_complete_len(e->text, REASON_MAX);
    buf_printf(why, "%s%s: %.*s%s", why->n ? "; " : "", kind, (int)cut,
               e->text, n > cut ? "..." : "");
    for (size_t i = from; i < why->n; i++)
        if ((unsigned char)why->p[i] < ' ')
            why->p[i] = ' ';
}

static enum st search_builtin(struct format **out,
                              const struct format_from *from, struct buf *why,
                              struct err *e)
{
    enum st st = ST_UNSUPPORTED;

    for (const struct embedded *b = chat_builtin; b->name && st; b++) {
        if (!from->tok && own_name(b))
            continue; /* without a vocabulary it is asked for by its name */
        st = from_builtin(out, b, from->tok, e);
        if (st)
            add_reason(why, b->name, e);
    }
    return st;
}

/* The order is the one that format.h promises. */
static enum st search(struct format **out, const struct format_from *from,
                      struct buf *why, struct err *e)
{
    struct err refused;
    enum st st = format_xtml(out, from->tok, e);

    if (!st)
        return st;
    add_reason(why, "xtml", e);
    st = format_dsml(out, from->tok, e);
    if (!st)
        return st;
    add_reason(why, "dsml", e);
    st = beside_model(out, from, e);
    if (st != ST_NOT_FOUND)
        return st;
    add_reason(why, "chat.json", e);
    st = from_gguf(out, from, e);
    if (!st)
        return st;
    refused = *e;
    add_reason(why, "template", e);
    st = search_builtin(out, from, why, e);
    if (!st && refused.st != ST_NOT_FOUND)
        add_refusal(*out, refused.where, &refused);
    return st;
}

static enum st find_chatjson(struct format **out,
                             const struct format_from *from, struct buf *why,
                             struct err *e)
{
    enum st st = beside_model(out, from, e);

    if (st != ST_NOT_FOUND)
        return st;
    add_reason(why, "chat.json", e);
    return search_builtin(out, from, why, e);
}

static enum st find_named(struct format **out, const struct format_from *from,
                          struct buf *why, struct err *e)
{
    if (named(from, "jinja"))
        return from_gguf(out, from, e);
    if (named(from, "xtml"))
        return format_xtml(out, from->tok, e);
    if (named(from, "dsml"))
        return format_dsml(out, from->tok, e);
    if (named(from, "chatjson"))
        return find_chatjson(out, from, why, e);
    for (const struct embedded *b = chat_builtin; b->name; b++)
        if (is_file_of(b, from->name))
            return from_builtin(out, b, from->tok, e);
    return err_set(e, ST_UNSUPPORTED, "chat format",
                   "there is no format of that name");
}

enum st format_find(struct format **out, const struct format_from *from,
                    struct err *e)
{
    struct err one = {0};
    struct buf why;
    enum st st;

    *out = NULL;
    if (from->path)
        return from_path(out, from, from->path, e);
    buf_init(&why, BUF_MESSAGE);
    if (from->name && !named(from, "auto"))
        st = find_named(out, from, &why, &one);
    else if (!from->tok)
        st = err_set(&one, ST_UNSUPPORTED, "chat format",
                     "without a model, name a format or a file");
    else
        st = search(out, from, &why, &one);
    if (st == ST_NOT_FOUND)
        st = ST_UNSUPPORTED;
    if (st == ST_UNSUPPORTED)
        err_set(e, st, "chat format", "%s", why.n ? why.p : one.text);
    else if (st && e)
        *e = one;
    buf_release(&why);
    return st;
}
