/*
 * chat/jinja_lex.h - a template's bytes to tokens (internal to chat/jinja*).
 *
 * Whitespace control happens here: `-` and `+` marks, the newline after a
 * block or comment (trim_blocks), the blanks before one (lstrip_blocks).
 * Source: Jinja2 3.1 lexer documentation and behaviour.
 */
#ifndef CHAT_JINJA_LEX_H
#define CHAT_JINJA_LEX_H

#include "chat/jinja_ast.h"

enum jtok_type {
    JT_END, /* of the source, and after an error */
    JT_DATA, JT_VAR_BEGIN, JT_VAR_END, JT_BLOCK_BEGIN, JT_BLOCK_END,
    JT_NAME, JT_STRING, JT_INT, JT_FLOAT,
    JT_ADD, JT_SUB, JT_MUL, JT_DIV, JT_FLOORDIV, JT_MOD, JT_POW, JT_TILDE,
    JT_EQ, JT_NE, JT_LT, JT_LE, JT_GT, JT_GE, JT_ASSIGN, JT_DOT, JT_COMMA,
    JT_COLON, JT_PIPE, JT_LPAREN, JT_RPAREN, JT_LBRACKET, JT_RBRACKET,
    JT_LBRACE, JT_RBRACE,
};

struct jtok {
    enum jtok_type type;
    int line;
    struct span s; /* data, name, or the decoded string */
    int64_t i;
    double d;
};

struct jlex {
    const char *s; /* newlines are \n, the last one is gone; borrowed */
    size_t n, at;
    int line;
    enum { JLEX_DATA, JLEX_VAR, JLEX_BLOCK } mode;
    int open;         /* brackets */
    bool line_starts; /* what came before ended a line */
    bool after_dot;
    enum jtok_type pending; /* a tag's begin after its data; JT_END: none */
    struct arena *arena;    /* for decoded strings */
    const char *name;       /* of the template */
    enum st st;             /* sticks; tokens are JT_END from then on */
    struct err *e;
};

void jlex_init(struct jlex *l, const char *s, size_t n, struct arena *a,
               const char *name, struct err *e);
void jlex_next(struct jlex *l, struct jtok *t);
/* ST_FORMAT at this line, unless something failed before. */
void jlex_fail(struct jlex *l, int line, const char *fmt, ...) PRINTF(3, 4);
void jlex_nomem(struct jlex *l);
/* How a token is called in messages. */
const char *jtok_word(enum jtok_type type);

#endif
