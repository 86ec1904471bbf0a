/*
 * gram/schema_way.h - what the files that read the structure of a schema
 * share: sets and rules (schema.c, schema_map.c), keywords (schema_words.c),
 * references (schema_ref.c, schema_ids.c, schema_uri.c), combinations
 * (schema_ways.c, schema_presence.c, schema_apart.c), values (schema_admit.c,
 * schema_enum.c), objects (schema_object.c, schema_names.c) and arrays
 * (schema_array.c).
 *
 * A place of a document is a set of schemas that all hold (struct set, as they
 * stand in the schema). Resolved, it is a list of ways: a value must be what
 * one of them allows. Everything lies in the reader's own arena until
 * schema_rule is over.
 */
#ifndef GRAM_SCHEMA_WAY_H
#define GRAM_SCHEMA_WAY_H

#include "gram/grammar.h"
#include "gram/schema_int.h"

#define SCHEMA_ARENA (8u << 20) /* bytes of one reader, at most */
#define SCHEMA_TESTER (6u << 20) /* of all that compiles one tester, and of
                                  * all testers together */
#define SCHEMA_STEP 4 /* steps of construction in one of reading */

/* Kinds of values. Whole numbers and others are told apart. */
enum {
    KIND_NULL = 1 << 0,
    KIND_BOOL = 1 << 1,
    KIND_INT = 1 << 2,
    KIND_FRAC = 1 << 3,
    KIND_STR = 1 << 4,
    KIND_ARR = 1 << 5,
    KIND_OBJ = 1 << 6,
    KIND_ALL = (1 << 7) - 1,
};

struct way {
    struct conj c;
    unsigned kinds; /* that its types, enums and consts leave */
};

struct ways {
    struct way *p;
    size_t n;       /* 0: no value at all */
};

/*
 * unevaluatedProperties and unevaluatedItems of one schema, on one way through
 * it: a schema that we make, found among those of the way.
 */
struct schema_scope {
    struct json node;         /* {}, with schema_scope_mark as key.s */
    const struct json *owner; /* the schema that has the keywords */
    struct conj of;           /* the way: what evaluates */
};
extern const char schema_scope_mark[]; /* schema_ways.c */

/* NULL: an ordinary schema. */
static inline const struct schema_scope *scope_of(const struct json *node)
{
    return node->key.s == schema_scope_mark ? (const void *)node : NULL;
}

/* Schemas that all hold; objects only. `none`: one of them was false. */
struct set {
    const struct json **of; /* [n] */
    size_t n, cap;
    bool none;
};

/* Bytes to a number; in the reader's arena. */
struct schema_map {
    struct schema_map_slot *slot; /* [cap] */
    size_t n, cap;
};

struct schema_job {     /* a rule that is still to be written */
    struct set set;
    int rule;
};

struct schema_known {   /* the ways of one schema */
    bool open;          /* being looked at: met again, it is a cycle */
    struct ways ways;
};

struct schema_tester {  /* a grammar that texts are tried on */
    struct grammar *g;  /* owned */
};

/* A document, or a part of it with an $id. */
struct schema_resource {
    struct text uri;     /* as far as it is known, without fragment */
    const struct json *node;
};

struct schema_anchor {
    size_t resource;
    struct text name;
    const struct json *node;
    bool dynamic;
};

struct schema_ids {
    bool read;
    struct schema_resource *resources; /* [n_resources] the root is 0 */
    size_t n_resources, cap_resources;
    struct schema_anchor *anchors;     /* [n_anchors] */
    size_t n_anchors, cap_anchors;
    struct schema_map at;              /* schemas not of resource 0 */
};

struct schema_read {
    struct gxs *w;
    const struct json *root; /* NULL: there is none */
    struct arena arena;
    struct schema_shared shared; /* where the workshop has no room for it */
    struct schema_map rules, known_at, tester_at, small_at, member_at;
    const struct json **members; /* [n_members] of large `properties` */
    size_t n_members, cap_members;
    struct schema_job *jobs; /* [n_jobs] */
    size_t n_jobs, cap_jobs, next_job;
    struct schema_known *known;
    size_t n_known, cap_known;
    const struct json **small; /* [n_small] the first of those that read the
                                * same */
    size_t n_small, cap_small;
    struct schema_tester *testers;
    size_t n_testers, cap_testers, tester_bytes;
    const struct json **ones; /* [n_ones] oneOf arrays that must be apart */
    size_t n_ones, cap_ones, next_one;
    size_t depth;             /* of schema_ways in itself */
    const struct json *reading; /* what it is at */
    size_t scopes;            /* schemas with unevaluated* that are open */
    struct schema_ids ids;
};

/* --- schema.c ------------------------------------------------------------ */

void schema_read_init(struct schema_read *s, struct gxs *w,
                      const struct json *root);
void schema_read_release(struct schema_read *s);
/* Count steps; the workshop's failure as a status. */
enum st schema_work(struct schema_read *s, size_t steps, struct err *e)
    MUST_CHECK;
enum st schema_nomem(struct err *e);
/* p with room for one more; NULL: no memory. */
void *schema_room(struct schema_read *s, void *p, size_t n, size_t *cap,
                  size_t size);
/* One more schema that holds; true changes nothing. */
enum st set_add(struct schema_read *s, struct set *set,
                const struct json *schema, struct err *e) MUST_CHECK;
/* The rule of all values that a set allows; -1 in *rule when `none`. */
enum st schema_set_rule(struct schema_read *s, const struct set *set,
                        int *rule, struct err *e) MUST_CHECK;
/* Its call: gx_none when `none`. */
enum st schema_set_value(struct schema_read *s, const struct set *set,
                         bool counts, const struct gx **out, struct err *e)
    MUST_CHECK;


/* --- schema_map.c --------------------------------------------------------- */

/* The number under a key, 0 when it is new; to be set by the caller. NULL: no
 * memory. Valid until the next call. */
uint32_t *schema_map_at(struct schema_read *s, struct schema_map *m,
                        const void *key, size_t n);

/* --- schema_words.c ------------------------------------------------------ */

/* Every keyword of one schema: has it the shape that it must have, and do we
 * support what it says? */
enum st schema_check(struct schema_read *s, const struct json *node,
                     struct err *e) MUST_CHECK;
/* Does it say anything itself, beside references and combinations? */
bool schema_says_itself(const struct json *node);
/* KIND_* of a type word; 0: there is no such type. */
unsigned schema_kind_word(const struct json *word);
unsigned schema_kind_of(const struct json *value);
/* What the `type` of a schema leaves. */
unsigned schema_type_kinds(const struct json *node);

/* --- schema_ref.c -------------------------------------------------------- */

/* What the $ref or $dynamicRef of a schema points at. */
enum st schema_ref(struct schema_read *s, const struct json *node,
                   const char *keyword, const struct json **out,
                   struct err *e) MUST_CHECK;

/* --- schema_ids.c, schema_uri.c: what schemas are called ------------------ */

/* The resource of a schema. */
enum st schema_resource_of(struct schema_read *s, const struct json *node,
                           size_t *out, struct err *e) MUST_CHECK;
/* The resource that a URI reference without fragment means inside of another;
 * ids.n_resources: it is not in this document. schema_resource_of was called
 * before. */
enum st schema_resource_find(struct schema_read *s, size_t base,
                             struct text ref, size_t *out, struct err *e)
    MUST_CHECK;
/* The schema with that $anchor or $dynamicAnchor; NULL: none. */
enum st schema_anchor_find(struct schema_read *s, size_t resource,
                           struct text name, const struct json **out,
                           struct err *e) MUST_CHECK;
/* How many in the whole document have that $dynamicAnchor; 0 when `node` has
 * not. */
enum st schema_anchor_dynamic(struct schema_read *s, const struct json *node,
                              struct text name, size_t *n, struct err *e)
    MUST_CHECK;
/* `ref` as it is meant in a document at `base`, without fragment: RFC 3986,
 * section 5.2. */
void schema_uri_join(struct text base, struct text ref, struct buf *out);

/* --- schema_ways.c ------------------------------------------------------- */

enum st schema_ways(struct schema_read *s, const struct json *node,
                    const struct ways **out, struct err *e) MUST_CHECK;
enum st schema_set_ways(struct schema_read *s, const struct set *set,
                        struct ways *out, struct err *e) MUST_CHECK;
/* Ways of `from` that `to` has not yet. */
enum st schema_add_ways(struct schema_read *s, struct ways *to, size_t *cap,
                        const struct ways *from, struct err *e) MUST_CHECK;
/* *acc and b both hold. */
enum st schema_multiply(struct schema_read *s, struct ways *acc,
                        const struct ways *b, struct err *e) MUST_CHECK;

/* --- schema_presence.c ---------------------------------------------------- */

/* *acc and dependentRequired (or dependencies, of names). */
enum st schema_dependents(struct schema_read *s, struct ways *acc,
                          const struct json *map, struct err *e) MUST_CHECK;
/* Do all alternatives only ask which names are there? */
bool schema_only_names(const struct json *list);
/* *acc and exactly one of those. */
enum st schema_one_name(struct schema_read *s, struct ways *acc,
                        const struct json *list, struct err *e) MUST_CHECK;

/* --- schema_admit.c: values themselves ----------------------------------- */

/* Equal as JSON values: numbers by value, objects without order. */
bool schema_same(const struct json *a, const struct json *b);
/* May this value stand where all of c hold? */
enum st schema_admit(struct schema_read *s, const struct conj *c,
                     const struct json *value, bool *yes, struct err *e)
    MUST_CHECK;
enum st schema_set_admit(struct schema_read *s, const struct set *set,
                         const struct json *value, bool *yes, struct err *e)
    MUST_CHECK;
/* Does a pattern of patternProperties find something in this name? */
enum st schema_pattern_hits(struct schema_read *s, const struct json *pattern,
                            struct text name, bool *yes, struct err *e)
    MUST_CHECK;
/* The values that enum and const of c leave, filtered by all else. *n is left
 * alone and *has false when c has neither. */
enum st schema_candidates(struct schema_read *s, const struct conj *c,
                          bool *has, const struct json ***out, size_t *n,
                          struct err *e) MUST_CHECK;

/* --- schema_apart.c ------------------------------------------------------ */

/* The alternatives of a oneOf that was met: ST_UNSUPPORTED unless each pair
 * is seen to exclude one another. `node` has the oneOf. */
enum st schema_one_of(struct schema_read *s, const struct json *node,
                      struct err *e) MUST_CHECK;

/* Is each pair of ways seen to exclude one another? */
enum st schema_all_apart(struct schema_read *s, const struct ways *ways,
                         bool *apart, struct err *e) MUST_CHECK;

/* --- schema_object.c ----------------------------------------------------- */

/* The member of an object, in little time even when it has many; NULL: it has
 * none of that name, or `props` is NULL. */
enum st schema_find_member(struct schema_read *s, const struct json *props,
                           struct text name, const struct json **out,
                           struct err *e) MUST_CHECK;
/* The pattern of patternProperties that `pattern` is a member of, as names
 * that it finds something in, written in GX_JSON; in the workshop w. */
enum st schema_pattern(struct schema_read *s, struct gxs *w,
                       const struct json *pattern, const struct gx **out,
                       struct err *e) MUST_CHECK;
/* Everything that c says about the value under one name. */
enum st schema_member_set(struct schema_read *s, const struct conj *c,
                          struct text name, struct set *out, struct err *e)
    MUST_CHECK;
/* ... and about the item at one place of an array: schema_array.c */
enum st schema_item_set(struct schema_read *s, const struct conj *c, size_t at,
                        struct set *out, struct err *e) MUST_CHECK;
/* What *n items at least must be; *of NULL: nothing. */
enum st schema_contains(struct schema_read *s, const struct conj *c,
                        const struct json **of, uint32_t *n, struct err *e)
    MUST_CHECK;

/* --- schema_enum.c -------------------------------------------------------- */

/* One of n values, as schema_literal writes them. */
enum st schema_literals(struct schema_read *s,
                        const struct json *const *values, size_t n,
                        const struct gx **out, struct err *e) MUST_CHECK;

/* --- schema_names.c ------------------------------------------------------- */

/* propertyNames of all of c, as a set of schemas. */
enum st schema_names_set(struct schema_read *s, const struct conj *c,
                         struct set *out, struct err *e) MUST_CHECK;
/* Texts that have all patterns and formats of c, written in GX_JSON, without
 * quotes; regular. NULL: there are none of those. */
enum st schema_texts(struct schema_read *s, const struct conj *c,
                     const struct gx **out, struct err *e) MUST_CHECK;
/* The strings that a set allows, written in GX_JSON, without quotes; regular.
 * NULL: any. */
enum st schema_names(struct schema_read *s, const struct set *set,
                     const struct gx **out, struct err *e) MUST_CHECK;

#endif
