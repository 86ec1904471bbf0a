/*
 * chat/jinja_ast.h - a compiled template (internal to chat/jinja*).
 *
 * Nothing here changes after compilation. A row of operators or suffixes of
 * one precedence is a list on one node, never a deep tree, so that what runs
 * it loops where a template is long and recurses only where it is nested.
 */
#ifndef CHAT_JINJA_AST_H
#define CHAT_JINJA_AST_H

#include "chat/jinja.h"

#define JINJA_NAMES_MAX 4096         /* distinct variable names */
#define JINJA_AST_MAX (96u << 20)    /* bytes of one compiled template */

/* A variable's name; one object per name, compared by address. */
struct jname {
    struct span s;
    struct jname *next; /* of the same hash */
    unsigned loads;     /* uses so far; for the parser */
    unsigned bound;     /* enclosing bindings; for the parser */
    bool free;          /* used where nothing in the template set it */
};

struct jexpr;

/* A part of a list, dict, concatenation, `and`, `or`. */
struct jitem {
    struct jexpr *key; /* of a dict */
    struct jexpr *value;
    struct jitem *next;
};

enum jarg_kind { JARG_POS, JARG_KW, JARG_STAR, JARG_STARSTAR };

struct jarg {
    enum jarg_kind kind;
    struct span name; /* JARG_KW */
    struct jexpr *value;
    struct jarg *next;
};

enum jlink_kind {
    JL_BINARY,   /* op, a */
    JL_ATTR,     /* name */
    JL_ITEM,     /* a */
    JL_SLICE,    /* a : b : c, each may be NULL */
    JL_CALL,     /* args; name = what is called, for messages */
    JL_FILTER,   /* name, args */
    JL_TEST,     /* name, args */
    JL_TEST_NOT,
};

/* One step applied to the value so far. */
struct jlink {
    enum jlink_kind kind;
    enum jop op;
    int line;
    bool unknown; /* a filter or test that there is not */
    struct span name;
    struct jexpr *a, *b, *c;
    struct jarg *args;
    struct jlink *next;
};

enum jexpr_kind {
    JE_CONST, JE_NAME,
    JE_LIST, JE_TUPLE, JE_DICT, JE_CONCAT, JE_AND, JE_OR, /* items */
    JE_CHAIN, JE_COMPARE,                                 /* chain */
    JE_NOT, JE_NEG, JE_POS,                               /* a */
    JE_COND,
};

struct jexpr {
    enum jexpr_kind kind;
    int line;
    union {
        struct jv value;
        const struct jname *name;
        struct jitem *items;
        struct jexpr *a;
        struct {
            struct jexpr *first;
            struct jlink *links; /* JE_COMPARE: JL_BINARY only */
        } chain;
        struct {
            struct jexpr *test, *yes, *no; /* no: NULL is undefined */
        } cond;
    } u;
};

struct jstmt;

struct jtarget {
    const struct jname *name;
    struct span attr; /* of a namespace; n = 0: the variable itself */
    struct jtarget *next;
};

struct jparam {
    const struct jname *name;
    struct jexpr *fallback; /* NULL: undefined */
    struct jparam *next;
};

struct jmacro {
    struct span name; /* empty: the body of a call block */
    struct jparam *params;
    size_t n_params;
    const struct jname *varargs, *kwargs, *caller; /* NULL: not used */
    struct jstmt *body;
};

struct jbranch {
    struct jexpr *test; /* NULL: else */
    struct jstmt *body;
    struct jbranch *next;
};

enum jstmt_kind {
    JS_DATA, JS_OUTPUT, JS_IF, JS_FOR, JS_SET, JS_CAPTURE, JS_MACRO, JS_CALL,
    JS_FILTER, JS_WITH, JS_DO, JS_BODY, JS_BREAK, JS_CONTINUE,
};

struct jstmt {
    enum jstmt_kind kind;
    int line;
    struct jstmt *next;
    union {
        struct span data;
        struct jexpr *expr; /* JS_OUTPUT, JS_DO */
        struct jbranch *branches;
        struct {
            struct jtarget *targets;
            bool unpack;
            struct jexpr *over, *only; /* only: NULL is all */
            struct jstmt *body, *none; /* none: the else */
            const struct jname *loop;  /* NULL: not used in the body */
        } loop;
        struct {
            struct jtarget *targets;
            bool unpack;
            struct jexpr *value;   /* JS_SET */
            struct jstmt *body;    /* JS_CAPTURE */
            struct jlink *filters; /* JS_CAPTURE, JS_FILTER */
        } set;
        struct {
            const struct jname *name;
            struct jmacro *macro;
        } macro;
        struct {
            struct jexpr *expr; /* what is called, a chain ending in JL_CALL */
            struct jmacro *body;
        } call;
        struct {
            struct jparam *vars;
            struct jstmt *body;
        } with;
        struct jstmt *body;
    } u;
};

/* A chunk of data or a string literal. */
struct jliteral {
    struct span s;
    struct jliteral *next;
};

#define JINJA_BUCKETS 256

struct jinja {
    struct arena arena;
    char *name;
    struct jstmt *body;
    struct jliteral *literals;
    struct jname *names[JINJA_BUCKETS];
    size_t n_names;
};

/* NULL when the template has no such name. */
struct jname *jinja_name(const struct jinja *t, const char *s, size_t n);
size_t jinja_name_bucket(const char *s, size_t n);

#endif
