/*
 * chat/jinja_value.h - values of the template language (internal to
 * chat/jinja*, and to who fills its variables).
 *
 * Provenance: `markup` says whether the template wrote a scalar; a string
 * that mixes both has a map, one byte per byte, 1 = markup. Every operation
 * keeps it: a slice is markup where its source was, a conversion or a
 * computation is markup only when all its inputs are, and what a filter
 * inserts by itself has the provenance of the filter's literal arguments (of
 * the container for tojson's punctuation). Case changes, replace, split,
 * join, format keep it byte by byte. Comparisons, dictionary keys and
 * lookups ignore it.
 *
 * All memory comes from the run's arena; nothing is freed one by one.
 */
#ifndef CHAT_JINJA_VALUE_H
#define CHAT_JINJA_VALUE_H

#include "base/buf.h"
#include "json/read.h"

enum jv_type {
    JV_UNDEF, JV_NONE, JV_BOOL, JV_INT, JV_FLOAT, JV_STR, JV_LIST, JV_DICT,
    JV_FUNC,
};

struct jstr {
    const char *s;
    size_t n;
    const unsigned char *map; /* [n], or NULL: all of it is jv.markup */
};

struct jlist;
struct jdict;
struct jfunc;

struct jv {
    enum jv_type type;
    bool markup;
    union {
        bool b;
        int64_t i;
        double d;
        struct jstr str;
        struct jlist *list;
        struct jdict *dict;
        const struct jfunc *fn;
    } u;
};

struct jlist {
    struct jv *p;
    size_t n, cap;
    bool tuple;
};

struct jpair {
    struct jv key; /* JV_STR almost always; JV_INT, JV_BOOL, JV_NONE too */
    struct jv value;
};

struct jdict {
    struct jpair *p; /* in insertion order */
    size_t n, cap;
    bool ns;         /* namespace(): attributes may be set */
};

struct jargs {
    const struct jv *pos;  /* [n] */
    size_t n;
    const struct jpair *kw;/* [n_kw] keys are strings */
    size_t n_kw;
};

/* One rendering. */
struct jx {
    struct arena *arena;
    struct err *e;
    const char *name;      /* of the template, for messages */
    int line;              /* being evaluated */
    uint64_t steps_left;
    int depth;
    size_t max_bytes;      /* of one string */
    int64_t now_s;
    bool raised;
};

/* A callable value. Builtins have `call`; what else lies behind it is its
 * owner's business (`data`). */
struct jfunc {
    const char *name; /* for messages */
    enum st (*call)(struct jx *x, const struct jfunc *f,
                    const struct jargs *a, struct jv *out);
    struct jv self;   /* bound methods */
    void *data;
};

/* --- errors and limits (jinja_value.c) --------------------------------- */

/* ST_FORMAT at the current line. Never with a caller's text in it. */
enum st jx_fail(struct jx *x, const char *fmt, ...) PRINTF(2, 3);
enum st jx_full(struct jx *x);              /* ST_LIMIT: memory */
/* Pay for work; ST_LIMIT when the steps are used up. */
enum st jx_pay(struct jx *x, uint64_t steps) MUST_CHECK;

/* --- making values ----------------------------------------------------- */

struct jv jv_none(void);
struct jv jv_undef(void);
struct jv jv_bool(bool b, bool markup);
struct jv jv_int(int64_t i, bool markup);
struct jv jv_float(double d, bool markup);
struct jv jv_span(const char *s, size_t n, bool markup); /* borrows s */
struct jv jv_lit(const char *literal);                   /* markup */
/* Empty, growing. v.type is JV_UNDEF when out of arena. */
struct jv jv_new_list(struct jx *x);
struct jv jv_new_dict(struct jx *x);
enum st jv_push(struct jx *x, struct jv list, struct jv item) MUST_CHECK;
/* Set, or replace the value of an equal key. */
enum st jv_set(struct jx *x, struct jv dict, struct jv key, struct jv value)
    MUST_CHECK;
/* A JSON tree as a value of the given provenance. Numbers written without
 * point and exponent are ints when they fit int64, else floats. */
enum st jv_from_json(struct jx *x, const struct json *j, bool markup,
                     struct jv *out) MUST_CHECK;

/* A growing string with its map. */
struct jbuild {
    struct jx *x;
    char *s;
    unsigned char *map; /* NULL as long as all bytes have one provenance */
    size_t n, cap;
    bool markup;        /* of all bytes so far, while map is NULL */
};
void jbuild_init(struct jbuild *b, struct jx *x);
enum st jbuild_add(struct jbuild *b, const char *s, size_t n, bool markup)
    MUST_CHECK;
/* A string value, its provenance kept. */
enum st jbuild_str(struct jbuild *b, const struct jv *v) MUST_CHECK;
struct jv jbuild_done(struct jbuild *b);

/* --- reading values ---------------------------------------------------- */

bool jv_truthy(const struct jv *v);
/* Is it a string equal to this? */
bool jv_is(const struct jv *v, const char *literal);
const char *jv_type_word(const struct jv *v); /* "string", "list", ... */
/* Provenance of byte i of a string. */
static inline bool jv_markup_at(const struct jv *v, size_t i)
{
    return v->u.str.map ? v->u.str.map[i] != 0 : v->markup;
}
/* NULL when absent. */
const struct jv *jv_get(const struct jv *dict, const char *key);
/* str(): what {{ v }} prints. undefined is empty, none is "None". */
enum st jv_print(struct jx *x, const struct jv *v, struct jbuild *out)
    MUST_CHECK;
/* Substring of a string by bytes, provenance kept; no copy. */
struct jv jv_cut(const struct jv *str, size_t from, size_t n);

/* --- operators (jinja_op.c) -------------------------------------------- */

enum jop {
    JOP_ADD, JOP_SUB, JOP_MUL, JOP_DIV, JOP_FLOORDIV, JOP_MOD, JOP_POW,
    JOP_CONCAT, /* ~ */
    JOP_EQ, JOP_NE, JOP_LT, JOP_LE, JOP_GT, JOP_GE, JOP_IN, JOP_NOT_IN,
};
enum st jop_binary(struct jx *x, enum jop op, const struct jv *a,
                   const struct jv *b, struct jv *out) MUST_CHECK;
enum st jop_negate(struct jx *x, const struct jv *a, struct jv *out)
    MUST_CHECK;
/* a[key]: list and string by int (negative from the end), dict by key.
 * Absent: undefined. */
enum st jop_item(struct jx *x, const struct jv *a, const struct jv *key,
                 struct jv *out) MUST_CHECK;
/* a.name: a method (bound JV_FUNC) first, as in Python, so that a caller's key
 * "items" does not break a template's x.items(); then a dict's key (a
 * namespace has keys only), else undefined. Of undefined: ST_FORMAT naming
 * `name`. jop_item looks at keys first. */
enum st jop_attr(struct jx *x, const struct jv *a, const char *name, size_t n,
                 struct jv *out) MUST_CHECK;
/* a[from:to:step]; undefined bounds are open. Strings by character. */
enum st jop_slice(struct jx *x, const struct jv *a, const struct jv *from,
                  const struct jv *to, const struct jv *step, struct jv *out)
    MUST_CHECK;
/* What `for` walks: a list as it is, a dict's keys, a string's characters, an
 * undefined as nothing. */
enum st jop_iterate(struct jx *x, const struct jv *a, struct jv *list)
    MUST_CHECK;

/* --- library (jinja_filter.c, _test.c, _method.c, _global.c) ------------- */

/* Is there one of that name? For errors at compile time. */
bool jlib_has_filter(const char *name, size_t n);
bool jlib_has_test(const char *name, size_t n);
enum st jlib_filter(struct jx *x, const char *name, size_t n,
                    const struct jv *v, const struct jargs *a, struct jv *out)
    MUST_CHECK;
enum st jlib_test(struct jx *x, const char *name, size_t n,
                  const struct jv *v, const struct jargs *a, bool *out)
    MUST_CHECK;
/* Bound method of a value; JV_UNDEF when it has none of that name. */
enum st jlib_method(struct jx *x, const struct jv *self, const char *name,
                    size_t n, struct jv *out) MUST_CHECK;
/* range, namespace, dict, raise_exception, strftime_now, joiner, cycler, ...
 * JV_UNDEF when there is none of that name. */
enum st jlib_global(struct jx *x, const char *name, size_t n, struct jv *out)
    MUST_CHECK;

#endif
