#include "api/callgram.h"

#include "api/callmemo.h"
#include "api/calltext.h"
#include "base/ascii.h"
#include "chat/jsontext.h"
#include "gram/schema.h"

#define CALLS_MORE (CALLS_MAX - 1)

struct callgram {
    struct gxs *w;
    const struct format *f;
    const struct callform *form;
    const struct dialect *dialect;
    const char *stops[DIALECT_MARKERS_MAX + 8]; /* of texts */
    struct calltext text;
    struct callmemo memo;
    const struct body *body;
    bool triggered; /* from the first marker of the form on */
    size_t tool; /* being read: an index of body->offered */
    struct err *e;
};

/* --- errors --------------------------------------------------------------- */

/* A field of a function in the terms of a dialect that has its own. */
static void where_own(const struct callgram *c, const char *field,
                      char where[128])
{
    const struct body *b = c->body;
    const struct chat_tool *t = &b->offered[c->tool];

    if (!strcmp(field, ".parameters"))
        snprintf(where, 128, "%s[%zu].%s", t->sent_in, t->sent_i,
                 b->tool_params);
    else
        snprintf(where, 128, "%s[%zu]%s", t->sent_in, t->sent_i, field);
}

/* Tools of system messages come first in the list. */
static void where_tool(const struct callgram *c, const char *field,
                       char where[128])
{
    const struct body *b = c->body;
    size_t late = b->n_offered - b->chat.n_tools;

    if (b->tool_params)
        where_own(c, field, where);
    else if (c->tool < late)
        snprintf(where, 128, "messages");
    else
        snprintf(where, 128, "tools[%zu].function%s", c->tool - late, field);
}

static enum st refuse(const struct callgram *c, enum st st, const char *field,
                      const char *text)
{
    char where[128];

    where_tool(c, field, where);
    return err_set(c->e, st, where, "%s", text);
}

/* An error of a schema is one of this tool's parameters. */
static enum st of_parameters(const struct callgram *c, enum st st,
                             const struct err *said)
{
    return st ? refuse(c, st, ".parameters", said->text) : ST_OK;
}

/* Where the model may choose between a call and another answer, a schema that
 * is not supported binds nothing, unless the tool asked to be bound. */
static bool unbound(const struct callgram *c, enum st st)
{
    const struct chat_tool *t = &c->body->offered[c->tool];
    const struct json *strict = json_get(t->function, "strict");

    return (st == ST_UNSUPPORTED || st == ST_INVALID) &&
           c->body->chat.tool_choice == TOOLS_AUTO &&
           !(strict && strict->boolean);
}

/* --- texts of the form ---------------------------------------------------- */

/* The longest marker that is a token, at s; -1: none. */
static int marker_at(const struct callgram *c, const char *s, size_t *len)
{
    int best = -1;

    *len = 0;
    for (int k = 0; c->dialect->markers[k]; k++) {
        size_t n = strlen(c->dialect->markers[k]);

        if (n > *len && !strncmp(s, c->dialect->markers[k], n) &&
            format_mark_id(c->f, k) >= 0) {
            best = k;
            *len = n;
        }
    }
    return best;
}

static const struct gx *class_of(struct gxs *w, const char *ends)
{
    const struct gx *x = gx_none(w);

    for (; *ends; ends += 2)
        x = gx_alt(w, x, gx_range(w, (uint8_t)ends[0], (uint8_t)ends[1]));
    return x;
}

static const struct gx *number(struct gxs *w)
{
    const struct gx *digit = class_of(w, "09");

    return gx_alt(w, gx_lit(w, "0"),
                  gx_seq(w, class_of(w, "19"), gx_repeat(w, digit, 0, 2)));
}

/* A text of the form; `type` is what CALL_AT_TYPE stands for. */
static const struct gx *form_text(const struct callgram *c, const char *s,
                                  const char *type)
{
    struct gxs *w = c->w;
    const struct gx *x = gx_empty(w), *part;

    while (*s) {
        size_t len, run = 0;
        int k = marker_at(c, s, &len);

        if (k >= 0) {
            part = gx_mark(w, k);
        } else if (*s == *CALL_AT_ID) {
            part = gx_repeat(w, class_of(w, "09AZaz"), 9, 9);
            len = 1;
        } else if (*s == *CALL_AT_INDEX) {
            part = number(w);
            len = 1;
        } else if (*s == *CALL_AT_TYPE) {
            part = gx_lit(w, type);
            len = 1;
        } else {
            while (s[run] && (unsigned char)s[run] > *CALL_AT_TYPE &&
                   marker_at(c, s + run, &len) < 0)
                run++;
            part = gx_bytes(w, s, run);
            len = run;
        }
        x = gx_seq(w, x, part);
        s += len;
    }
    return x;
}

/* --- names ---------------------------------------------------------------- */

static void attr(struct buf *b, struct text t)
{
    for (size_t i = 0; i < t.n; i++) {
        if (t.s[i] == '&')
            buf_puts(b, "&amp;");
        else if (t.s[i] == '"')
            buf_puts(b, "&quot;");
        else
            buf_putc(b, t.s[i]);
    }
}

static bool writable(const struct callform *f, struct text t)
{
    for (const char *p = f->never; *p; p++)
        if (t.n && memchr(t.s, *p, t.n))
            return false;
    return f->name != CALLNAME_PLAIN ||
           (t.n && !ascii_space(t.s[0]) && !ascii_space(t.s[t.n - 1]));
}

/* A name of a function or a parameter, as the form writes it. */
static enum st name(const struct callgram *c, struct text t, const char *field,
                    const struct gx **out)
{
    struct buf b;

    *out = gx_none(c->w);
    if (!writable(c->form, t))
        return refuse(c, ST_INVALID, field,
                      "has a name that the model's form of calls cannot "
                      "write");
    buf_init(&b, BUF_MESSAGE);
    if (c->form->name == CALLNAME_JSON)
        jsontext_escape(&b, t.s, t.n, JT_SPACED);
    else if (c->form->name == CALLNAME_ATTR)
        attr(&b, t);
    else
        buf_add(&b, t.s, t.n);
    if (!b.failed)
        *out = gx_bytes(c->w, b.n ? b.p : "", b.n);
    buf_release(&b);
    return b.failed ? refuse(c, ST_LIMIT, field, "has a name that is too long")
                    : ST_OK;
}

/* --- schemas -------------------------------------------------------------- */

static struct json *node(struct gxs *w, enum json_type type, const char *key)
{
    struct json *v = arena_alloc(&w->arena, sizeof(*v));

    if (!v) {
        gxs_fail(w, ST_LIMIT, "", "the schemas of the tools are too large");
        return NULL;
    }
    *v = (struct json){.type = type, .key = {key, strlen(key)}};
    return v;
}

static bool has_any(const struct json *o, const char *const *keys)
{
    for (; *keys; keys++)
        if (json_get(o, *keys))
            return true;
    return false;
}

static const char *const combined[] = {
    "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if",
    "dependentSchemas", "dependentRequired", "propertyNames", "const", "enum",
    "unevaluatedProperties", "patternProperties", NULL,
};

static const struct json *declared(const struct json *params, struct text key)
{
    const struct json *of = json_get(params, "properties");

    for (const struct json *p = of && of->type == JSON_OBJ ? of->child : NULL;
         p; p = p->next)
        if (text_same(p->key, key))
            return p;
    return NULL;
}

static bool all_declared(const struct json *params)
{
    const struct json *list = json_get(params, "required");

    for (const struct json *r = list && list->type == JSON_ARR ? list->child
                                                               : NULL;
         r; r = r->next)
        if (r->type == JSON_STR && !declared(params, r->str))
            return false;
    return true;
}

/* Parameters that say nothing of further ones have none: the same schema with
 * additionalProperties false. */
static const struct json *closed(struct gxs *w, const struct json *params)
{
    const struct json *of = json_get(params, "properties");
    struct json *copy, **last;

    if (!of || of->type != JSON_OBJ || !all_declared(params) ||
        json_get(params, "additionalProperties") || has_any(params, combined))
        return params;
    copy = node(w, JSON_OBJ, "");
    if (!copy)
        return params;
    copy->n = params->n + 1;
    last = &copy->child;
    for (const struct json *m = params->child; m; m = m->next) {
        struct json *v = node(w, m->type, "");

        if (!v)
            return params;
        *v = *m;
        *last = v;
        last = &v->next;
    }
    *last = node(w, JSON_BOOL, "additionalProperties");
    return *last ? copy : params;
}

/* `schema` for values of one type. */
static const struct json *of_type(struct gxs *w, const struct json *schema,
                                  const char *type)
{
    struct json *all = node(w, JSON_OBJ, ""), *list = node(w, JSON_ARR,
                                                           "allOf");
    struct json *one = node(w, JSON_OBJ, ""), *word = node(w, JSON_STR,
                                                           "type");
    struct json *first = node(w, schema->type, "");

    if (!all || !list || !one || !word || !first)
        return schema;
    word->str = (struct text){type, strlen(type)};
    *first = *schema;
    first->key = (struct text){"", 0};
    first->next = one;
    one->child = word;
    list->child = first;
    list->n = 2;
    all->child = list;
    all->n = one->n = 1;
    return all;
}

/* --- parameters one by one ------------------------------------------------ */

static enum st add_json(struct callgram *c, const struct json *schema,
                        const char *type, const struct gx **x)
{
    const struct json *root = c->body->offered[c->tool].params;
    struct gxs *w = c->w;
    const struct gx *of[3] = {
        form_text(c, c->form->json, type),
        callmemo_find(&c->memo, 'j', schema),
        form_text(c, c->form->end, ""),
    };
    struct err said = {0};
    int rule;
    enum st st;

    if (!of[1]) {
        st = schema_rule(&rule, w, root, schema, &said);
        if (unbound(c, st))
            rule = schema_any(w);
        else if (st)
            return of_parameters(c, st, &said);
        of[1] = gx_call(w, rule, false);
        callmemo_keep(&c->memo, w, of[1]);
    }
    *x = gx_alt(w, *x, gx_seqn(w, of, 3));
    return ST_OK;
}

static enum st add_text(struct callgram *c, const struct json *schema,
                        const struct gx **x)
{
    const struct gx *text = callmemo_find(&c->memo, 't', schema);
    struct err said = {0};
    enum st st;

    if (!text) {
        st = calltext(&c->text, schema, &text, &said);
        if (st)
            return of_parameters(c, st, &said);
        callmemo_keep(&c->memo, c->w, text);
    }
    *x = gx_alt(c->w, *x,
                gx_seq(c->w, form_text(c, c->form->raw, ""), text));
    return ST_OK;
}

static const struct {
    unsigned kind;
    const char *form, *schema;
} types[] = {
    {KIND_NUMBER | KIND_INTEGER, "number", "number"},
    {KIND_BOOLEAN, "boolean", "boolean"},
    {KIND_NULL, "null", "null"},
    {KIND_OBJECT, "object", "object"},
    {KIND_ARRAY, "array", "array"},
};
#define N_TYPES (sizeof(types) / sizeof(types[0]))

/* The form says the type of each value, so each has a way of its own. */
static enum st typed(struct callgram *c, const struct json *schema,
                     unsigned kinds, const struct gx **x)
{
    const struct json *of = schema;
    enum st st = ST_OK;

    for (size_t i = 0; i < N_TYPES && !st; i++) {
        if (!(kinds & types[i].kind))
            continue;
        if (kinds & ~types[i].kind)
            of = of_type(c->w, schema, types[i].schema);
        st = add_json(c, of, types[i].form, x);
    }
    return st;
}

/* The ways in which a value of a schema that allows more than strings may be
 * one; *all: there are no others. */
static enum st strings(struct callgram *c, const struct json *schema,
                       const struct gx **x, bool *all)
{
    static const char *const beside[] = {
        "$ref", "$dynamicRef", "allOf", "oneOf", "not", "if", "type", "enum",
        "const", "pattern", "format", "minLength", "maxLength", NULL,
    };
    const struct json *any = json_get(schema, "anyOf");
    enum st st = ST_OK;

    *all = schema_is_plain(schema);
    if (*all)
        return add_text(c, schema, x);
    if (!any || any->type != JSON_ARR || has_any(schema, beside))
        return ST_OK;
    *all = true;
    for (const struct json *v = any->child; v && !st; v = v->next) {
        if (!(schema_kinds(v) & KIND_STRING))
            continue;
        if (schema_is_plain(v))
            st = add_text(c, v, x);
        else
            *all = false;
    }
    return st;
}

static enum st value(struct callgram *c, const struct json *schema,
                     const struct gx **x)
{
    const struct callform *f = c->form;
    unsigned kinds = schema_kinds(schema);
    bool apart = strcmp(f->raw, f->json) != 0, as_text = false;
    enum st st = ST_OK;

    *x = gx_none(c->w);
    if (tool_is_text(schema))
        return add_text(c, schema, x);
    if (!apart)
        return add_json(c, schema, "", x);
    if (kinds & KIND_STRING)
        st = strings(c, schema, x, &as_text);
    if (st)
        return st;
    if (strstr(f->json, CALL_AT_TYPE)) {
        st = typed(c, schema, kinds, x);
        if (!st && (kinds & KIND_STRING) && !as_text)
            st = add_json(c, of_type(c->w, schema, "string"), "object", x);
        return st;
    }
    return add_json(c, schema, "", x);
}

/* The parameters of a function that were read. */
struct param_list {
    const struct gx **of; /* [n] */
    size_t n;
    bool counted;         /* each is a rule, and counts */
};

static bool is_required(const struct json *params, struct text key)
{
    const struct json *list = json_get(params, "required");

    for (const struct json *r = list && list->type == JSON_ARR ? list->child
                                                               : NULL;
         r; r = r->next)
        if (r->type == JSON_STR && text_same(r->str, key))
            return true;
    return false;
}

/* Keys are written out, so that those that begin alike are one way. */
static enum st add_param(struct callgram *c, struct text key,
                         const struct json *schema, bool required,
                         struct param_list *l)
{
    const struct gx *of[3], *x;
    enum st st = name(c, key, ".parameters", &of[1]);
    int rule;

    if (!st)
        st = value(c, schema, &of[2]);
    if (st)
        return st;
    of[0] = form_text(c, c->form->param, "");
    x = gx_seqn(c->w, of, 3);
    if (l->counted) {
        rule = gx_rule(c->w);
        if (rule < 0)
            return ST_OK; /* the workshop has noted it */
        gx_rule_set(c->w, rule, x, 0, GX_MANY);
        x = gx_call(c->w, rule, true);
    }
    l->of[l->n++] = required ? x : gx_opt(c->w, x);
    return ST_OK;
}

/* Required ones that are declared nowhere hold anything. */
static enum st undeclared(struct callgram *c, const struct json *params,
                          struct param_list *l)
{
    static const struct json anything = {.type = JSON_BOOL, .boolean = true};
    const struct json *list = json_get(params, "required");
    enum st st = ST_OK;

    for (const struct json *r = list && list->type == JSON_ARR ? list->child
                                                               : NULL;
         r && !st; r = r->next) {
        bool again = false;

        for (const struct json *q = list->child; q != r; q = q->next)
            again = again || (q->type == JSON_STR && r->type == JSON_STR &&
                              text_same(q->str, r->str));
        if (r->type == JSON_STR && !again && !declared(params, r->str))
            st = add_param(c, r->str, &anything, true, l);
    }
    return st;
}

static enum st check_object(const struct callgram *c, const struct json *params)
{
    const struct json *type = json_get(params, "type"), *of;
    char text[128];

    for (const char *const *k = combined; *k; k++)
        if (json_get(params, *k)) {
            snprintf(text, sizeof(text),
                     "%s at #: the model's form of calls has parameters one "
                     "by one; accepted is an object with properties", *k);
            return refuse(c, ST_UNSUPPORTED, ".parameters", text);
        }
    if (type && !(schema_kinds(params) & KIND_OBJECT))
        return refuse(c, ST_INVALID, ".parameters",
                      "type at #: arguments are an object");
    of = json_get(params, "properties");
    if (of && of->type != JSON_OBJ)
        return refuse(c, ST_INVALID, ".parameters",
                      "properties at #: must be an object");
    of = json_get(params, "required");
    if (of && of->type != JSON_ARR)
        return refuse(c, ST_INVALID, ".parameters",
                      "required at #: must be a list");
    return ST_OK;
}

static uint32_t count_of(const struct json *params, const char *key,
                         uint32_t dflt)
{
    const struct json *v = json_get(params, key);

    if (!v || v->type != JSON_NUM || !(v->d >= 0))
        return dflt;
    return v->d < GX_MANY ? (uint32_t)v->d : GX_MANY;
}

static bool all_optional(const struct json *params)
{
    const struct json *list = json_get(params, "required");

    return !list || !list->n;
}

static size_t members(const struct json *o, const char *key)
{
    const struct json *v = json_get(o, key);

    return v ? v->n : 0;
}

/* Between minProperties and maxProperties of them. */
static const struct gx *count(const struct callgram *c,
                              const struct json *params, const struct gx *x)
{
    uint32_t min = count_of(params, "minProperties", 0);
    uint32_t max = count_of(params, "maxProperties", GX_MANY);
    bool none = !min && all_optional(params);
    int rule = gx_rule(c->w);

    if (rule < 0)
        return x; /* the workshop has noted it */
    if (max)
        gx_rule_set(c->w, rule, x, none ? 1 : min, max);
    else
        gx_rule_set(c->w, rule, gx_none(c->w), 0, GX_MANY);
    x = gx_call(c->w, rule, false);
    return none ? gx_opt(c->w, x) : x;
}

/* All parameters of a function, in declared order. */
static enum st all_params(struct callgram *c, const struct json *params,
                          const struct gx **x)
{
    struct param_list l = {
        .counted = json_get(params, "minProperties") ||
                   json_get(params, "maxProperties"),
    };
    const struct json *of = json_get(params, "properties");
    size_t room = members(params, "properties") + members(params, "required");
    enum st st = check_object(c, params);

    *x = gx_empty(c->w);
    if (st || (!room && !l.counted))
        return st;
    l.of = arena_array(&c->w->arena, room + 1, sizeof(*l.of));
    if (!l.of)
        return refuse(c, ST_LIMIT, ".parameters", "are too many");
    for (const struct json *p = of ? of->child : NULL; p && !st; p = p->next)
        st = add_param(c, p->key, p, is_required(params, p->key), &l);
    if (!st)
        st = undeclared(c, params, &l);
    if (st)
        return st;
    *x = gx_seqn(c->w, l.of, l.n);
    if (l.counted)
        *x = count(c, params, *x);
    return ST_OK;
}

/* --- calls ---------------------------------------------------------------- */

static enum st arguments(struct callgram *c, const struct json *params,
                         const struct gx **x)
{
    struct err said = {0};
    int rule;
    enum st st;

    *x = gx_empty(c->w);
    if (c->form->param)
        return params ? all_params(c, params, x) : ST_OK;
    if (!params) {
        *x = gx_lit(c->w, "{}");
        return ST_OK;
    }
    params = closed(c->w, params);
    st = schema_rule(&rule, c->w, params, params, &said);
    if (unbound(c, st))
        rule = schema_any_object(c->w);
    else if (st)
        return of_parameters(c, st, &said);
    *x = gx_call(c->w, rule, false);
    return ST_OK;
}

/* head ARGUMENTS. They stand in the answer twice, where it may have several
 * calls; as a rule they are made once. */
static const struct gx *call_of(const struct callgram *c,
                                const struct gx *const of[2])
{
    const struct gx *x = gx_seqn(c->w, of, 2);
    int rule;

    if (!c->form->param || !*c->form->head)
        return x; /* may be empty */
    rule = gx_rule(c->w);
    if (rule < 0)
        return x;
    gx_rule_set(c->w, rule, x, 0, GX_MANY);
    return gx_call(c->w, rule, false);
}

/* NAME head ARGUMENTS of any function that may be called. */
static enum st functions(struct callgram *c, const struct gx **x)
{
    const struct body *b = c->body;
    const struct chat_req *r = &b->chat;
    const struct gx *head = form_text(c, c->form->head, "");

    *x = gx_none(c->w);
    for (c->tool = 0; c->tool < b->n_offered; c->tool++) {
        const struct chat_tool *t = &b->offered[c->tool];
        const struct gx *of[3] = {NULL, head, NULL};
        enum st st;

        if (r->tool_choice == TOOLS_NAMED && !text_same(t->name, r->tool_named))
            continue;
        st = name(c, t->name, ".name", &of[0]);
        if (!st)
            st = arguments(c, t->params, &of[2]);
        if (st)
            return st;
        *x = gx_alt(c->w, *x, gx_seq(c->w, of[0], call_of(c, of + 1)));
    }
    return ST_OK;
}

/* The first marker at *s or behind, which goes behind it; -1: none. */
static int next_marker(const struct callgram *c, const char **s)
{
    size_t len = 0;
    int k = -1;

    while (**s && (k = marker_at(c, *s, &len)) < 0)
        ++*s;
    *s += len;
    return k;
}

/* *open goes behind it. */
static bool find_trigger(const struct callgram *c, const char **open,
                         struct call_trigger *out)
{
    const char *sure = c->form->sure, *text;
    int k;

    *open = sure ? strstr(c->form->open, sure) : c->form->open;
    if (!*open || (!sure && c->dialect->channels))
        return false;
    k = next_marker(c, open);
    *out = (struct call_trigger){.first = format_mark_id(c->f, k), .last = -1};
    if (k < 0 || !sure)
        return k >= 0;
    text = *open;
    k = next_marker(c, open);
    if (k < 0 || *open != strstr(c->form->open, sure) + strlen(sure))
        return false; /* parts of it are spelled */
    out->last = format_mark_id(c->f, k);
    out->text = (struct span){
        text, (size_t)(*open - text) - strlen(c->dialect->markers[k]),
    };
    return true;
}

/* Several calls? Behind a trigger those that are one after the other have a
 * trigger each. */
static bool several(const struct callgram *c)
{
    const struct callform *f = c->form;

    if (!f->next)
        return false;
    return c->triggered ? strncmp(f->next, f->close, strlen(f->close)) != 0
                        : c->body->chat.parallel_asked;
}

/* The whole answer around them. */
static const struct gx *answer(const struct callgram *c, const struct gx *call)
{
    const struct callform *f = c->form;
    const char *open = f->open;
    struct call_trigger trigger;
    struct gxs *w = c->w;
    const struct gx *x;
    int more;

    if (c->triggered)
        find_trigger(c, &open, &trigger);
    x = gx_seq(w, form_text(c, open, ""), call);
    if (*f->lead && !c->triggered)
        x = gx_seq(w, gx_opt(w, form_text(c, f->lead, "")), x);
    if (several(c)) {
        more = gx_rule(w);
        if (more >= 0) {
            gx_rule_set(w, more, gx_seq(w, form_text(c, f->next, ""), call), 0,
                        GX_MANY);
            x = gx_seq(w, x, gx_star(w, gx_call(w, more, true)));
        }
    }
    return gx_seq(w, x, form_text(c, f->close, ""));
}

/* What a text must not contain: what ends it in the form, and every marker
 * that is read by its spelling. */
static void take_stops(struct callgram *c)
{
    size_t n = 0;

    for (size_t i = 0; c->form->stops && c->form->stops[i] && n < 8; i++)
        c->stops[n++] = c->form->stops[i];
    for (int k = 0; c->dialect->markers[k]; k++)
        if (format_mark_id(c->f, k) < 0)
            c->stops[n++] = c->dialect->markers[k];
    c->text = (struct calltext){
        .w = c->w, .stops = c->stops, .n_stops = n, .trims = c->form->trims,
        .end = form_text(c, c->form->end, ""), .any = -1,
    };
}

static enum st make(int *rule, struct gxs *w, const struct format *f,
                    const struct body *b, bool triggered, struct err *e)
{
    struct callgram c = {
        .w = w, .f = f, .body = b, .e = e, .form = format_callform(f),
        .dialect = format_dialect(f), .triggered = triggered,
    };
    const struct gx *x;
    enum st st;

    *rule = -1;
    if (!c.form)
        return err_set(e, ST_INVALID, "tool_choice",
                       "the chat format in use has no form of calls");
    callmemo_init(&c.memo);
    if (c.form->param)
        take_stops(&c);
    st = functions(&c, &x);
    callmemo_release(&c.memo);
    if (st)
        return st;
    *rule = gx_rule(w);
    if (*rule >= 0)
        gx_rule_set(w, *rule, answer(&c, x), 0,
                    several(&c) ? CALLS_MORE : GX_MANY);
    if (w->err.st)
        return err_set(e, w->err.st, "tools", "%s", w->err.text);
    return ST_OK;
}

enum st callgram_rule(int *rule, struct gxs *w, const struct format *f,
                      const struct body *b, struct err *e)
{
    return make(rule, w, f, b, false, e);
}

enum st callgram_triggered(int *rule, struct gxs *w, const struct format *f,
                           const struct body *b, struct err *e)
{
    return make(rule, w, f, b, true, e);
}

bool callgram_trigger(const struct format *f, struct call_trigger *out)
{
    const struct callgram c = {
        .f = f, .form = format_callform(f), .dialect = format_dialect(f),
    };
    const char *open;

    return c.form && c.dialect && find_trigger(&c, &open, out);
}

void callgram_marks(const struct format *f, int32_t mark[GX_MARKS])
{
    for (int k = 0; k < GX_MARKS; k++)
        mark[k] = format_mark_id(f, k);
}
