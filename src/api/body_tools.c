/* What a request offers: tools, and how they may be chosen. */
#include "api/body_int.h"

#include "base/utf8.h"
#include "chat/jsontext.h"
#include "gram/schema.h"

#define NAME_SHOWN 64 /* bytes of a name in a message */
#define TOO_LONG "is too long; at most 256 bytes are accepted"

/* --- schemas ------------------------------------------------------------- */

enum holds { HOLDS_NONE, HOLDS_SCHEMA, HOLDS_MAP };

/* Does this keyword hold a schema (or a list of them), or schemas by name? */
static enum holds holds_of(struct text key)
{
    static const char *const one[] = {
        "items", "prefixItems", "anyOf", "oneOf", "allOf", "not", "if",
        "then", "else", "additionalProperties", "contains", "propertyNames",
    };
    static const char *const map[] = {
        "properties", "patternProperties", "$defs", "definitions",
        "dependentSchemas",
    };
    struct span k = {key.s, key.n};

    for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++)
        if (span_is(k, one[i]))
            return HOLDS_SCHEMA;
    for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
        if (span_is(k, map[i]))
            return HOLDS_MAP;
    return HOLDS_NONE;
}

/* Recursion ends with `left`: no deeper than the limit. */
static bool fits(const struct json *schema, int left)
{
    if (left < 0)
        return false;
    for (const struct json *m = schema->child; m; m = m->next) {
        enum holds holds = holds_of(m->key);

        if (holds == HOLDS_NONE)
            continue;
        if (holds == HOLDS_SCHEMA && m->type == JSON_OBJ) {
            if (!fits(m, left - 1))
                return false;
            continue;
        }
        for (const struct json *c = m->child; c; c = c->next)
            if (c->type == JSON_OBJ && !fits(c, left - 1))
                return false;
    }
    return true;
}

enum st body_schema_levels(struct body_parse *p, const struct json *schema,
                           const char *where)
{
    if (fits(schema, SCHEMA_NESTING_MAX))
        return ST_OK;
    return err_set(p->e, ST_INVALID, where,
                   "a schema may nest %d levels below its root",
                   SCHEMA_NESTING_MAX);
}

/* --- tools --------------------------------------------------------------- */

static enum st bad_tool(struct body_parse *p, const char *where, size_t i,
                        const char *in, const char *field, const char *text)
{
    char full[160];

    snprintf(full, sizeof(full), "%s[%zu]%s%s", where, i, in, field);
    return err_set(p->e, ST_INVALID, full, "%s", text);
}

/* OpenAI's names are letters, digits, _ and -; clients also send dots and
 * colons, so only what could not be a name is refused. */
const char *body_bad_name(const struct json *v)
{
    if (!v || v->type != JSON_STR || !v->str.n)
        return "must be a string, not empty";
    if (v->str.n > TOOL_NAME_MAX)
        return TOO_LONG;
    for (size_t i = 0; i < v->str.n; i++)
        if ((unsigned char)v->str.s[i] < 0x20 || v->str.s[i] == 0x7f)
            return "must not hold control characters";
    return NULL;
}

/* A function that asks for it: OpenAI's rules of structure. */
static enum st check_strict(struct body_parse *p, const struct chat_tool *t,
                            const char *where)
{
    const struct json *strict = body_get(t->function, "strict");
    size_t n = t->name.n < NAME_SHOWN ? t->name.n : NAME_SHOWN;
    char what[NAME_SHOWN + 16];
    enum st st;

    if (!strict || !strict->boolean || !t->params)
        return ST_OK;
    n = utf8_complete_len(t->name.s, n);
    snprintf(what, sizeof(what), "function '%.*s'", (int)n, t->name.s);
    st = schema_strict(t->params, what, p->e);
    if (st)
        snprintf(p->e->where, sizeof(p->e->where), "%s", where);
    return st;
}

/* How a dialect writes a function. */
struct tool_form {
    const char *in;     /* where in the item: ".function", or "" */
    const char *params; /* what its schema is called */
    enum body_strict strict;
};

/* The members of function f that count. */
static enum st take_function(struct body_parse *p, const struct json *f,
                             const char *where, size_t i,
                             const struct tool_form *form,
                             struct chat_tool *out)
{
    const struct json *text = body_get(f, "description");
    const struct json *params = body_get(f, form->params);
    const struct json *strict = body_get(f, "strict");
    const char *wrong = body_bad_name(body_get(f, "name"));
    char full[96];
    enum st st;

    if (wrong)
        return bad_tool(p, where, i, form->in, ".name", wrong);
    if (text && text->type != JSON_STR)
        return bad_tool(p, where, i, form->in, ".description",
                        "must be a string");
    snprintf(full, sizeof(full), ".%s", form->params);
    if (params && params->type != JSON_OBJ)
        return bad_tool(p, where, i, form->in, full,
                        "must be an object, a JSON schema");
    if (strict && strict->type != JSON_BOOL)
        return bad_tool(p, where, i, form->in, ".strict",
                        "must be true or false");
    out->name = json_get(f, "name")->str;
    out->function = f;
    out->params = params;
    snprintf(full, sizeof(full), "%s[%zu]%s.%s", where, i, form->in,
             form->params);
    st = params ? body_schema_levels(p, params, full) : ST_OK;
    if (st || form->strict == STRICT_ANY)
        return st;
    return check_strict(p, out, full);
}

static enum st take_tool(struct body_parse *p, const struct json *item,
                         const char *where, size_t i,
                         const struct tool_form *form, struct chat_tool *out)
{
    const struct json *type = body_get(item, "type");
    const struct json *f = body_get(item, "function");

    if (item->type != JSON_OBJ)
        return bad_tool(p, where, i, "", "", "must be an object");
    if (type && !json_is(type, "function"))
        return bad_tool(p, where, i, "", ".type", "must be function");
    if (!f || f->type != JSON_OBJ)
        return bad_tool(p, where, i, "", ".function",
                        "must be an object with a name");
    out->item = item;
    return take_function(p, f, where, i, form, out);
}

/* Room for one more; NULL: p->e is set. */
static struct chat_tool *next_tool(struct body_parse *p, const char *where)
{
    if (!p->tools)
        p->tools = arena_array(p->a, TOOLS_MAX, sizeof(*p->tools));
    if (!p->tools) {
        body_full(p->e);
        return NULL;
    }
    if (p->n_tools == TOOLS_MAX) {
        err_set(p->e, ST_INVALID, where, "more than %d tools in a request",
                TOOLS_MAX);
        return NULL;
    }
    return &p->tools[p->n_tools];
}

/* The tool behind the last one is read: it counts, unless one of its list,
 * which began at `first`, has its name. */
static enum st add_tool(struct body_parse *p, size_t first, const char *where,
                        size_t i, const struct tool_form *form)
{
    struct chat_tool *last = &p->tools[p->n_tools];

    for (size_t k = first; k < p->n_tools; k++)
        if (text_same(p->tools[k].name, last->name))
            return bad_tool(p, where, i, form->in, ".name",
                            "another tool has this name");
    p->n_tools++;
    return ST_OK;
}

/* All tools of the request together, as compact JSON. */
static enum st check_size(struct body_parse *p, const struct json *list,
                          const char *where)
{
    struct buf b;
    enum st st = ST_OK;

    buf_init(&b, TOOL_BYTES_MAX + 1);
    jsontext(&b, list, JT_COMPACT);
    p->tool_bytes += b.n;
    if (b.failed || p->tool_bytes > TOOL_BYTES_MAX)
        st = err_set(p->e, ST_INVALID, where,
                     "more than %d KiB of tools; %d tools and %d KiB of "
                     "compact JSON are accepted in a request",
                     TOOL_BYTES_MAX / 1024, TOOLS_MAX, TOOL_BYTES_MAX / 1024);
    buf_release(&b);
    return st;
}

enum st body_tool_list(struct body_parse *p, const struct json *list,
                       const char *where)
{
    static const struct tool_form form = {".function", "parameters",
                                          STRICT_OPENAI};
    size_t first = p->n_tools, i = 0;

    if (list->type != JSON_ARR)
        return err_set(p->e, ST_INVALID, where, "must be a list, not %s",
                       json_type_name(list));
    if (list->n > TOOLS_MAX - p->n_tools)
        return err_set(p->e, ST_INVALID, where,
                       "more than %d tools in a request", TOOLS_MAX);
    for (const struct json *c = list->child; c; c = c->next, i++) {
        struct chat_tool *t = next_tool(p, where);
        enum st st = t ? take_tool(p, c, where, i, &form, t) : p->e->st;

        if (!st)
            st = add_tool(p, first, where, i, &form);
        if (st)
            return st;
    }
    return list->n ? check_size(p, list, where) : ST_OK;
}

/* f in the shape of chat's items. */
static enum st chat_shape(struct body_parse *p, const char *params,
                          struct chat_tool *t)
{
    struct body_tree item, f;

    body_tree(p, &f, JSON_OBJ);
    body_put_text(p, &f, "name", t->name);
    body_put(p, &f, "description", body_get(t->function, "description"));
    body_put(p, &f, "parameters", body_get(t->function, params));
    body_put(p, &f, "strict", body_get(t->function, "strict"));
    body_tree(p, &item, JSON_OBJ);
    body_put_word(p, &item, "type", "function");
    body_put(p, &item, "function", f.v);
    if (f.failed || item.failed)
        return body_full(p->e);
    t->item = item.v;
    t->function = json_get(item.v, "function");
    return ST_OK;
}

struct text body_joined(struct body_parse *p, struct text space,
                        struct text own)
{
    static const char between[] = "__";
    size_t n = space.n, gap = 2;
    char *s;

    if (!n)
        return own;
    if (n > 2 && !memcmp(space.s + n - 2, between, 2))
        gap = 0;
    s = arena_alloc(p->a, n + gap + own.n + 1);
    if (!s)
        return (struct text){"", 0};
    memcpy(s, space.s, n);
    memcpy(s + n, between, gap);
    memcpy(s + n + gap, own.s, own.n);
    s[n + gap + own.n] = '\0';
    return (struct text){s, n + gap + own.n};
}

/* Its name and its place, when its members are read. */
static enum st take_place(struct body_parse *p, const struct function_list *l,
                          size_t i, struct chat_tool *t)
{
    t->sent_in = l->where;
    t->sent_i = i;
    t->own = t->name;
    t->space = l->space;
    t->custom = l->custom;
    t->name = body_joined(p, l->space, t->own);
    if (!t->name.n)
        return body_full(p->e);
    if (t->name.n > TOOL_NAME_MAX)
        return bad_tool(p, l->where, i, "", ".name",
                        "with its namespace " TOO_LONG);
    return chat_shape(p, l->params, t);
}

/* A tool of an earlier list that has the name of the last one goes. */
static void replace(struct body_parse *p, size_t first)
{
    struct chat_tool last = p->tools[p->n_tools - 1];

    for (size_t k = 0; k < first; k++)
        if (text_same(p->tools[k].name, last.name)) {
            p->tools[k] = last;
            p->n_tools--;
            return;
        }
}

enum st body_function(struct body_parse *p, const struct json *item, size_t i,
                      const struct function_list *l)
{
    const struct tool_form form = {"", l->params, l->strict};
    struct chat_tool *t = next_tool(p, l->where);
    enum st st;

    if (!t)
        return p->e->st;
    *t = (struct chat_tool){0};
    st = take_function(p, item, l->where, i, &form, t);
    p->out->tool_params = l->params;
    if (!st)
        st = take_place(p, l, i, t);
    if (!st)
        st = add_tool(p, l->first, l->where, i, &form);
    if (!st)
        replace(p, l->first);
    return st;
}

enum st body_functions_end(struct body_parse *p)
{
    struct chat_req *r = &p->out->chat;
    struct body_tree list;

    if (!p->n_tools)
        return ST_OK;
    body_tree(p, &list, JSON_ARR);
    for (size_t i = 0; i < p->n_tools; i++)
        body_put(p, &list, NULL, p->tools[i].item);
    if (list.failed)
        return body_full(p->e);
    r->tools = list.v;
    r->tool_list = p->tools;
    r->n_tools = p->n_tools;
    return check_size(p, list.v, "tools");
}

/* --- what cannot be served ------------------------------------------------ */

#define SKIPPED_WORD_MAX 64

static bool plain_word(struct text w)
{
    for (size_t i = 0; i < w.n; i++) {
        char c = w.s[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
            !(c >= '0' && c <= '9') && c != '_' && c != '.' && c != '-')
            return false;
    }
    return w.n && w.n <= SKIPPED_WORD_MAX;
}

static bool is_skipped(const char *list, struct text w)
{
    for (;;) {
        size_t n = strcspn(list, ",");

        if (n == w.n && !memcmp(list, w.s, n))
            return true;
        if (!list[n])
            return false;
        list += n + 2;
    }
}

void body_skip(struct body_parse *p, struct text type)
{
    char *list = p->out->skipped;
    size_t n = strlen(list);

    if (!plain_word(type))
        type = (struct text){"other", 5};
    if (is_skipped(list, type) || type.n + 2 >= SKIPPED_MAX - n)
        return;
    snprintf(list + n, SKIPPED_MAX - n, "%s%.*s", n ? ", " : "", (int)type.n,
             type.s);
}

/* --- the choice ---------------------------------------------------------- */

#define NAMED "{\"type\":\"function\",\"function\":{\"name\":...}}"

static enum st bad_choice(struct body_parse *p, const char *text)
{
    return err_set(p->e, ST_INVALID, "tool_choice", "%s", text);
}

static bool has_tool(const struct body_parse *p, struct text name)
{
    for (size_t i = 0; i < p->n_tools; i++)
        if (text_same(p->tools[i].name, name))
            return true;
    return false;
}

/* Those that take a text ask for nothing either way. */
static bool all_strict(const struct body_parse *p)
{
    bool some = false;

    for (size_t i = 0; i < p->n_tools; i++) {
        const struct json *strict = body_get(p->tools[i].function, "strict");

        if (p->tools[i].custom)
            continue;
        if (!strict || !strict->boolean)
            return false;
        some = true;
    }
    return some;
}

enum st body_choice(struct body_parse *p, enum tool_choice kind,
                    struct text name)
{
    struct chat_req *r = &p->out->chat;

    r->tool_choice = kind;
    if (kind >= TOOLS_REQUIRED && !p->n_tools)
        return bad_choice(p, "is only allowed when tools are specified");
    if (kind == TOOLS_NAMED && !has_tool(p, name))
        return bad_choice(p, "names a function that is not in tools");
    if (kind == TOOLS_NAMED)
        r->tool_named = name;
    if (kind == TOOLS_NONE)
        return ST_OK;
    p->out->offered = p->tools;
    p->out->n_offered = p->n_tools;
    p->out->strict_calls = kind == TOOLS_AUTO && all_strict(p);
    return ST_OK;
}

bool body_choice_word(const struct json *v, enum tool_choice *out)
{
    *out = TOOLS_AUTO;
    if (!v || json_is(v, "auto"))
        return true;
    *out = json_is(v, "none") ? TOOLS_NONE : TOOLS_REQUIRED;
    return json_is(v, "none") || json_is(v, "required");
}

static enum st take_choice(struct body_parse *p, const struct json *v)
{
    const struct text none = {"", 0};
    const struct json *name = body_get(body_get(v, "function"), "name");
    enum tool_choice word;

    if (body_choice_word(v, &word))
        return body_choice(p, word, none);
    if (v->type != JSON_OBJ)
        return bad_choice(p, "accepted is none, auto, required or " NAMED);
    if (!json_is(body_get(v, "type"), "function") || !name ||
        name->type != JSON_STR)
        return bad_choice(p, "accepted is " NAMED);
    return body_choice(p, TOOLS_NAMED, name->str);
}

enum st body_tools(struct body_parse *p)
{
    const struct json *list = body_get(p->root, "tools");
    const struct json *parallel = body_get(p->root, "parallel_tool_calls");
    struct chat_req *r = &p->out->chat;
    size_t late = p->n_tools; /* of system messages, read before */
    enum st st;

    r->parallel_calls = !parallel || parallel->boolean;
    r->parallel_asked = parallel && parallel->boolean;
    if (list) {
        st = body_tool_list(p, list, "tools");
        if (st)
            return st;
        r->tools = list->n ? list : NULL;
        r->tool_list = list->n ? p->tools + late : NULL;
        r->n_tools = list->n;
    }
    return take_choice(p, body_get(p->root, "tool_choice"));
}
