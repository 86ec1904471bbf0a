/*
 * chat/jinja_lib.h - what the values, operators and the library of the
 * template language share among themselves (jinja_value.h is for others).
 *
 * Expectations come from Python 3 and Jinja2 3.1 (builtin filters and tests);
 * tojson is Python's json.dumps(ensure_ascii=False) as transformers sets it.
 * Strings are counted in characters; a byte that is not UTF-8 counts as one.
 */
#ifndef CHAT_JINJA_LIB_H
#define CHAT_JINJA_LIB_H

#include "chat/jinja_value.h"

/* --- limits (jinja_value.c) --------------------------------------------- */

/* ST_LIMIT at the current line: "the template " and this. */
enum st jx_limit(struct jx *x, const char *what);
/* One level of recursion down; after ST_OK, jx_leave. */
enum st jx_enter(struct jx *x) MUST_CHECK;
void jx_leave(struct jx *x);
/* "NAME line N" */
void jx_where(const struct jx *x, char *out, size_t n);

/* --- strings (jinja_value.c, jinja_print.c) ----------------------------- */

/* Length in bytes of the character at s[0..n), n > 0; an invalid byte is a
 * character of its own, U+FFFD in *cp. */
size_t jchar(const char *s, size_t n, uint32_t *cp);
size_t jchars(const char *s, size_t n); /* how many characters */
/* Byte offset of character i (at most the end). */
size_t jchar_at(const char *s, size_t n, size_t i);
/* Is every byte markup? For containers: is its own punctuation? */
bool jv_is_markup(const struct jv *v);
/* Bytes [from, from + n) of a string value. */
enum st jbuild_part(struct jbuild *b, const struct jv *v, size_t from,
                    size_t n) MUST_CHECK;
enum st jbuild_lit(struct jbuild *b, const char *s, bool markup) MUST_CHECK;
/* The character c, `times` times; ST_LIMIT before any work. */
enum st jbuild_pad(struct jbuild *b, char c, uint64_t times, bool markup)
    MUST_CHECK;
/* A string as it is, anything else as str() gives it. */
enum st jv_text(struct jx *x, const struct jv *v, struct jv *out) MUST_CHECK;
/* repr(): strings in quotes. `markup` is the provenance of the quotes. */
enum st jv_repr(struct jx *x, const struct jv *v, bool markup,
                struct jbuild *b) MUST_CHECK;
/* json.dumps. `indent` < 0: on one line. */
struct jjson {
    int64_t indent;
    bool ascii, sorted;
    struct jv item_sep, key_sep, indent_by; /* undefined: the usual ones */
};
enum st jv_tojson(struct jx *x, const struct jv *v, const struct jjson *how,
                  struct jbuild *b) MUST_CHECK;
/* A double as repr() writes it, out[40]; inf and nan as `str` does. */
size_t jnum_repr(double d, char *out);

/* --- case and classes (jinja_case.c) ------------------------------------ */

uint32_t jchar_upper(uint32_t cp); /* simple mapping; itself when none */
uint32_t jchar_lower(uint32_t cp);
bool jchar_space(uint32_t cp);     /* str.isspace */
bool jchar_breaks(uint32_t cp);    /* ends a line of str.splitlines */
enum jcase { JCASE_UPPER, JCASE_LOWER, JCASE_CAPITAL, JCASE_TITLE,
             JCASE_WORDS };
/* JCASE_TITLE is str.title, JCASE_WORDS the title filter. */
enum st jcase_map(struct jx *x, const struct jv *str, enum jcase how,
                  struct jv *out) MUST_CHECK;
/* Is all of it JCASE_UPPER, JCASE_LOWER? */
enum st jcase_is(struct jx *x, const struct jv *str, enum jcase how,
                 struct jv *out) MUST_CHECK;

/* --- comparing (jinja_value.c, jinja_op.c) ------------------------------ */

/* The value of a key of a dict; NULL: absent. A list is no key: absent. */
enum st jx_find(struct jx *x, const struct jdict *d, const struct jv *key,
                struct jv **found) MUST_CHECK;

enum st jx_equal(struct jx *x, const struct jv *a, const struct jv *b,
                 bool *out) MUST_CHECK;
/* *out < 0, 0, > 0; an error for types that have no order. */
enum st jx_compare(struct jx *x, const struct jv *a, const struct jv *b,
                   int *out) MUST_CHECK;
/* `needle in hay` */
enum st jx_contains(struct jx *x, const struct jv *hay,
                    const struct jv *needle, bool *out) MUST_CHECK;
/* Bools are ints, as in Python. */
bool jv_int_of(const struct jv *v, int64_t *out);
bool jv_num_of(const struct jv *v, double *out); /* ints too */

/* --- calls (jinja_lib.c) ------------------------------------------------ */

#define JARG_MAX 6

/* A call of a filter, test, method or global with its arguments sorted. */
struct jin {
    struct jx *x;
    const char *name;
    const struct jv *v;             /* input, or self */
    const struct jv *arg[JARG_MAX]; /* in the order of `args`; NULL: absent */
    const struct jargs *all;
};

/* `args`: names in order, "!" before one that must be there; "*" takes
 * anything (only `all` is set). */
struct jentry {
    const char *name;
    const char *args;
    enum st (*fn)(const struct jin *in, struct jv *out);
};

const struct jentry *jentry_find(const struct jentry *list, const char *name,
                                 size_t n);
enum st jentry_call(struct jx *x, const struct jentry *e, const struct jv *v,
                    const struct jargs *a, struct jv *out) MUST_CHECK;

/* The keyword argument of that name; NULL: absent. */
const struct jv *jargs_named(const struct jargs *a, const char *name,
                             size_t n);
/* arg[i] as ...; the default stays when it is absent. */
enum st jin_int(const struct jin *in, size_t i, int64_t *out) MUST_CHECK;
enum st jin_str(const struct jin *in, size_t i, struct jv *out) MUST_CHECK;
void jin_bool(const struct jin *in, size_t i, bool *out);
/* Provenance of what the call inserts by itself: of arg[i], else the
 * template's. */
bool jin_markup(const struct jin *in, size_t i);

/* A new list with the provenance of `like`. */
enum st jx_list(struct jx *x, const struct jv *like, struct jv *out)
    MUST_CHECK;
enum st jx_dict(struct jx *x, const struct jv *like, struct jv *out)
    MUST_CHECK;
/* (a, b) */
enum st jx_pair(struct jx *x, const struct jv *like, const struct jv *a,
                const struct jv *b, struct jv *out) MUST_CHECK;
enum st jx_items(struct jx *x, const struct jv *dict, struct jv *out)
    MUST_CHECK;
enum st jx_keys(struct jx *x, const struct jv *dict, struct jv *out)
    MUST_CHECK;
enum st jx_values(struct jx *x, const struct jv *dict, struct jv *out)
    MUST_CHECK;
/* A bound function of ours. */
enum st jx_bind(struct jx *x, const struct jentry *e, const struct jv *self,
                struct jv *out) MUST_CHECK;
/* v.a.b.0 by a path of the template. */
enum st jx_path(struct jx *x, const struct jv *v, const struct jv *path,
                struct jv *out) MUST_CHECK;

/* Tables, ended by a NULL name. */
extern const struct jentry jfilter_plain[], jfilter_str[], jfilter_list[],
    jfilter_sort[];
extern const struct jentry jmethod_str[], jmethod_list[], jmethod_dict[];

/* Filters that are methods too. */
enum st jf_join(const struct jin *in, struct jv *out);
enum st jf_replace(const struct jin *in, struct jv *out);
enum st jf_printf(const struct jin *in, struct jv *out); /* "%s"|format */
enum st jm_format(const struct jin *in, struct jv *out); /* "{}".format */
enum jstrip { JSTRIP_LEFT = 1, JSTRIP_RIGHT = 2 };
enum st jstr_strip(struct jx *x, const struct jv *str, const struct jv *chars,
                   unsigned ends, struct jv *out) MUST_CHECK;
/* First or last place of `what` in s[from..n); SIZE_MAX: none. Pays. */
enum st jstr_find(struct jx *x, const struct jv *str, size_t from,
                  const struct jv *what, size_t *at) MUST_CHECK;

#endif
