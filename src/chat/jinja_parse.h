/*
 * chat/jinja_parse.h - tokens to a tree (internal to chat/jinja*).
 *
 * The first error sticks in `lex`, and every token after it is JT_END:
 * functions return NULL then, loops that wait for a token end.
 */
#ifndef CHAT_JINJA_PARSE_H
#define CHAT_JINJA_PARSE_H

#include "chat/jinja_lex.h"

struct jbind {
    struct jname *name;
    struct jbind *outer;
};

struct jparse {
    struct jinja *t;
    struct jlex lex;
    struct jtok tok, ahead;
    bool has_ahead;
    int nest;      /* blocks and brackets around here */
    int depth;     /* of our own recursion */
    int loops;     /* around here, inside this macro */
    int branches;  /* `if` around here */
    struct jbind *binds; /* names that the template itself has set */
};

/* --- tokens, memory (jinja_expr.c) --------------------------------------- */

#define jparse_fail(p, line, ...) jlex_fail(&(p)->lex, (line), __VA_ARGS__)
void jparse_next(struct jparse *p);
const struct jtok *jparse_peek(struct jparse *p); /* the one after tok */
bool jparse_is(const struct jparse *p, const char *word); /* tok is this name */
bool jparse_accept(struct jparse *p, enum jtok_type type);
bool jparse_accept_word(struct jparse *p, const char *word);
/* Takes a token of this type, or fails. */
bool jparse_expect(struct jparse *p, enum jtok_type type);
/* Fails naming the token that is there. */
void jparse_unexpected(struct jparse *p, const char *wanted);
void *jparse_alloc(struct jparse *p, size_t bytes); /* NULL: failed */
#define jparse_new(p, type) ((type *)jparse_alloc((p), sizeof(type)))
/* One block or bracket deeper; false when that is too deep. */
bool jparse_enter(struct jparse *p, int line);
void jparse_leave(struct jparse *p);
/* The object of tok's name, which is taken. NULL: not a usable name. */
struct jname *jparse_name(struct jparse *p);
struct jname *jparse_intern(struct jparse *p, struct span s);
void jparse_bind(struct jparse *p, struct jname *name);
void jparse_unbind(struct jparse *p, const struct jbind *mark);
void jparse_literal(struct jparse *p, struct span s);

/* --- expressions (jinja_expr.c) ------------------------------------------ */

struct jexpr *jparse_expr(struct jparse *p);    /* with `a if b else c` */
struct jexpr *jparse_no_cond(struct jparse *p); /* without */
/* One, or with commas a tuple. */
struct jexpr *jparse_tuple(struct jparse *p, bool with_cond);
/* `name(args)|name...`, the `|` before it taken. */
struct jlink *jparse_filters(struct jparse *p);

/* --- statements (jinja_parse.c) ------------------------------------------ */

/* The whole template into p->t->body. */
enum st jparse_template(struct jparse *p);

#endif
