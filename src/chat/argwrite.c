#include "chat/argwrite.h"

#include "base/ascii.h"
#include "chat/jsontext.h"

void argwrite_begin(struct argwrite *w, struct buf *out)
{
    argwrite_release(w);
    w->out = out;
}

void argwrite_release(struct argwrite *w)
{
    for (size_t i = 0; i < w->cap; i++)
        free((char *)(uintptr_t)w->keys[i].s);
    free(w->keys);
    *w = (struct argwrite){0};
}

/* --- keys seen ----------------------------------------------------------- */

static size_t hash(const char *s, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
    return (size_t)(h ^ (h >> 29));
}

/* Where a key is, or where it would go; the table is never full. */
static struct text *place(struct text *keys, size_t cap, const char *s,
                          size_t n)
{
    size_t i = hash(s, n) & (cap - 1);

    while (keys[i].s && (keys[i].n != n || memcmp(keys[i].s, s, n) != 0))
        i = (i + 1) & (cap - 1);
    return &keys[i];
}

static bool grow(struct argwrite *w)
{
    size_t cap = w->cap ? w->cap * 2 : 16;
    struct text *keys = mem_try_array(cap, sizeof(*keys));

    if (!keys)
        return false;
    for (size_t i = 0; i < w->cap; i++)
        if (w->keys[i].s)
            *place(keys, cap, w->keys[i].s, w->keys[i].n) = w->keys[i];
    free(w->keys);
    w->keys = keys;
    w->cap = cap;
    return true;
}

/* False: it was there already, or memory is out (and the output failed). */
static bool add_key(struct argwrite *w, const char *s, size_t n)
{
    struct text *at;
    char *copy;

    if (w->used >= w->cap / 2 && !grow(w)) {
        w->out->failed = true;
        return false;
    }
    at = place(w->keys, w->cap, s, n);
    if (at->s)
        return false;
    copy = mem_try(n + 1);
    if (!copy) {
        w->out->failed = true;
        return false;
    }
    memcpy(copy, s, n);
    *at = (struct text){copy, n};
    w->used++;
    return true;
}

/* --- the object ---------------------------------------------------------- */

bool argwrite_key(struct argwrite *w, const char *key, size_t n)
{
    argwrite_text_end(w);
    if (!w->out || !add_key(w, n ? key : "", n))
        return false;
    buf_puts(w->out, w->n++ ? ", " : "{");
    jsontext_string(w->out, key, n, JT_SPACED);
    buf_puts(w->out, ": ");
    return true;
}

void argwrite_text_begin(struct argwrite *w)
{
    buf_putc(w->out, '"');
    w->in_string = true;
}

void argwrite_text(struct argwrite *w, const char *p, size_t n)
{
    if (w->in_string)
        jsontext_escape(w->out, p, n, JT_SPACED);
}

void argwrite_text_end(struct argwrite *w)
{
    if (w->in_string)
        buf_putc(w->out, '"');
    w->in_string = false;
}

void argwrite_value(struct argwrite *w, const char *json, size_t n)
{
    buf_add(w->out, json, n);
}

void argwrite_guess(struct argwrite *w, const char *p, size_t n)
{
    const struct json *v;
    struct arena a;
    struct span t = ascii_trim(p, n);
    size_t max;

    if (!mem_mul(&max, n, 128) || !mem_add(&max, max, 4096))
        max = SIZE_MAX;
    arena_init(&a, max);
    if (json_parse(&v, &a, t.s, t.n, NULL))
        jsontext_string(w->out, p, n, JT_SPACED);
    else
        jsontext(w->out, v, JT_SPACED);
    arena_release(&a);
}

void argwrite_end(struct argwrite *w)
{
    if (!w->out)
        return;
    argwrite_text_end(w);
    buf_puts(w->out, w->n ? "}" : "{}");
    argwrite_release(w);
}
