#include "chat/found.h"

#include "base/ascii.h"
#include "chat/jsontext.h"

#define TREE_BYTES (256u << 20)

/* --- the list --------------------------------------------------------------*/

static void release_one(struct found *f)
{
    free(f->name);
    free(f->id);
    buf_release(&f->args);
}

void founds_release(struct founds *f)
{
    for (size_t i = 0; i < f->n; i++)
        release_one(&f->p[i]);
    free(f->p);
    *f = (struct founds){0};
}

static char *copy(const char *s, size_t n)
{
    char *p = mem_try(n + 1);

    if (p && n)
        memcpy(p, s, n);
    return p;
}

static bool grow(struct founds *f)
{
    size_t cap = f->cap ? f->cap * 2 : 4;
    struct found *p;

    if (f->n < f->cap)
        return true;
    p = mem_try_array(cap, sizeof(*p));
    if (!p)
        return false;
    if (f->n)
        memcpy(p, f->p, f->n * sizeof(*p));
    free(f->p);
    f->p = p;
    f->cap = cap;
    return true;
}

struct found *founds_add(struct founds *f, const char *name, size_t n,
                         size_t at)
{
    struct found *one;
    char *kept = copy(name, n);

    if (!kept || !grow(f)) {
        free(kept);
        f->failed = true;
        return NULL;
    }
    one = &f->p[f->n++];
    *one = (struct found){.name = kept, .name_n = n, .at = at};
    buf_init(&one->args, BUF_ANSWER);
    return one;
}

void founds_drop(struct founds *f)
{
    if (f->n)
        release_one(&f->p[--f->n]);
}

/* --- calls in JSON ---------------------------------------------------------*/

static bool is_object(const struct json *v)
{
    return v && v->type == JSON_OBJ;
}

static const struct json *arguments_of(const struct json *call)
{
    const struct json *v = json_get(call, "arguments");

    return v ? v : json_get(call, "parameters");
}

static bool known_members(const struct json *call)
{
    static const char *const known[] = {
        "name", "arguments", "parameters", "type", "id", "function",
    };

    for (const struct json *c = call->child; c; c = c->next) {
        bool ok = false;

        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
            ok = ok || span_is((struct span){c->key.s, c->key.n}, known[i]);
        if (!ok)
            return false;
    }
    return true;
}

/* The arguments as an object of `mem`; false: they can be none. *out NULL:
 * there are none. */
static bool read_args(const struct json *v, struct arena *mem,
                      const struct json **out)
{
    struct err e = {0};

    *out = NULL;
    if (!v || v->type == JSON_NULL)
        return true;
    if (v->type == JSON_STR) {
        if (ascii_blank(v->str.s, v->str.n))
            return true;
        if (json_parse(&v, mem, v->str.s, v->str.n, &e))
            return false;
    }
    *out = v;
    return is_object(v);
}

static void set_id(struct found *f, const char *s, size_t n)
{
    f->id = n ? copy(s, n) : NULL;
    f->id_n = f->id ? n : 0;
}

static void set_args(struct found *f, const struct tools *t,
                     const struct json *args)
{
    if (args)
        tool_args(t, f->name, f->name_n, args, &f->args);
    else
        buf_puts(&f->args, "{}");
}

static bool add_item(struct founds *f, const struct tools *t,
                     const struct json *item, struct arena *mem,
                     enum found_gate gate, size_t at)
{
    const struct json *inner = json_get(item, "function");
    const struct json *call = is_object(inner) ? inner : item;
    const struct json *name = json_get(call, "name");
    const struct json *id = json_get(item, "id"), *args;
    struct found *one;

    if (!is_object(item) || !name || name->type != JSON_STR || !name->str.n)
        return false;
    if (!read_args(arguments_of(call), mem, &args))
        return false;
    if (gate == FOUND_STRICT &&
        (!args || !known_members(item) ||
         !tools_has(t, name->str.s, name->str.n)))
        return false;
    one = founds_add(f, name->str.s, name->str.n, at);
    if (!one)
        return false;
    if (id && id->type == JSON_STR)
        set_id(one, id->str.s, id->str.n);
    set_args(one, t, args);
    return true;
}

bool founds_json(struct founds *f, const struct tools *t, const char *s,
                 size_t n, enum found_gate gate)
{
    const size_t before = f->n;
    const struct json *v;
    struct arena mem;
    struct err e = {0};
    bool all = true;
    size_t at = before;

    arena_init(&mem, TREE_BYTES);
    if (json_parse(&v, &mem, s, n, &e)) {
        arena_release(&mem);
        return false;
    }
    if (v->type == JSON_ARR)
        for (const struct json *c = v->child; c; c = c->next)
            all = add_item(f, t, c, &mem, gate, at++) && all;
    else
        all = add_item(f, t, v, &mem, gate, at);
    arena_release(&mem);
    while (gate == FOUND_STRICT && !all && f->n > before)
        founds_drop(f);
    return f->n > before;
}

bool founds_args(struct founds *f, const struct tools *t, struct span id,
                 struct span name, const char *s, size_t n)
{
    const struct json *args = NULL;
    struct found *one = NULL;
    struct arena mem;
    struct err e = {0};
    bool fits;

    arena_init(&mem, TREE_BYTES);
    fits = ascii_blank(s, n) ||
           (!json_parse(&args, &mem, s, n, &e) && is_object(args));
    if (fits)
        one = founds_add(f, name.s, name.n, f->n);
    if (one) {
        set_id(one, id.s, id.n);
        set_args(one, t, args);
    }
    arena_release(&mem);
    return one;
}
