/* Which format is it? Each kind says why it is not. */
#include "chat/format_int.h"

#include "base/buf.h"
#include "chat/builtin.h"
#include "gguf/gguf.h"

#include <unistd.h>

#define FORMAT_FILE_MAX (1u << 20)

static const char *const names[] = {
    "auto", "jinja", "xtml", "kimi", "glm", "dsml", "chatjson", NULL,
};

const char *const *format_names(void)
{
    return names;
}

static enum st parse_file(struct format **out, const char *path,
                          const struct tok *t, struct err *e)
{
    struct buf b;
    enum st st;

    buf_init(&b, FORMAT_FILE_MAX);
    st = buf_read_file(&b, path, e);
    if (!st)
        st = format_chatjson(out, b.p ? b.p : "", b.n, path, t, e);
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
        st = format_chatjson(out, b->text, b->n, name, t, &one);
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

enum st format_find(struct format **out, const struct format_from *from,
                    struct err *e)
{
    *out = NULL;
    if (from->path)
        return parse_file(out, from->path, from->tok, e);
    if (from->model_path) {
        const char *slash = strrchr(from->model_path, '/');
        struct buf path;
        enum st st;

        buf_init(&path, BUF_MESSAGE);
        if (slash)
            buf_add(&path, from->model_path,
                    (size_t)(slash - from->model_path) + 1);
        buf_puts(&path, "chat.json");
        if (!path.failed && !access(path.p, F_OK)) {
            st = parse_file(out, path.p, from->tok, e);
            buf_release(&path);
            return st;
        }
        buf_release(&path);
    }
    return parse_builtin(out, from->tok, e);
}
