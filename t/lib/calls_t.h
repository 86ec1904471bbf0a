/*
 * t/lib/calls_t.h - expectations about calls, on t/lib/dialect_t.h.
 *
 *   struct tools *tools = calls_t_tools("[{\"name\":\"f\"}]");
 *   struct dialect_t t = {.d = &dialect_qwen, .tools = tools};
 *   reads(&t, "a call", "x<tool_call>..", "x", "f", "{\"a\": 1}", none);
 *   stays(&t, "no call", "<tool_call");
 */
#ifndef T_CALLS_T_H
#define T_CALLS_T_H

#include "t/lib/dialect_t.h"

static const char *const none = NULL; /* ends a list of calls */

/* The tools of a JSON list of name and parameters. Free with tools_free. */
static inline struct tools *calls_t_tools(const char *list)
{
    struct chat_tool read[16];
    struct tools *tools;
    struct arena mem;
    const struct json *v;
    struct err e = {0};
    size_t n = 0;

    arena_init(&mem, 16u << 20);
    if (json_parse(&v, &mem, list, strlen(list), &e)) {
        printf("Bail out! %s\n", e.text);
        exit(1);
    }
    for (v = v->child; v; v = v->next) {
        BUG_ON(n == 16);
        read[n++] = (struct chat_tool){
            .name = json_get(v, "name")->str,
            .params = json_get(v, "parameters"),
        };
    }
    tools = tools_new(read, n);
    arena_release(&mem);
    BUG_ON(!tools);
    return tools;
}

/* The expected result: content, then name and arguments per call, NULL. */
static inline void reads(const struct dialect_t *t, const char *name,
                         const char *s, const char *content, ...)
{
    const char *call, *args;
    struct buf b;
    va_list ap;
    int n = 0;

    buf_init(&b, BUF_FILE);
    buf_puts(&b, "{\"content\":");
    jsontext_string(&b, content, strlen(content), JT_COMPACT);
    va_start(ap, content);
    while ((call = va_arg(ap, const char *)) != NULL) {
        args = va_arg(ap, const char *);
        buf_puts(&b, n++ ? ",{\"name\":" : ",\"calls\":[{\"name\":");
        jsontext_string(&b, call, strlen(call), JT_COMPACT);
        buf_puts(&b, ",\"arguments\":");
        jsontext_string(&b, args, strlen(args), JT_COMPACT);
        buf_putc(&b, '}');
    }
    va_end(ap);
    buf_puts(&b, n ? "]}" : "}");
    dialect_is(t, s, b.p, name);
    buf_release(&b);
}

/* One test point: fed whole and by its characters, `n` calls are shown, and
 * none that went out on the way was taken back: what was streamed was right. */
static inline void credited(const struct dialect_t *t, const char *name,
                            const char *s, size_t n)
{
    const size_t len = strlen(s);
    bool good = true;

    for (size_t step = len; good && step; step = step > 1 ? 1 : 0) {
        struct dialect_run *r = mem_new(struct dialect_run);

        dialect_run_open(r, t);
        for (size_t i = 0; i < len; i += step)
            dialect_run_feed(r, s + i, step);
        dialect_run_end(r);
        good = r->calls.n == n && r->calls.shown == n;
        for (size_t i = 0; !good && i < r->calls.n; i++)
            printf("#   %s%s %s\n", r->calls.p[i]->withdrawn ? "not " : "",
                   r->calls.p[i]->name,
                   r->calls.p[i]->args.n ? r->calls.p[i]->args.p : "");
        dialect_run_close(r);
        free(r);
    }
    ok(good, "%s: as streamed", name);
}

/* One test point: the arguments of the latest call once `s` has come, and
 * how many calls were begun by then. */
static inline void streams(const struct dialect_t *t, const char *name,
                           const char *s, size_t n, const char *args)
{
    struct dialect_run *r = mem_new(struct dialect_run);
    const struct buf *got = NULL;

    dialect_run_open(r, t);
    dialect_run_feed(r, s, strlen(s));
    if (r->calls.n)
        got = &r->calls.p[r->calls.n - 1]->args;
    if (!ok(r->calls.n == n && got && got->n == strlen(args) &&
                !memcmp(got->p, args, got->n), "%s", name))
        printf("#   %zu calls, %.*s\n", r->calls.n, got ? (int)got->n : 0,
               got && got->n ? got->p : "");
    dialect_run_close(r);
    free(r);
}

/* Bytes of content once `s` has come: what is held back? */
static inline size_t content_after(const struct dialect_t *t, const char *s)
{
    struct dialect_run *r = mem_new(struct dialect_run);
    size_t n;

    dialect_run_open(r, t);
    dialect_run_feed(r, s, strlen(s));
    n = r->content.n;
    dialect_run_close(r);
    free(r);
    return n;
}

/* The same text is content. */
static inline void stays(const struct dialect_t *t, const char *name,
                         const char *s)
{
    reads(t, name, s, s, none);
}

#endif
