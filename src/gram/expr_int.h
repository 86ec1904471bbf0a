/*
 * gram/expr_int.h - between the files that make automata of expressions.
 *
 * expr.c (expressions) -> nfa.c (one NFA) -> dfa.c (subset construction)
 * -> minimise.c -> dfa_ops.c (products; for parts of an expression) or
 * compile.c (rules).
 * Every function that can fail notes it in the workshop and returns false or
 * NULL. Memory besides the arena is counted in gxs.scratch.
 */
#ifndef GRAM_EXPR_INT_H
#define GRAM_EXPR_INT_H

#include "gram/grammar.h"

enum gx_kind {
    GXK_EMPTY,
    GXK_NONE,
    GXK_BYTES,   /* s [n] */
    GXK_SYMBOLS, /* one of lo..hi */
    GXK_SPACE,
    GXK_SEQ,    /* of [n] */
    GXK_ALT,    /* of [n] */
    GXK_STAR,   /* one */
    GXK_REPEAT, /* one, n..max times */
    GXK_BEGIN,
    GXK_END,
    GXK_DFA,  /* dfa: a part that is compiled */
    GXK_CALL, /* of rule n */
    GXK_LIST, /* list */
};

struct gx_list { /* gram/expr_list.c */
    const struct gx *const *of; /* [n] */
    const bool *required;       /* [n] */
    const struct gx *between, *more;
    size_t n;
    size_t free; /* behind the last that is required */
};

/* What is somewhere inside. */
#define GXH_CALL 1
#define GXH_MARK 2
#define GXH_SPACE 4
#define GXH_ANCHOR 8

struct gx {
    uint8_t kind, has;
    bool counts; /* of a call */
    uint16_t lo, hi;
    uint32_t n, max;
    union {
        const struct gx *const *of;
        const struct gx *one;
        const char *s;
        const struct dfa *dfa;
        const struct gx_list *list;
    };
};

struct gx_rule_def {
    const struct gx *x; /* NULL: not set */
    uint32_t min, max;
};

/* --- memory --------------------------------------------------------------- */

/* Room for `need` elements in the vector whose address is `pp` (room.c). */
bool gxs_grow(struct gxs *w, void *pp, size_t *cap, size_t need,
              size_t size) MUST_CHECK;
void gxs_drop(struct gxs *w, void *pp, size_t *cap, size_t size);
#define vec_room(w, v, cap, need)                                              \
    ((need) <= (cap) || gxs_grow(w, &(v), &(cap), need, sizeof(*(v))))
#define vec_drop(w, v, cap) gxs_drop(w, &(v), &(cap), sizeof(*(v)))
void *gxs_alloc(struct gxs *w, size_t n, size_t size) MUST_CHECK; /* arena */
/* Note that the memory it may take is not enough. */
void gxs_crowded(struct gxs *w);

/* --- DFAs ----------------------------------------------------------------- */

/* States that edges, calls and one another name by index; several automata may
 * lie behind one another in the same tables. */
struct dfa {
    struct gram_state *states;
    struct gram_edge *edges;
    struct gram_call *calls;
    size_t n_states, n_edges, n_calls;
    size_t cap_states, cap_edges, cap_calls; /* 0, 0, 0: in the arena */
    uint32_t start;
};

void dfa_drop(struct gxs *w, struct dfa *d);
/* A new state without edges; false: too many. */
bool dfa_add_state(struct gxs *w, struct dfa *d) MUST_CHECK;
/* To the newest state; joined with the edge before it where that is the same
 * but for its symbols. */
bool dfa_add_edge(struct gxs *w, struct dfa *d, uint32_t lo, uint32_t hi,
                  uint32_t to) MUST_CHECK;
bool dfa_add_call(struct gxs *w, struct dfa *d, uint32_t rule,
                  uint32_t to) MUST_CHECK;

/*
 * States from `first` on that do the same become one; `first` stays first. The
 * tables only get smaller. What would take too long is left as it is.
 */
bool dfa_minimise(struct gxs *w, struct dfa *d, uint32_t first) MUST_CHECK;

/* --- NFAs ----------------------------------------------------------------- */

/* In place of lo: what is not a symbol. */
#define NFA_EPS 0xfff0u
#define NFA_BEGIN 0xfff1u
#define NFA_END 0xfff2u
#define NFA_CALL 0xfff3u /* hi: the rule */
#define NFA_NO 0xffffu   /* no edge here */

struct nfa_edge {
    uint16_t lo, hi;
    uint32_t to;   /* state and flags of gram/grammar.h */
    uint32_t more; /* index in nfa.more of this state's next edge; 0: none */
};

struct nfa_task;

struct nfa {
    struct gxs *w;
    struct nfa_edge *states; /* [n] with their first edges */
    struct nfa_edge *more;   /* [n_more], the first unused */
    struct nfa_task *tasks;
    size_t n, cap, n_more, cap_more, n_tasks, cap_tasks;
    uint32_t start, final;
    bool counts; /* counting is of interest: else no flags */
    bool ends;   /* it has NFA_END */
};

void nfa_init(struct nfa *a, struct gxs *w);
void nfa_release(struct nfa *a);
/* Of x alone; what was in it before is gone, the memory is used again. */
bool nfa_build(struct nfa *a, const struct gx *x, bool counts) MUST_CHECK;

/* --- subset construction -------------------------------------------------- */

struct subset;
struct subset *subset_new(struct gxs *w);
void subset_free(struct subset *s); /* NULL ok */
/* The DFA of a, behind what `out` holds; out->start is its start. Not
 * trimmed. */
bool subset_build(struct subset *s, const struct nfa *a,
                  struct dfa *out) MUST_CHECK;

/* --- parts ---------------------------------------------------------------- */

/* A copy in the arena without the states that lead nowhere. Without any, where
 * nothing matches. */
const struct dfa *part_trim(struct gxs *w, const struct dfa *d) MUST_CHECK;
/* It as an expression; NULL: has failed. */
const struct gx *gx_part(struct gxs *w, const struct dfa *d);
/* A regular expression compiled by itself: trimmed, in the arena. */
const struct dfa *part_compile(struct gxs *w, const struct gx *x) MUST_CHECK;
enum part_op { PART_BOTH, PART_MINUS };
const struct dfa *part_product(struct gxs *w, const struct dfa *a,
                               const struct dfa *b, enum part_op op) MUST_CHECK;
const struct dfa *part_counted(struct gxs *w, const struct dfa *a,
                               enum gx_form form) MUST_CHECK;

#endif
