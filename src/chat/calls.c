#include "chat/calls.h"

#include "base/utf8.h"

#define ID_MAX 256

void calls_init(struct calls *c, size_t limit, uint64_t seed)
{
    *c = (struct calls){.limit = limit, .seed = seed};
}

void calls_release(struct calls *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->p[i]->id);
        free(c->p[i]->name);
        buf_release(&c->p[i]->args);
        free(c->p[i]);
    }
    free(c->p);
    *c = (struct calls){0};
}

/* splitmix64 (Steele, Lea, Flood 2014): every seed gives another sequence. */
static uint64_t mix(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static char *made_id(struct calls *c)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz"
                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char *id = mem_try(ID_MAX);
    uint64_t a = mix(&c->seed), b = mix(&c->seed);

    if (!id)
        return NULL;
    if (c->form == CALL_ID_LONG) {
        snprintf(id, ID_MAX, "call_%016llx%08llx", (unsigned long long)a,
                 (unsigned long long)(b & 0xffffffffu));
        return id;
    }
    for (size_t i = 0; i < 9; i++) {
        id[i] = digits[a % 62];
        a = a / 62 ^ (i == 4 ? b : 0);
    }
    return id;
}

/* A copy of the valid characters of s[0..n), without NUL. */
static char *clean(const char *s, size_t n)
{
    char *out = mem_try(n + 1);
    size_t used = 0;

    for (size_t i = 0; out && i < n;) {
        uint32_t cp;
        size_t len = utf8_decode(s + i, n - i, &cp);

        if (len && cp) {
            memcpy(out + used, s + i, len);
            used += len;
        }
        i += len ? len : 1;
    }
    return out;
}

static bool grow(struct calls *c)
{
    size_t cap = c->cap ? c->cap * 2 : 4;
    struct tool_call **p;

    if (c->n < c->cap)
        return true;
    p = mem_try_array(cap, sizeof(struct tool_call *));
    if (!p)
        return false;
    if (c->n)
        memcpy(p, c->p, c->n * sizeof(struct tool_call *));
    free(c->p);
    c->p = p;
    c->cap = cap;
    return true;
}

struct tool_call *calls_add(struct calls *c, const char *id, size_t id_n,
                       const char *name, size_t n)
{
    struct tool_call *call;

    if (c->n == CALLS_MAX) {
        c->dropped++;
        return NULL;
    }
    if (!grow(c)) {
        c->failed = true;
        return NULL;
    }
    call = mem_try(sizeof(*call));
    if (!call) {
        c->failed = true;
        return NULL;
    }
    buf_init(&call->args, BUF_ANSWER);
    call->id = id && id_n ? clean(id, id_n < ID_MAX ? id_n : ID_MAX)
                          : made_id(c);
    call->name = clean(name, n);
    if (!call->id || !call->name) {
        free(call->id);
        free(call->name);
        free(call);
        c->failed = true;
        return NULL;
    }
    call->dropped = c->shown >= c->limit;
    if (call->dropped)
        c->dropped++;
    else
        c->shown++;
    c->p[c->n++] = call;
    return call;
}

void calls_settle(struct calls *c, size_t i, size_t at)
{
    for (size_t k = i; k < c->n; k++)
        c->p[k]->at = at;
    for (size_t k = i ? i - 1 : 0; k < c->n; k++)
        if (c->p[k]->whole && !c->p[k]->args.n)
            buf_puts(&c->p[k]->args, "{}");
}

void calls_withdraw(struct calls *c, struct tool_call *call)
{
    if (call->withdrawn)
        return;
    call->withdrawn = true;
    if (!call->dropped)
        c->shown--;
}
