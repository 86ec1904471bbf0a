#include "config.h"
#include "chat/jinja_parse.h"

#include <string.h>

void jparse_next(struct jparse *p)
{
    if (p->has_ahead)
        p->tok = p->ahead;
    else
        jlex_next(&p->lex, &p->tok);
    p->has_ahead = false;
    if (p->lex.st)
        p->tok.type = JT_END;
}

const struct jtok *jparse_peek(struct jparse *p)
{
    if (!p->has_ahead)
        jlex_next(&p->lex, &p->ahead);
    p->has_ahead = true;
    return &p->ahead;
}

bool jparse_is(const struct jparse *p, const char *word)
{
    return !p->lex.st && p->tok.type == JT_NAME && span_is(p->tok.s, word);
}

bool jparse_accept(struct jparse *p, enum jtok_type type)
{
    if (p->lex.st || p->tok.type != type)
        return false;
    jparse_next(p);
    return true;
}

bool jparse_accept_word(struct jparse *p, const char *word)
{
    if (!jparse_is(p, word))
        return false;
    jparse_next(p);
    return true;
}

bool jparse_expect(struct jparse *p, enum jtok_type type)
{
    if (p->lex.st)
        return false;
    if (p->tok.type != type) {
        jparse_unexpected(p, jtok_word(type));
        return false;
    }
    jparse_next(p);
    return !p->lex.st;
}

void jparse_unexpected(struct jparse *p, const char *wanted)
{
    if (p->tok.type == JT_NAME)
        jparse_fail(p, p->tok.line, "expected %s, found '%.*s'", wanted,
                    (int)(p->tok.s.n < 40 ? p->tok.s.n : 40), p->tok.s.s);
    else
        jparse_fail(p, p->tok.line, "expected %s, found %s", wanted,
                    jtok_word(p->tok.type));
}

void *jparse_alloc(struct jparse *p, size_t bytes)
{
    void *m = p->lex.st ? NULL : arena_alloc(&p->t->arena, bytes);

    if (!m)
        jlex_nomem(&p->lex);
    return m;
}

bool jparse_enter(struct jparse *p, int line)
{
    p->nest++; /* left also after a failure */
    if (p->nest > JINJA_NEST_MAX)
        jparse_fail(p, line, "nested more than %d deep", JINJA_NEST_MAX);
    return !p->lex.st;
}

void jparse_leave(struct jparse *p)
{
    p->nest--;
}

/* --- names --------------------------------------------------------------- */

size_t jinja_name_bucket(const char *s, size_t n)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    return (h ^ h >> 16) % JINJA_BUCKETS;
}

struct jname *jinja_name(const struct jinja *t, const char *s, size_t n)
{
    struct jname *k = t->names[jinja_name_bucket(s, n)];

    while (k && (k->s.n != n || memcmp(k->s.s, s, n) != 0))
        k = k->next;
    return k;
}

struct jname *jparse_intern(struct jparse *p, struct span s)
{
    struct jname *name = jinja_name(p->t, s.s, s.n), **bucket;

    if (name)
        return name;
    if (p->t->n_names >= JINJA_NAMES_MAX) {
        jparse_fail(p, p->tok.line, "more than %d names", JINJA_NAMES_MAX);
        return NULL;
    }
    name = jparse_new(p, struct jname);
    if (!name)
        return NULL;
    bucket = &p->t->names[jinja_name_bucket(s.s, s.n)];
    *name = (struct jname){.s = s, .next = *bucket};
    *bucket = name;
    p->t->n_names++;
    return name;
}

struct jname *jparse_name(struct jparse *p)
{
    struct jname *name;

    if (p->lex.st || p->tok.type != JT_NAME) {
        jparse_unexpected(p, "a name");
        return NULL;
    }
    name = jparse_intern(p, p->tok.s);
    jparse_next(p);
    return name;
}

void jparse_bind(struct jparse *p, struct jname *name)
{
    struct jbind *b;

    if (!name)
        return;
    b = jparse_new(p, struct jbind);
    if (!b)
        return;
    *b = (struct jbind){name, p->binds};
    p->binds = b;
    name->bound++;
}

void jparse_unbind(struct jparse *p, const struct jbind *mark)
{
    for (; p->binds != mark; p->binds = p->binds->outer)
        p->binds->name->bound--;
}

void jparse_literal(struct jparse *p, struct span s)
{
    struct jliteral *l = s.n ? jparse_new(p, struct jliteral) : NULL;

    if (!l)
        return;
    *l = (struct jliteral){s, p->t->literals};
    p->t->literals = l;
}
