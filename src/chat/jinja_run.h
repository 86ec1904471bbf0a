/*
 * chat/jinja_run.h - walking a compiled template (internal to chat/jinja*).
 *
 * Everything a rendering makes lies in its arena. C recursion happens per
 * nesting of the template and per macro call, one jx_enter each: the stack
 * is bounded by JINJA_DEPTH_MAX times the largest frames between two of
 * them (t/unit/chat_jinja.c runs the deepest case on a thread of 256 KB).
 */
#ifndef CHAT_JINJA_RUN_H
#define CHAT_JINJA_RUN_H

#include "chat/jinja_ast.h"
#include "chat/jinja_lib.h"

struct jvar {
    const struct jname *name;
    struct jv v;
};

/* Variables set at one place: the template, a loop's round, a macro's call. */
struct jscope {
    struct jscope *outer;
    struct jvar *p;
    size_t n, cap;
};

enum jflow { JFLOW_ON, JFLOW_BREAK, JFLOW_CONTINUE };

struct jev {
    struct jx x; /* first: what a builtin gets is this */
    const struct jinja *t;
    struct jbuild *out;
    struct jscope *scope;
    enum jflow flow;
};

/* --- jinja_eval.c -------------------------------------------------------- */

struct jscope *jscope_new(struct jev *v, struct jscope *outer) MUST_CHECK;
/* Set or replace in this scope, not in those around it. */
enum st jscope_set(struct jev *v, struct jscope *s, const struct jname *name,
                   struct jv value) MUST_CHECK;
enum st jeval(struct jev *v, const struct jexpr *e, struct jv *out) MUST_CHECK;
/* Apply the links to *io. `caller` (may be NULL) is passed by the last, a
 * call, as the argument of that name. */
enum st jeval_links(struct jev *v, const struct jlink *l,
                    const struct jv *caller, struct jv *io) MUST_CHECK;

/* --- jinja_stmt.c -------------------------------------------------------- */

/* In the current scope, to the current output. */
enum st jexec(struct jev *v, const struct jstmt *body) MUST_CHECK;
/* In a scope of its own inside `scope`, to a string. */
enum st jexec_capture(struct jev *v, struct jscope *scope,
                      const struct jstmt *body, struct jv *out) MUST_CHECK;

/* --- jinja_macro.c ------------------------------------------------------- */

/* A callable of this macro; it sees the variables of `scope`. */
enum st jmacro_value(struct jev *v, const struct jmacro *m,
                     struct jscope *scope, struct jv *out) MUST_CHECK;
/* loop.cycle, loop.changed */
enum st jloop_methods(struct jev *v, struct jv loop, const size_t *index)
    MUST_CHECK;

#endif
