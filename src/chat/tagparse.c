#include "chat/tagparse.h"

#include "base/ascii.h"
#include "chat/jsonscan.h"
#include "chat/jsontext.h"

/* --- one tag -------------------------------------------------------------- */

static size_t blanks(const char *s, size_t n, size_t i)
{
    while (i < n && ascii_space(s[i]))
        i++;
    return i;
}

/* Does s[i..n) begin with this word? */
static bool begins(const char *s, size_t n, size_t i, const char *word)
{
    size_t len = strlen(word);

    return n - i >= len && !memcmp(s + i, word, len);
}

/* "=NAME>" with blanks, at s[i..n). */
static bool read_name(const char *s, size_t n, size_t i, struct span *name)
{
    size_t from;

    i = blanks(s, n, i);
    if (i == n || s[i] != '=')
        return false;
    from = i = blanks(s, n, i + 1);
    while (i < n && !ascii_space(s[i]) && s[i] != '>' && s[i] != '<')
        i++;
    *name = (struct span){s + from, i - from};
    while (name->n && (name->s[0] == '"' || name->s[0] == '\'')) {
        name->s++;
        name->n--;
    }
    while (name->n && (name->s[name->n - 1] == '"' ||
                       name->s[name->n - 1] == '\''))
        name->n--;
    i = blanks(s, n, i);
    return name->n && i + 1 == n && s[i] == '>';
}

enum tag tag_read(const char *s, size_t n, struct span *name)
{
    enum tag tag = TAG_OTHER;
    size_t i, attribute;

    if (begins(s, n, 0, "<function"))
        tag = TAG_FUNCTION;
    else if (begins(s, n, 0, "<parameter"))
        tag = TAG_PARAM;
    else
        return TAG_OTHER;
    i = strlen(tag == TAG_FUNCTION ? "<function" : "<parameter");
    attribute = blanks(s, n, i);
    if (attribute > i && begins(s, n, attribute, "name"))
        i = attribute + strlen("name");
    return read_name(s, n, i, name) ? tag : TAG_OTHER;
}

/* --- a block -------------------------------------------------------------- */

/* A text that is looked for again and again, further and further on. */
struct mark {
    const char *text;
    size_t at; /* its first place at or after the last `from`; n: none */
    bool known;
};

struct block {
    const char *s;
    size_t n;
    const struct tools *tools;
    struct founds *out;
    struct mark function_end, param_end, bracket;
};

/* Each search goes on where the last one ended, so all of them together read
 * the block once. */
static size_t next(const struct block *b, struct mark *m, size_t from)
{
    const char *hit;

    if (m->known && m->at >= from)
        return m->at;
    hit = from < b->n ? memmem(b->s + from, b->n - from, m->text,
                               strlen(m->text))
                      : NULL;
    m->known = true;
    m->at = hit ? (size_t)(hit - b->s) : b->n;
    return m->at;
}

/* The next < in [from, to); `to` when there is none. */
static size_t next_tag(const struct block *b, size_t from, size_t to)
{
    const char *hit = from < to ? memchr(b->s + from, '<', to - from) : NULL;

    return hit ? (size_t)(hit - b->s) : to;
}

/* The tag that begins at `from`; *end is behind it. */
static enum tag tag_at(struct block *b, size_t from, size_t *end,
                       struct span *name)
{
    size_t close = next(b, &b->bracket, from);

    if (close == b->n)
        return TAG_OTHER;
    *end = close + 1;
    return tag_read(b->s + from, *end - from, name);
}

/* Where the value that begins at `from` ends. In JSON that was forced a closer
 * inside a string is part of it. */
static size_t value_end(struct block *b, const struct found *f,
                        struct span key, size_t from)
{
    struct jsonscan js;
    size_t len = strlen(TAG_PARAM_END);

    if (tools_kinds(b->tools, f->name, f->name_n, key.s, key.n) != KIND_JSON)
        return next(b, &b->param_end, from);
    jsonscan_init(&js);
    for (;;) {
        jsonscan_until(&js, b->s, b->n, '<', &from);
        if (from == b->n || (b->n - from >= len &&
                             !memcmp(b->s + from, TAG_PARAM_END, len)))
            return from;
        js.bad = true;
        from++;
    }
}

static void add_param(struct block *b, struct found *f, struct span key,
                      size_t from, size_t to)
{
    struct span v = ascii_trim(b->s + from, to - from);

    buf_puts(&f->args, f->args.n ? ", " : "{");
    jsontext_string(&f->args, key.s, key.n, JT_SPACED);
    buf_puts(&f->args, ": ");
    tool_value(tools_kinds(b->tools, f->name, f->name_n, key.s, key.n), v.s,
               v.n, &f->args);
}

static void end_call(struct found *f)
{
    buf_puts(&f->args, f->args.n ? "}" : "{}");
}

/* Where the next function begins in [from, to); `to`: nowhere. */
static size_t next_function(struct block *b, size_t from, size_t to)
{
    struct span name;
    size_t end;

    for (from = next_tag(b, from, to); from < to;
         from = next_tag(b, from + 1, to))
        if (tag_at(b, from, &end, &name) == TAG_FUNCTION && end <= to)
            return from;
    return to;
}

/*
 * A parameter without its end before that of the function (at `stop`): the
 * function ends here. It is a call only when it has an end of its own.
 * Returns where reading goes on.
 */
static size_t dangling(struct block *b, struct found *f, size_t from,
                       size_t stop)
{
    size_t other = next_function(b, from, stop);

    if (other < stop || stop == b->n) {
        founds_drop(b->out);
        return other;
    }
    end_call(f);
    return stop + strlen(TAG_FUNCTION_END);
}

/* What follows the tag of a function, at `from`. Returns where its reading
 * ended. */
static size_t read_function(struct block *b, struct found *f, size_t from)
{
    size_t stop = next(b, &b->function_end, from), tag, end, close;
    struct span key;

    for (tag = next_tag(b, from, stop); tag < stop;
         tag = next_tag(b, from, stop)) {
        enum tag kind = tag_at(b, tag, &end, &key);

        if (kind == TAG_OTHER || end > stop) {
            from = tag + 1;
            continue;
        }
        if (kind == TAG_FUNCTION) {
            end_call(f);
            return tag;
        }
        close = value_end(b, f, key, end);
        if (tools_are_forced(b->tools))
            stop = next(b, &b->function_end, close);
        if (close >= stop)
            return dangling(b, f, end, stop);
        add_param(b, f, key, end, close);
        from = close + strlen(TAG_PARAM_END);
    }
    end_call(f);
    return stop < b->n ? stop + strlen(TAG_FUNCTION_END) : b->n;
}

void tagparse(struct founds *out, const struct tools *t, const char *s,
              size_t n)
{
    struct block b = {
        .s = s, .n = n, .tools = t, .out = out,
        .function_end = {.text = TAG_FUNCTION_END},
        .param_end = {.text = TAG_PARAM_END}, .bracket = {.text = ">"},
    };
    size_t at = 0, end;
    struct span name;

    while (at < n) {
        struct found *f;

        at = next_tag(&b, at, n);
        if (at == n)
            break;
        if (tag_at(&b, at, &end, &name) != TAG_FUNCTION) {
            at++;
            continue;
        }
        f = founds_add(out, name.s, name.n, at);
        if (!f)
            return;
        at = read_function(&b, f, end);
    }
}
