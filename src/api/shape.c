#include "api/shape.h"

#include "base/crypt.h"
#include "base/utf8.h"
#include "chat/jsontext.h"
#include "gram/forms.h"
#include "gram/regex.h"

#define SCHEMA_FIELD "response_format.json_schema.schema"

/* --- what is asked ------------------------------------------------------- */

enum answer { ANSWER_ANY, ANSWER_OBJECT, ANSWER_SCHEMA, ANSWER_REGEX,
              ANSWER_CHOICE, ANSWER_CALLS };

static enum answer answer_of(const struct body *b)
{
    if (b->chat.tool_choice >= TOOLS_REQUIRED)
        return ANSWER_CALLS;
    if (b->chat.form != FORM_TEXT)
        return b->chat.form == FORM_JSON_SCHEMA ? ANSWER_SCHEMA
                                                : ANSWER_OBJECT;
    switch (b->structured) {
    case STRUCTURED_CHOICE:
        return ANSWER_CHOICE;
    case STRUCTURED_REGEX:
        return ANSWER_REGEX;
    case STRUCTURED_JSON:
        return ANSWER_SCHEMA;
    case STRUCTURED_OBJECT:
        return ANSWER_OBJECT;
    case STRUCTURED_NONE:
        break;
    }
    return ANSWER_ANY;
}

const char *shape_field(const struct body *b)
{
    if (b->chat.tool_choice >= TOOLS_REQUIRED)
        return "tool_choice";
    if (b->chat.form != FORM_TEXT)
        return b->form_field ? b->form_field : "response_format";
    return b->structured != STRUCTURED_NONE ? "structured_outputs" : NULL;
}

static const struct json *schema_of(const struct body *b)
{
    return b->chat.form == FORM_JSON_SCHEMA ? b->chat.schema : b->json;
}

/* The field that an error of the grammar is about. */
static const char *field_of(const struct body *b)
{
    switch (answer_of(b)) {
    case ANSWER_SCHEMA:
        if (b->chat.form != FORM_JSON_SCHEMA)
            return "structured_outputs.json";
        return b->schema_field ? b->schema_field : SCHEMA_FIELD;
    case ANSWER_REGEX:
        return "structured_outputs.regex";
    case ANSWER_CHOICE:
        return "structured_outputs.choice";
    case ANSWER_ANY:
    case ANSWER_OBJECT:
    case ANSWER_CALLS:
        break;
    }
    return shape_field(b);
}

/* A JSON answer may be a call instead, where the model may choose. */
static bool or_calls(const struct body *b, const struct format *f)
{
    return b->chat.form != FORM_TEXT && b->n_offered && f &&
           b->chat.tool_choice == TOOLS_AUTO && format_dialect(f);
}

bool shape_waits(const struct body *b, const struct format *f)
{
    struct call_trigger trigger;

    return b->strict_calls && answer_of(b) == ANSWER_ANY && f &&
           callgram_trigger(f, &trigger);
}

bool shape_calls(const struct body *b, const struct format *f)
{
    return answer_of(b) == ANSWER_CALLS || or_calls(b, f) ||
           shape_waits(b, f);
}

/* --- the key ------------------------------------------------------------- */

static void add_text(struct buf *out, struct text t)
{
    buf_add(out, &t.n, sizeof(t.n));
    buf_add(out, t.s, t.n);
}

static void add_json(struct buf *out, const struct json *v)
{
    jsontext(out, v, JT_COMPACT);
    buf_putc(out, '\n');
}

/* Calls depend on tools, and on the form, which its pointer stands for. */
static void add_calls(struct buf *out, const struct format *f,
                      const struct body *b)
{
    const struct chat_req *r = &b->chat;

    buf_add(out, &f, sizeof(f));
    buf_putc(out, r->parallel_asked ? 'p' : '1');
    add_text(out, r->tool_choice == TOOLS_NAMED ? r->tool_named
                                                : (struct text){"", 0});
    for (size_t i = 0; i < b->n_offered; i++)
        add_json(out, b->offered[i].item);
}

/* All that the grammar depends on. */
static enum st make_key(uint8_t key[GRAMMAR_KEY], const struct format *f,
                        const struct body *b, bool space, struct err *e)
{
    enum answer answer = answer_of(b);
    struct buf s;
    enum st st = ST_OK;

    buf_init(&s, SHAPE_BYTES_MAX);
    buf_putc(&s, (char)('a' + answer));
    buf_putc(&s, space ? ' ' : '-');
    if (answer == ANSWER_SCHEMA)
        add_json(&s, schema_of(b));
    else if (answer == ANSWER_REGEX)
        add_text(&s, b->regex);
    for (size_t i = 0; i < b->n_choice && answer == ANSWER_CHOICE; i++)
        add_text(&s, b->choice[i]);
    if (shape_calls(b, f))
        add_calls(&s, f, b);
    if (s.failed)
        st = err_set(e, ST_LIMIT, field_of(b) ? field_of(b) : "tools",
                     "has more than %zu MiB, or there is no memory for it",
                     SHAPE_BYTES_MAX >> 20);
    else
        crypt_sha256(s.p, s.n, key);
    buf_release(&s);
    return st;
}

/* --- the rule ------------------------------------------------------------ */

/* A rule that matches a space and then what `x` does. */
static int spaced(struct gxs *w, const struct gx *x)
{
    int rule = gx_rule(w);

    gx_rule_set(w, rule, gx_seq(w, gx_lit(w, " "), x), 0, GX_MANY);
    return rule;
}

static int either(struct gxs *w, int a, int b)
{
    int rule = gx_rule(w);

    gx_rule_set(w, rule, gx_alt(w, gx_call(w, a, false),
                                gx_call(w, b, false)), 0, GX_MANY);
    return rule;
}

/* A regex may match the empty text, so it is no rule to call. */
static enum st regex_rule(int *rule, struct gxs *w, struct text pattern,
                          bool space, struct err *e)
{
    const struct gx *x;
    enum st st;

    if (!space)
        return form_regex(rule, w, pattern, e);
    st = regex_parse(&x, w, pattern, REGEX_WHOLE, GX_RAW, e);
    if (!st)
        *rule = spaced(w, x);
    return st;
}

static enum st answer_rule(int *rule, struct gxs *w, const struct body *b,
                           bool space, struct err *e)
{
    enum st st = ST_OK;

    switch (answer_of(b)) {
    case ANSWER_REGEX:
        return regex_rule(rule, w, b->regex, space, e);
    case ANSWER_SCHEMA:
        st = form_json(rule, w, schema_of(b), e);
        break;
    case ANSWER_OBJECT:
        st = form_json(rule, w, NULL, e);
        break;
    case ANSWER_CHOICE:
        st = form_choice(rule, w, b->choice, b->n_choice, e);
        break;
    case ANSWER_ANY:
    case ANSWER_CALLS:
        BUG_ON(true);
    }
    if (!st && space)
        *rule = spaced(w, gx_call(w, *rule, false));
    return st;
}

static enum st root_rule(int *rule, struct gxs *w, const struct format *f,
                         const struct body *b, bool space, struct err *e)
{
    int calls;
    enum st st;

    if (answer_of(b) == ANSWER_CALLS)
        return callgram_rule(rule, w, f, b, e);
    if (answer_of(b) == ANSWER_ANY)
        return callgram_triggered(rule, w, f, b, e);
    st = answer_rule(rule, w, b, space, e);
    if (st || !or_calls(b, f))
        return st;
    st = callgram_rule(&calls, w, f, b, e);
    if (st && !strcmp(e->where, "tool_choice"))
        return ST_OK; /* the format has no form of calls: JSON alone */
    if (!st)
        *rule = either(w, *rule, calls);
    return st;
}

/* --- errors -------------------------------------------------------------- */

/* What a client hears: it is the field that is wrong, whatever cannot be done
 * with it. A text that was clipped ends with a whole character. */
static enum st tell(enum st st, const struct body *b, struct err *e)
{
    if (!e || st == ST_NOMEM || st == ST_INTERNAL)
        return st;
    if (st == ST_UNSUPPORTED)
        st = e->st = ST_INVALID;
    if (!e->where[0])
        snprintf(e->where, sizeof(e->where), "%s",
                 field_of(b) ? field_of(b) : "tools");
    e->text[utf8_complete_len(e->text, strlen(e->text))] = '\0';
    return st;
}

static enum st check_strict(const struct body *b, struct err *e)
{
    const char *field = b->form_field ? b->form_field : "response_format";
    char what[96];
    size_t n = b->schema_name.n < 64 ? b->schema_name.n : 64;

    if (!b->strict || b->chat.form != FORM_JSON_SCHEMA)
        return ST_OK;
    n = utf8_complete_len(b->schema_name.s, n);
    if (n)
        snprintf(what, sizeof(what), "%s '%.*s'", field, (int)n,
                 b->schema_name.s);
    else
        snprintf(what, sizeof(what), "%s", field);
    return schema_strict(b->chat.schema, what, e);
}

/* --- all of it ----------------------------------------------------------- */

/* w.memory is less than `room`: the schema is read beside the workshop. */
static enum st compile(struct grammar **out, const struct format *f,
                       const struct body *b, bool space, size_t room,
                       struct err *e)
{
    struct gxs w;
    int rule = -1;
    enum st st;

    gxs_init(&w);
    if (room - room / 6 < w.memory)
        w.memory = room - room / 6;
    st = root_rule(&rule, &w, f, b, space, e);
    if (!st)
        st = gram_compile(out, &w, rule, e);
    if (st && w.crowded && room < SHAPE_ROOM)
        st = ST_NOMEM;
    gxs_release(&w);
    return st;
}

static enum st no_room(struct memory *m, struct err *e)
{
    char words[400];

    memory_words(m, words, sizeof(words));
    return err_set(e, ST_NOMEM, "",
                   "not enough memory to compile what the answer must look "
                   "like; %s", words);
}

/* The same, with as much memory as there is. */
static enum st compile_counted(struct grammar **out, struct memory *m,
                               const struct format *f, const struct body *b,
                               bool space, struct err *e)
{
    size_t room = SHAPE_ROOM;
    enum st st;

    if (!m)
        return compile(out, f, b, space, room, e);
    while (!memory_reserve(m, room)) {
        room /= 2;
        if (room < SHAPE_ROOM_MIN)
            return no_room(m, e);
    }
    st = compile(out, f, b, space, room, e);
    memory_unreserve(m, room);
    return st == ST_NOMEM ? no_room(m, e) : st;
}

enum st shape_open(struct shape *s, struct grammars *cache, struct memory *m,
                   const struct format *f, const struct body *b, bool space,
                   struct err *e)
{
    uint8_t key[GRAMMAR_KEY];
    enum st st;

    *s = (struct shape){.waits = shape_waits(b, f)};
    if (answer_of(b) == ANSWER_ANY && !s->waits)
        return ST_OK;
    if (s->waits)
        (void)callgram_trigger(f, &s->trigger);
    st = check_strict(b, e);
    if (!st)
        st = make_key(key, f, b, space, e);
    if (st)
        return tell(st, b, e);
    if (shape_calls(b, f)) {
        callgram_marks(f, s->mark);
        s->calls = true;
    }
    s->g = grammars_find(cache, key);
    if (s->g)
        return ST_OK;
    st = compile_counted(&s->g, m, f, b, space, e);
    grammars_end(cache, key, s->g);
    return st ? tell(st, b, e) : ST_OK;
}

void shape_release(struct shape *s)
{
    gram_unref(s->g);
    s->g = NULL;
}
