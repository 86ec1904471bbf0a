#include "chat/tools.h"

#define TOOLS_BYTES (64u << 20)

#define KIND_ANY                                                               \
    (KIND_INTEGER | KIND_NUMBER | KIND_BOOLEAN | KIND_NULL | KIND_OBJECT |     \
     KIND_ARRAY | KIND_STRING)

/* A parameter that may be a string stays text. */

struct param {
    struct span name; /* first: see by_name */
    unsigned kinds;
    bool text;        /* tool_is_text */
};

struct tool {
    struct span name; /* first: see by_name */
    struct param *params; /* [n] sorted */
    size_t n;
};

struct tools {
    struct arena mem;
    struct tool *p; /* [n] sorted */
    size_t n;
    bool forced;
};

/* --- kinds of a schema ---------------------------------------------------- */

/* A number may be an integer: inside a set KIND_NUMBER comes with both. */
static unsigned kind_of_word(const struct json *v)
{
    static const struct {
        const char *word;
        unsigned kinds;
    } words[] = {
        {"string", KIND_STRING},   {"integer", KIND_INTEGER},
        {"boolean", KIND_BOOLEAN}, {"number", KIND_NUMBER | KIND_INTEGER},
        {"null", KIND_NULL},       {"object", KIND_OBJECT},
        {"array", KIND_ARRAY},
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (json_is(v, words[i].word))
            return words[i].kinds;
    return KIND_ANY;
}

static unsigned kind_of_value(const struct json *v)
{
    switch (v->type) {
    case JSON_NULL:
        return KIND_NULL;
    case JSON_BOOL:
        return KIND_BOOLEAN;
    case JSON_NUM:
        return v->is_int ? KIND_INTEGER : KIND_NUMBER | KIND_INTEGER;
    case JSON_ARR:
        return KIND_ARRAY;
    case JSON_OBJ:
        return KIND_OBJECT;
    case JSON_STR:
        break;
    }
    return KIND_STRING;
}

/* The union over a list; a keyword that is no list says nothing. */
static unsigned any_of(const struct json *list,
                       unsigned (*kinds)(const struct json *v))
{
    unsigned all = 0;

    if (!list || list->type != JSON_ARR)
        return KIND_ANY;
    for (const struct json *c = list->child; c; c = c->next)
        all |= kinds(c);
    return all;
}

/*
 * What a schema allows: each keyword narrows the set. Recursion is bounded by
 * the JSON reader's depth, and no part is looked at twice.
 */
unsigned schema_kinds(const struct json *schema)
{
    const struct json *type = json_get(schema, "type");
    const struct json *constant = json_get(schema, "const");
    unsigned kinds = KIND_ANY;

    if (type && type->type == JSON_ARR)
        kinds = any_of(type, kind_of_word);
    else if (type)
        kinds = kind_of_word(type);
    kinds &= any_of(json_get(schema, "enum"), kind_of_value);
    if (constant)
        kinds &= kind_of_value(constant);
    kinds &= any_of(json_get(schema, "anyOf"), schema_kinds);
    return kinds & any_of(json_get(schema, "oneOf"), schema_kinds);
}

static unsigned param_kinds(const struct json *schema)
{
    unsigned kinds = schema_kinds(schema);

    if (kinds & KIND_STRING)
        return 0;
    return kinds & KIND_NUMBER ? kinds & ~(unsigned)KIND_INTEGER : kinds;
}

bool schema_is_plain(const struct json *schema)
{
    static const char *const others[] = {
        "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf",
        "not", "if", "then", "else",
    };

    if (schema->type != JSON_OBJ)
        return schema->type == JSON_BOOL && schema->boolean;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (json_get(schema, others[i]))
            return false;
    return true;
}

bool tool_is_text(const struct json *schema)
{
    return schema_is_plain(schema) && schema_kinds(schema) == KIND_STRING;
}

/* --- tables --------------------------------------------------------------- */

static int compare(struct span a, struct span b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.s, b.s, n) : 0;

    return c ? c : (a.n > b.n) - (a.n < b.n);
}

/* Of tools and params alike: both begin with their name. */
static int by_name(const void *a, const void *b)
{
    return compare(*(const struct span *)a, *(const struct span *)b);
}

static bool copy(struct arena *a, struct text t, struct span *out)
{
    *out = (struct span){arena_dup(a, t.s, t.n), t.n};
    return out->s;
}

static bool add_params(struct arena *a, struct tool *t,
                       const struct json *properties)
{
    if (!properties || properties->type != JSON_OBJ || !properties->n)
        return true;
    t->params = arena_array(a, properties->n, sizeof(*t->params));
    if (!t->params)
        return false;
    for (const struct json *c = properties->child; c; c = c->next) {
        struct param *p = &t->params[t->n++];

        p->kinds = param_kinds(c);
        p->text = tool_is_text(c);
        if (!copy(a, c->key, &p->name))
            return false;
    }
    qsort(t->params, t->n, sizeof(*t->params), by_name);
    return true;
}

static bool add_tools(struct tools *t, const struct chat_tool *list, size_t n)
{
    t->p = arena_array(&t->mem, n, sizeof(*t->p));
    if (!t->p)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct tool *tool = &t->p[t->n];

        if (!list[i].name.n)
            continue;
        if (!copy(&t->mem, list[i].name, &tool->name) ||
            !add_params(&t->mem, tool,
                        list[i].params ? json_get(list[i].params, "properties")
                                       : NULL))
            return false;
        t->n++;
    }
    qsort(t->p, t->n, sizeof(*t->p), by_name);
    return true;
}

struct tools *tools_new(const struct chat_tool *list, size_t n)
{
    struct tools *t = mem_try(sizeof(*t));

    if (!t)
        return NULL;
    arena_init(&t->mem, TOOLS_BYTES);
    if (n && !add_tools(t, list, n)) {
        tools_free(t);
        return NULL;
    }
    return t;
}

void tools_free(struct tools *t)
{
    if (!t)
        return;
    arena_release(&t->mem);
    free(t);
}

void tools_forced(struct tools *t)
{
    t->forced = true;
}

bool tools_are_forced(const struct tools *t)
{
    return t && t->forced;
}

static const struct tool *find(const struct tools *t, const char *name,
                               size_t n)
{
    const struct span key = {name, n};

    return t && t->n ? bsearch(&key, t->p, t->n, sizeof(*t->p), by_name)
                     : NULL;
}

bool tools_has(const struct tools *t, const char *name, size_t n)
{
    return find(t, name, n);
}

unsigned tools_kinds(const struct tools *t, const char *name, size_t n,
                     const char *param, size_t param_n)
{
    const struct tool *tool = find(t, name, n);
    const struct span key = {param, param_n};
    const struct param *p = NULL;

    if (tool && tool->n)
        p = bsearch(&key, tool->params, tool->n, sizeof(*p), by_name);
    if (t && t->forced)
        return tool && !(p && p->text) ? KIND_JSON : 0;
    return p ? p->kinds : 0;
}
