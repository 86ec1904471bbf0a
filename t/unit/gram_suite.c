/*
 * The public test suite of JSON Schema, file by file: a tool of
 * t/1200-schema-suite.t.
 *
 * For each schema one line, "accepted", "refused" or "empty" (no text at all
 * matches), with the compiler's message. For each instance that is judged
 * otherwise than the suite says, a line "wrong". An instance counts as
 * accepted when it is in some order of its members.
 */
#include "gram/schema_int.h"
#include "t/lib/gram_t.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS_MAX 64
#define ORDERS_MAX 20000 /* of one instance that are tried */

/* The objects of an instance that have more than one member. */
struct orders {
    struct json *o[OBJECTS_MAX];
    struct json **member[OBJECTS_MAX]; /* [n] in the arena */
    size_t n;
    double all; /* orders there are */
};

static void find_objects(struct orders *r, struct arena *a,
                         const struct json *v)
{
    struct json *c;
    size_t i = 0;

    if (v->type == JSON_OBJ && v->n > 1 && r->n < OBJECTS_MAX) {
        r->o[r->n] = (struct json *)v;
        r->member[r->n] = arena_array(a, v->n, sizeof(struct json *));
        for (c = v->child; c; c = c->next) {
            r->member[r->n][i++] = c;
            r->all *= (double)i;
        }
        r->n++;
    }
    if (v->type == JSON_OBJ || v->type == JSON_ARR)
        for (c = v->child; c; c = c->next)
            find_objects(r, a, c);
}

/* Members in the k-th order; what is left of k. */
static size_t arrange(struct json *o, struct json **member, size_t k)
{
    struct json **tail = &o->child;
    bool used[64] = {0};
    size_t left, i, pick;

    for (left = o->n; left; left--) {
        pick = k % left;
        k /= left;
        for (i = 0; used[i] || pick; i++)
            pick -= !used[i];
        used[i] = true;
        *tail = member[i];
        tail = &member[i]->next;
    }
    *tail = NULL;
    return k;
}

/* In some order? */
static bool accepts(const struct grammar *g, struct arena *a,
                    const struct json *v)
{
    struct orders r = {.all = 1};
    struct buf b;
    bool found = false;
    size_t k, left, i;

    find_objects(&r, a, v);
    buf_init(&b, 1u << 20);
    for (k = 0; !found && k < ORDERS_MAX && (double)k < r.all; k++) {
        left = k;
        for (i = 0; i < r.n; i++)
            if (r.o[i]->n <= 64)
                left = arrange(r.o[i], r.member[i], left);
        buf_clear(&b);
        schema_literal_text(v, &b);
        found = gramt_accepts(g, b.p, b.n);
    }
    buf_release(&b);
    return found;
}

static void text_of(const struct json *group, const char *key)
{
    const struct json *v = json_get(group, key);

    printf("\t%.*s", v ? (int)v->str.n : 0, v ? v->str.s : "");
}

static void check_group(const char *name, struct arena *a,
                        const struct json *group)
{
    const struct json *tests = json_get(group, "tests"), *t;
    struct err e;
    struct grammar *g = gramt_compile(json_get(group, "schema"), &e);
    bool empty = !g && (strstr(e.text, "no text") ||
                        strstr(e.text, "allows no value"));

    printf("%s\t%s", g ? "accepted" : empty ? "empty" : "refused", name);
    text_of(group, "description");
    printf("\t%s\n", g ? "" : e.text);
    for (t = tests->child; t && (g || empty); t = t->next) {
        bool got = g && accepts(g, a, json_get(t, "data"));
        bool want = json_get(t, "valid")->boolean;

        printf("%s\t%s", got == want ? "right" : "wrong", name);
        text_of(group, "description");
        text_of(t, "description");
        printf("\t%s\n", want ? "valid" : "invalid");
    }
    gram_unref(g);
}

int main(int argc, char **argv)
{
    const struct json *file, *group;
    int i;

    for (i = 1; i < argc; i++) {
        const char *name = strrchr(argv[i], '/');
        struct arena a;
        struct err e = {0};
        struct buf b;

        arena_init(&a, 256u << 20);
        buf_init(&b, BUF_FILE);
        if (buf_read_file(&b, argv[i], &e) ||
            json_parse(&file, &a, b.p, b.n, &e)) {
            fprintf(stderr, "%s: %s\n", argv[i], e.text);
            return 1;
        }
        for (group = file->child; group; group = group->next)
            check_group(name ? name + 1 : argv[i], &a, group);
        buf_release(&b);
        arena_release(&a);
    }
    return 0;
}
