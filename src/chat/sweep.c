/* Streamed calls and those of the whole block: second half of chat/found.h. */
#include "chat/found.h"

#include "chat/jsontext.h"

#define TREE_BYTES (256u << 20)

static bool is_named(const struct tool_call *c, struct span name)
{
    return strlen(c->name) == name.n && !memcmp(c->name, name.s, name.n);
}

/* The same object in one spelling; false: no JSON. */
static bool canonical(const struct buf *args, struct buf *out)
{
    const struct json *v;
    struct arena mem;
    struct err e = {0};
    bool ok;

    arena_init(&mem, TREE_BYTES);
    ok = args->n && !json_parse(&v, &mem, args->p, args->n, &e);
    if (ok)
        jsontext(out, v, JT_SORTED);
    arena_release(&mem);
    return ok && !out->failed;
}

static bool same_args(const struct buf *a, const struct buf *b)
{
    struct buf x, y;
    bool same;

    if (a->failed || b->failed)
        return false;
    if (a->n == b->n && a->n && !memcmp(a->p, b->p, a->n))
        return true;
    buf_init(&x, BUF_ANSWER);
    buf_init(&y, BUF_ANSWER);
    same = canonical(a, &x) && canonical(b, &y) && x.n == y.n &&
           !memcmp(x.p, y.p, x.n);
    buf_release(&x);
    buf_release(&y);
    return same;
}

struct tool_call *sweep_live(struct sweep *s, struct calls *c, struct span id,
                             struct span name, size_t at)
{
    const struct tool_call *before = s->n ? s->live[s->n - 1].call : s->last;
    struct tool_call *call = NULL;

    if (!s->off && s->n < CALLS_MAX && !(before && is_named(before, name)))
        call = calls_add(c, id.s, id.n, name.s, name.n);
    s->off = !call;
    if (call) {
        s->live[s->n].call = call;
        s->live[s->n++].at = at;
    }
    return call;
}

void sweep_withdraw(struct sweep *s, struct calls *c)
{
    for (size_t i = 0; i < s->n; i++)
        calls_withdraw(c, s->live[i].call);
    s->n = 0;
    s->off = false;
}

/* Does each repeat the one before it? */
static void mark_echoes(const struct sweep *s, struct founds *f)
{
    for (size_t i = 0; i < f->n; i++) {
        struct found *one = &f->p[i];
        const struct found *prev = i ? one - 1 : NULL;

        if (prev)
            one->echo = prev->name_n == one->name_n &&
                        !memcmp(prev->name, one->name, one->name_n) &&
                        same_args(&prev->args, &one->args);
        else if (s->last)
            one->echo = is_named(s->last, (struct span){one->name,
                                                        one->name_n}) &&
                        same_args(&s->last->args, &one->args);
    }
}

/* Credit the streamed calls that were found; withdraw the others. */
static void credit(struct sweep *s, struct founds *f, struct calls *c)
{
    size_t k = 0;

    for (size_t i = 0; i < s->n; i++) {
        struct tool_call *call = s->live[i].call;
        struct found *one;

        while (k < f->n && f->p[k].at < s->live[i].at)
            k++;
        one = k < f->n && f->p[k].at == s->live[i].at ? &f->p[k] : NULL;
        if (one && !one->echo &&
            is_named(call, (struct span){one->name, one->name_n}) &&
            same_args(&call->args, &one->args)) {
            one->call = call;
            call->whole = true;
        } else {
            calls_withdraw(c, call);
        }
    }
    s->n = 0;
    s->off = false;
}

void sweep_close(struct sweep *s, struct founds *f, struct calls *c)
{
    mark_echoes(s, f);
    credit(s, f, c);
    for (size_t i = 0; i < f->n && !c->failed; i++) {
        struct found *one = &f->p[i];
        struct tool_call *call = one->call;

        if (one->echo)
            continue;
        if (!call) {
            call = calls_add(c, one->id, one->id_n, one->name, one->name_n);
            if (!call)
                break;
            buf_add(&call->args, one->args.p, one->args.n);
            call->whole = true;
        }
        s->last = call;
    }
    founds_release(f);
}
