/*
 * gram/expr.h - what a grammar is written in before it is compiled.
 *
 * An expression is a regular expression over symbols: the bytes 0-255 and
 * marks (256 + k: a control token of a chat format, whatever its bytes).
 * Rules are named expressions that may call one another, so that JSON can
 * nest; each has at most one counter, so that large bounds need no large
 * automaton. Schemas, regexes, choices and tool forms all become this.
 *
 * A workshop owns everything in one arena. Failures stick to it: builders
 * return a valid pointer whatever happens, and gram_compile reports the first
 * error. Expressions are immutable and may be used several times.
 * Threads: one at a time per workshop.
 */
#ifndef GRAM_EXPR_H
#define GRAM_EXPR_H

#include "gram/charset.h"

#define GX_ARENA (40u << 20) /* bytes of one workshop, at most */
#define GX_MEMORY (54u << 20) /* with all that compiling takes and makes */
#define GX_MARKS 32          /* marks that one grammar may use */
#define GX_RULES_MAX 65536
#define GX_MANY UINT32_MAX   /* no upper bound */

struct gx; /* opaque: gram/expr_int.h */

struct gxs { /* the workshop */
    struct arena arena;
    struct gx_rule_def *rules; /* [n_rules] owned */
    size_t n_rules, cap_rules;
    uint64_t work;             /* steps of construction so far: see budget */
    size_t memory;             /* bytes it may take: GX_MEMORY, or less */
    bool crowded;              /* it would have taken more */
    size_t scratch;            /* bytes in use besides the arena */
    struct schema_shared *schemas; /* of schema.c: what all schemas of this
                                * workshop share; in the arena */
    struct err err;            /* the first failure; st ST_OK: none */
};

/*
 * Construction is bounded by counted steps, not by a clock, so that a grammar
 * is accepted or refused whatever else the machine does. GX_WORK_MAX steps
 * take at most 200 ms on a machine of 2020.
 */
#define GX_WORK_MAX 24000000u

void gxs_init(struct gxs *w);
void gxs_release(struct gxs *w);
/* Count steps; false (and the failure is noted) when the budget is gone. */
bool gxs_work(struct gxs *w, uint64_t steps);
/* Note a failure, unless there was one. */
void gxs_fail(struct gxs *w, enum st st, const char *where, const char *fmt,
              ...) PRINTF(4, 5);

/* --- expressions ---------------------------------------------------------- */

const struct gx *gx_empty(struct gxs *w); /* the text of no symbols */
const struct gx *gx_none(struct gxs *w);  /* no text at all */
const struct gx *gx_bytes(struct gxs *w, const char *s, size_t n); /* copied */
const struct gx *gx_lit(struct gxs *w, const char *literal);
const struct gx *gx_range(struct gxs *w, uint8_t lo, uint8_t hi); /* one byte */
const struct gx *gx_mark(struct gxs *w, int k); /* 0..GX_MARKS-1 */
/* [ \t\n\r]*, at most GRAM_SPACE_MAX columns in a row (gram/grammar.h). */
const struct gx *gx_space(struct gxs *w);
const struct gx *gx_seq(struct gxs *w, const struct gx *a,
                        const struct gx *b);
const struct gx *gx_seqn(struct gxs *w, const struct gx *const *of, size_t n);
const struct gx *gx_alt(struct gxs *w, const struct gx *a,
                        const struct gx *b);
const struct gx *gx_altn(struct gxs *w, const struct gx *const *of, size_t n);
const struct gx *gx_opt(struct gxs *w, const struct gx *x);
const struct gx *gx_star(struct gxs *w, const struct gx *x);
/* min..max times, written out: for small numbers. max GX_MANY: no bound. */
const struct gx *gx_repeat(struct gxs *w, const struct gx *x, uint32_t min,
                           uint32_t max);

/*
 * n things in their order with `between` between them, and then any number of
 * `more`. Those that are not required may be left out; one thing at least
 * comes. Written without repetition, however many may be left out. required
 * is [n]; both lists are copied.
 */
const struct gx *gx_list(struct gxs *w, const struct gx *const *of,
                         const bool *required, size_t n,
                         const struct gx *between, const struct gx *more);

/* How a character is written. */
enum gx_form {
    GX_RAW,  /* UTF-8 */
    GX_JSON, /* inside a JSON string: UTF-8, but " \ and controls escaped, each
              * in one way only: \" \\ \b \f \n \r \t, else \u00xx in lower
              * case */
};
/* One character of the set (gram/chars.c). The set is not kept. */
const struct gx *gx_chars(struct gxs *w, const struct charset *c,
                          enum gx_form form);
/* That one text, which is valid UTF-8. */
const struct gx *gx_text(struct gxs *w, const char *s, size_t n,
                         enum gx_form form);
/* Any text of whole characters in that form. */
const struct gx *gx_any_text(struct gxs *w, enum gx_form form);

/*
 * Regular ones only (no calls, no marks, no spaces): they are compiled by
 * themselves. gx_begin and gx_end hold at the ends of the closest gx_whole
 * around them; outside of one they are a failure (ST_INTERNAL).
 */
const struct gx *gx_begin(struct gxs *w);
const struct gx *gx_end(struct gxs *w);
const struct gx *gx_whole(struct gxs *w, const struct gx *x);
const struct gx *gx_both(struct gxs *w, const struct gx *a,
                         const struct gx *b);   /* what a and b match */
const struct gx *gx_minus(struct gxs *w, const struct gx *a,
                          const struct gx *b);  /* what a matches and b not */
/*
 * A deterministic automaton as it stands (arithmetic on digits has no short
 * expression): states 0..n_states-1, 0 is the start, accept[i] says where it
 * may end; the edges of a state do not overlap, in any order. Copied.
 */
struct gx_edge {
    uint32_t from, to;
    uint8_t lo, hi; /* bytes */
};
const struct gx *gx_table(struct gxs *w, uint32_t n_states,
                          const bool *accept, const struct gx_edge *edges,
                          size_t n_edges);
/* The same texts; each character raises the counter of the rule it is in.
 * x matches texts of whole characters in that form (in GX_JSON any escape
 * counts as one, a pair of \u escapes for one character too). */
const struct gx *gx_counted(struct gxs *w, const struct gx *x,
                            enum gx_form form);

/* --- rules ---------------------------------------------------------------- */

/* A new rule without an expression: callers may refer to it at once. -1 when
 * there are too many (the failure is noted). */
int gx_rule(struct gxs *w);
/*
 * Its expression, which must not match the empty text unless the rule is the
 * root, and the bounds of its counter: what it matches has raised the counter
 * min..max times. 0, GX_MANY: it has none.
 */
void gx_rule_set(struct gxs *w, int rule, const struct gx *x, uint32_t min,
                 uint32_t max);
/* A call; `counts`: it raises the counter of the calling rule by one. */
const struct gx *gx_call(struct gxs *w, int rule, bool counts);

/* --- the end -------------------------------------------------------------- */

struct grammar;
/*
 * Every rule becomes an automaton (gram/compile.c). The workshop may be
 * released afterwards.
 * Errors: the first failure noted; ST_LIMIT "" with the limit's name and
 * number (states, work, memory); ST_INVALID "" when no text at all matches,
 * or when a rule calls itself without a symbol in between; ST_UNSUPPORTED ""
 * when a counter's two bounds cannot be kept exactly (the lengths that are
 * possible have gaps) and the automaton that could would be too large.
 */
enum st gram_compile(struct grammar **out, struct gxs *w, int root,
                     struct err *e) MUST_CHECK;

#endif
