#include "api/callmemo.h"

#include "chat/jsontext.h"

#define KEY_MAX 4096
#define ENTRIES_MAX 512

struct memo_entry {
    struct text key;
    const struct gx *x;
};

void callmemo_init(struct callmemo *m)
{
    *m = (struct callmemo){0};
    buf_init(&m->key, KEY_MAX);
}

void callmemo_release(struct callmemo *m)
{
    buf_release(&m->key);
}

/* Members that say something and restrict nothing. */
static bool says(struct text key)
{
    return text_is(key, "description") || text_is(key, "title") ||
           text_is(key, "default") || text_is(key, "examples");
}

static void make_key(struct callmemo *m, char kind, const struct json *schema)
{
    buf_clear(&m->key);
    m->key.failed = false;
    buf_putc(&m->key, kind);
    if (schema->type != JSON_OBJ) {
        jsontext(&m->key, schema, JT_COMPACT);
        return;
    }
    for (const struct json *v = schema->child; v; v = v->next) {
        if (says(v->key))
            continue;
        jsontext_string(&m->key, v->key.s, v->key.n, JT_COMPACT);
        jsontext(&m->key, v, JT_COMPACT);
    }
}

const struct gx *callmemo_find(struct callmemo *m, char kind,
                               const struct json *schema)
{
    make_key(m, kind, schema);
    if (!m->key.failed && memmem(m->key.p, m->key.n, "\"$", 2))
        m->key.failed = true;
    for (size_t i = 0; i < m->n && !m->key.failed; i++)
        if (m->p[i].key.n == m->key.n &&
            !memcmp(m->p[i].key.s, m->key.p, m->key.n))
            return m->p[i].x;
    return NULL;
}

void callmemo_keep(struct callmemo *m, struct gxs *w, const struct gx *x)
{
    char *s;

    if (m->key.failed || m->n == ENTRIES_MAX)
        return;
    if (!m->p)
        m->p = arena_array(&w->arena, ENTRIES_MAX, sizeof(*m->p));
    s = m->p ? arena_dup(&w->arena, m->key.p, m->key.n) : NULL;
    if (s)
        m->p[m->n++] = (struct memo_entry){{s, m->key.n}, x};
}
