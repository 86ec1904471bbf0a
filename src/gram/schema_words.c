#include "config.h"
#include "gram/schema_way.h"

#include <string.h>

enum shape {
    IS_ANY,
    IS_STRING,
    IS_BOOL,
    IS_NUMBER,
    IS_EDGE,    /* a number; a boolean in draft 4 */
    IS_COUNT,
    IS_SCHEMA,
    IS_SCHEMAS, /* a list of schemas, one at least */
    IS_MAP,     /* an object of schemas */
    IS_NAMES,   /* a list of strings */
    IS_TYPE,
    IS_LIST,
    IS_NEEDS,   /* an object of lists of strings */
    IS_DEPENDS, /* an object of lists of strings or schemas */
};

struct word {
    const char *name;
    enum word_kind kind;
    enum shape shape;
    bool alone; /* READ: belongs to the schema itself */
};

/* Core, applicator and validation vocabularies of draft 2020-12; drafts 4, 6,
 * 7 and 2019-09 where they differ. */
static const struct word words[] = {
    {"$anchor", WORD_SAYS, IS_STRING, false},
    {"$comment", WORD_SAYS, IS_ANY, false},
    {"$defs", WORD_SAYS, IS_MAP, false},
    {"$dynamicAnchor", WORD_SAYS, IS_STRING, false},
    {"$dynamicRef", WORD_READ, IS_STRING, false},
    {"$id", WORD_SAYS, IS_STRING, false},
    {"$recursiveAnchor", WORD_SAYS, IS_BOOL, false},
    {"$recursiveRef", WORD_REFUSED, IS_ANY, false},
    {"$ref", WORD_READ, IS_STRING, false},
    {"$schema", WORD_REFUSED, IS_STRING, false},
    {"$vocabulary", WORD_SAYS, IS_ANY, false},
    {"additionalItems", WORD_REFUSED, IS_SCHEMA, false},
    {"additionalProperties", WORD_READ, IS_SCHEMA, true},
    {"allOf", WORD_READ, IS_SCHEMAS, false},
    {"anyOf", WORD_READ, IS_SCHEMAS, false},
    {"const", WORD_READ, IS_ANY, true},
    {"contains", WORD_READ, IS_SCHEMA, true},
    {"contentEncoding", WORD_SAYS, IS_ANY, false},
    {"contentMediaType", WORD_SAYS, IS_ANY, false},
    {"contentSchema", WORD_SAYS, IS_ANY, false},
    {"default", WORD_SAYS, IS_ANY, false},
    {"definitions", WORD_SAYS, IS_MAP, false},
    {"dependencies", WORD_REFUSED, IS_DEPENDS, false},
    {"dependentRequired", WORD_READ, IS_NEEDS, false},
    {"dependentSchemas", WORD_REFUSED, IS_MAP, false},
    {"deprecated", WORD_SAYS, IS_ANY, false},
    {"description", WORD_SAYS, IS_ANY, false},
    {"else", WORD_REFUSED, IS_SCHEMA, false},
    {"enum", WORD_READ, IS_LIST, true},
    {"examples", WORD_SAYS, IS_ANY, false},
    {"exclusiveMaximum", WORD_READ, IS_EDGE, true},
    {"exclusiveMinimum", WORD_READ, IS_EDGE, true},
    {"format", WORD_READ, IS_STRING, true},
    {"id", WORD_SAYS, IS_ANY, false},
    {"if", WORD_REFUSED, IS_SCHEMA, false},
    {"items", WORD_READ, IS_SCHEMA, true},
    {"maxContains", WORD_REFUSED, IS_COUNT, false},
    {"maxItems", WORD_READ, IS_COUNT, true},
    {"maxLength", WORD_READ, IS_COUNT, true},
    {"maxProperties", WORD_READ, IS_COUNT, true},
    {"maximum", WORD_READ, IS_NUMBER, true},
    {"minContains", WORD_READ, IS_COUNT, false},
    {"minItems", WORD_READ, IS_COUNT, true},
    {"minLength", WORD_READ, IS_COUNT, true},
    {"minProperties", WORD_READ, IS_COUNT, true},
    {"minimum", WORD_READ, IS_NUMBER, true},
    {"multipleOf", WORD_READ, IS_NUMBER, true},
    {"not", WORD_REFUSED, IS_SCHEMA, false},
    {"oneOf", WORD_READ, IS_SCHEMAS, false},
    {"pattern", WORD_READ, IS_STRING, true},
    {"patternProperties", WORD_READ, IS_MAP, true},
    {"prefixItems", WORD_READ, IS_SCHEMAS, true},
    {"properties", WORD_READ, IS_MAP, true},
    {"propertyNames", WORD_READ, IS_SCHEMA, true},
    {"readOnly", WORD_SAYS, IS_ANY, false},
    {"required", WORD_READ, IS_NAMES, true},
    {"then", WORD_REFUSED, IS_SCHEMA, false},
    {"title", WORD_SAYS, IS_ANY, false},
    {"type", WORD_READ, IS_TYPE, true},
    {"unevaluatedItems", WORD_READ, IS_SCHEMA, true},
    {"unevaluatedProperties", WORD_READ, IS_SCHEMA, true},
    {"uniqueItems", WORD_REFUSED, IS_BOOL, false},
    {"writeOnly", WORD_SAYS, IS_ANY, false},
};

#define N_WORDS (sizeof(words) / sizeof(words[0]))

static const struct word *find_word(struct text t)
{
    size_t lo = 0, hi = N_WORDS;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2, n = strlen(words[mid].name);
        int c = memcmp(words[mid].name, t.s, n < t.n ? n : t.n);

        if (!c && n == t.n)
            return &words[mid];
        if (c < 0 || (!c && n < t.n))
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

enum word_kind schema_word(struct text keyword)
{
    const struct word *w = find_word(keyword);

    return w ? w->kind : WORD_UNKNOWN;
}

enum schema_place schema_place(struct text keyword)
{
    const struct word *w = find_word(keyword);

    if (w && (w->shape == IS_SCHEMA || w->shape == IS_SCHEMAS))
        return PLACE_ONE;
    if (w && (w->shape == IS_MAP || w->shape == IS_DEPENDS))
        return PLACE_MAP;
    return PLACE_NONE;
}

bool schema_says_itself(const struct json *node)
{
    for (const struct json *kv = node->child; kv; kv = kv->next) {
        const struct word *w = find_word(kv->key);

        if (w && w->alone)
            return true;
    }
    return false;
}

unsigned schema_kind_word(const struct json *word)
{
    static const struct {
        const char *name;
        unsigned kinds;
    } types[] = {
        {"null", KIND_NULL},      {"boolean", KIND_BOOL},
        {"integer", KIND_INT},    {"number", KIND_INT | KIND_FRAC},
        {"string", KIND_STR},     {"array", KIND_ARR},
        {"object", KIND_OBJ},
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (json_is(word, types[i].name))
            return types[i].kinds;
    return 0;
}

unsigned schema_type_kinds(const struct json *node)
{
    const struct json *t = json_get(node, "type");
    unsigned kinds = 0;

    if (!t)
        return KIND_ALL;
    if (t->type != JSON_ARR)
        return schema_kind_word(t);
    for (const struct json *v = t->child; v; v = v->next)
        kinds |= schema_kind_word(v);
    return kinds;
}

/* Is a number whole, by its digits? 1.0 and 1e2 are, 1e-400 is not. */
static bool whole(struct text t)
{
    size_t digits = 0, zeros = 0, i = 0;
    int64_t exponent = 0;
    bool point = false, minus = false, any = false;

    for (; i < t.n && t.s[i] != 'e' && t.s[i] != 'E'; i++) {
        if (t.s[i] == '.') {
            point = true;
        } else if (t.s[i] >= '0' && t.s[i] <= '9') {
            digits += point;
            zeros = t.s[i] == '0' ? zeros + 1 : 0;
            any |= t.s[i] != '0';
        }
    }
    for (i++; i < t.n; i++) {
        if (t.s[i] == '-')
            minus = true;
        else if (t.s[i] >= '0' && t.s[i] <= '9' && exponent < 1000000)
            exponent = exponent * 10 + (t.s[i] - '0');
    }
    if (minus)
        exponent = -exponent;
    return !any || (int64_t)digits - (int64_t)zeros <= exponent;
}

unsigned schema_kind_of(const struct json *value)
{
    switch (value->type) {
    case JSON_NULL:
        return KIND_NULL;
    case JSON_BOOL:
        return KIND_BOOL;
    case JSON_NUM:
        return value->is_int || whole(value->str) ? KIND_INT : KIND_FRAC;
    case JSON_STR:
        return KIND_STR;
    case JSON_ARR:
        return KIND_ARR;
    case JSON_OBJ:
        break;
    }
    return KIND_OBJ;
}

/* --- shapes --------------------------------------------------------------- */

static bool is_schema(const struct json *v)
{
    return v->type == JSON_OBJ || v->type == JSON_BOOL;
}

static enum st check_schemas(struct schema_read *s, const struct json *kv,
                             const char *word, struct err *e)
{
    for (const struct json *v = kv->child; v; v = v->next)
        if (!is_schema(v))
            return schema_refuse(s, ST_INVALID, v, word, e,
                                 "a schema is an object or a boolean, not %s",
                                 json_type_name(v));
    return schema_work(s, kv->n, e);
}

static enum st check_names(struct schema_read *s, const struct json *node,
                           const struct json *kv, const char *word,
                           struct err *e)
{
    if (kv->type != JSON_ARR)
        return schema_refuse(s, ST_INVALID, node, word, e,
                             "must be a list of names, not %s",
                             json_type_name(kv));
    for (const struct json *v = kv->child; v; v = v->next)
        if (v->type != JSON_STR)
            return schema_refuse(s, ST_INVALID, v, word, e,
                                 "a name must be a string, not %s",
                                 json_type_name(v));
    return schema_work(s, kv->n, e);
}

static enum st check_type(struct schema_read *s, const struct json *node,
                          const struct json *kv, struct err *e)
{
    const struct json *v = kv->type == JSON_ARR ? kv->child : kv;

    if (kv->type != JSON_ARR && kv->type != JSON_STR)
        return schema_refuse(s, ST_INVALID, node, "type", e,
                             "must be the name of a type or a list of such "
                             "names, not %s", json_type_name(kv));
    for (; v; v = kv->type == JSON_ARR ? v->next : NULL)
        if (!schema_kind_word(v))
            return schema_refuse(s, ST_INVALID, node, "type", e,
                                 "types are null, boolean, integer, number, "
                                 "string, array and object");
    return ST_OK;
}

static enum st check_shape(struct schema_read *s, const struct json *node,
                           const struct json *kv, const struct word *w,
                           struct err *e)
{
    const char *want = NULL;

    switch (w->shape) {
    case IS_ANY:
        break;
    case IS_STRING:
        want = kv->type == JSON_STR ? NULL : "a string";
        break;
    case IS_BOOL:
        want = kv->type == JSON_BOOL ? NULL : "a boolean";
        break;
    case IS_NUMBER:
        want = kv->type == JSON_NUM ? NULL : "a number";
        break;
    case IS_EDGE:
        want = kv->type == JSON_NUM || kv->type == JSON_BOOL ? NULL
                                                             : "a number";
        break;
    case IS_COUNT:
        want = kv->type == JSON_NUM && kv->d >= 0 &&
                       schema_kind_of(kv) == KIND_INT
                   ? NULL
                   : "a whole number from 0 on";
        break;
    case IS_SCHEMA:
        want = is_schema(kv) ? NULL : "a schema, an object or a boolean";
        break;
    case IS_SCHEMAS:
        if (kv->type == JSON_ARR && kv->n)
            return check_schemas(s, kv, w->name, e);
        want = "a list of schemas, one at least";
        break;
    case IS_MAP:
        if (kv->type == JSON_OBJ)
            return check_schemas(s, kv, w->name, e);
        want = "an object of schemas";
        break;
    case IS_NAMES:
        return check_names(s, node, kv, w->name, e);
    case IS_TYPE:
        return check_type(s, node, kv, e);
    case IS_LIST:
        want = kv->type == JSON_ARR ? NULL : "a list of values";
        break;
    case IS_NEEDS:
    case IS_DEPENDS:
        want = kv->type == JSON_OBJ ? NULL : "an object of lists of names";
        for (const struct json *v = kv->child; v && !want; v = v->next) {
            enum st st = w->shape == IS_DEPENDS && is_schema(v)
                             ? ST_OK : check_names(s, node, v, w->name, e);

            if (st)
                return st;
        }
        break;
    }
    if (want)
        return schema_refuse(s, ST_INVALID, node, w->name, e,
                             "must be %s, not %s", want,
                             w->shape == IS_COUNT ? "this value"
                                                  : json_type_name(kv));
    return ST_OK;
}

/* --- what is refused ------------------------------------------------------ */

static bool is_true(const struct json *v)
{
    return v && ((v->type == JSON_BOOL && v->boolean) ||
                 (v->type == JSON_OBJ && !v->n));
}

static bool any_of_these(const struct json *node, const char *const *names)
{
    for (; *names; names++)
        if (json_get(node, *names))
            return true;
    return false;
}

/* Of whom the words are those that we know. */
static bool known_dialect(struct text t)
{
    static const char *const from[] = {
        "https://json-schema.org/", "http://json-schema.org/",
        "https://spec.openapis.org/",
    };

    for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++)
        if (t.n >= strlen(from[i]) && !memcmp(t.s, from[i], strlen(from[i])))
            return true;
    return false;
}

/* Words that are not supported, where they happen to restrict nothing. */
static bool harmless(const struct json *node, const struct json *kv)
{
    struct text k = kv->key;

    if (text_is(k, "$schema"))
        return known_dialect(kv->str);
    if (text_is(k, "uniqueItems"))
        return kv->type == JSON_BOOL && !kv->boolean;
    if (text_is(k, "not"))
        return kv->type == JSON_BOOL || is_true(kv);
    if (text_is(k, "if"))
        return kv->type == JSON_BOOL ||
               !any_of_these(node, (const char *[]){"then", "else", NULL});
    if (text_is(k, "then") || text_is(k, "else")) {
        const struct json *c = json_get(node, "if");

        return !c || c->type == JSON_BOOL;
    }
    if (text_is(k, "maxContains"))
        return !json_get(node, "contains");
    if (text_is(k, "additionalItems"))
        return !json_get(node, "items") ||
               json_get(node, "items")->type != JSON_ARR;
    if (text_is(k, "dependentSchemas"))
        return !kv->n;
    if (text_is(k, "dependencies")) {
        const struct json *d = kv->child;

        while (d && d->type == JSON_ARR)
            d = d->next;
        return !d;
    }
    return false;
}

static const char *instead(struct text k)
{
    if (text_is(k, "if") || text_is(k, "then") || text_is(k, "else"))
        return "; anyOf with both cases spelled out does it";
    if (text_is(k, "uniqueItems"))
        return "; without it, items may repeat";
    if (text_is(k, "$schema"))
        return " but for the drafts of json-schema.org";
    return "";
}

enum st schema_check(struct schema_read *s, const struct json *node,
                     struct err *e)
{
    const struct json *kv = node->child;
    enum st st = schema_work(s, 4 + node->n, e);

    for (; kv && !st; kv = kv->next) {
        const struct word *w = find_word(kv->key);

        if (!w)
            continue;
        if (text_is(kv->key, "items") && kv->type == JSON_ARR)
            return schema_refuse(s, ST_UNSUPPORTED, node, "items", e,
                                 "a list of schemas is written prefixItems");
        st = check_shape(s, node, kv, w, e);
        if (!st && w->kind == WORD_REFUSED && !harmless(node, kv))
            return schema_refuse(s, ST_UNSUPPORTED, node, w->name, e,
                                 "not supported%s", instead(kv->key));
    }
    return st;
}
