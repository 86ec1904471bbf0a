#include "config.h"
#include "chat/jinja_parse.h"

#include <string.h>

static struct jstmt *parse_body(struct jparse *p, const char *const *ends,
                                int line);

static struct jstmt *new_stmt(struct jparse *p, enum jstmt_kind kind, int line)
{
    struct jstmt *s = jparse_new(p, struct jstmt);

    if (s) {
        s->kind = kind;
        s->line = line;
    }
    return s;
}

static bool end_tag(struct jparse *p)
{
    return jparse_expect(p, JT_BLOCK_END);
}

/* The body up to `end`, whose tag is taken; what it sets is its own. */
static struct jstmt *body_until(struct jparse *p, const char *end, int line)
{
    const char *const ends[] = {end, NULL};
    const struct jbind *mark = p->binds;
    struct jstmt *body = parse_body(p, ends, line);

    jparse_unbind(p, mark);
    jparse_accept_word(p, end);
    end_tag(p);
    return p->lex.st ? NULL : body;
}

/* --- targets ------------------------------------------------------------- */

/* One name, or a namespace's attribute where `attrs`. */
static struct jtarget *one_target(struct jparse *p, bool attrs)
{
    static const char *const fixed[] = {
        "true", "false", "none", "True", "False", "None", "loop", "not", "if",
        "in", "is", "and", "or", "else",
    };
    struct jtarget *t = jparse_new(p, struct jtarget);

    if (!t)
        return NULL;
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        if (jparse_is(p, fixed[i]))
            jparse_fail(p, p->tok.line, "'%s' cannot be set", fixed[i]);
    t->name = jparse_name(p);
    if (attrs && jparse_accept(p, JT_DOT)) {
        t->attr = p->tok.s;
        jparse_expect(p, JT_NAME);
    }
    return p->lex.st ? NULL : t;
}

/* `a`, `a, b` or `(a, b)`. */
static struct jtarget *parse_targets(struct jparse *p, bool attrs,
                                     bool *unpack)
{
    bool closed = jparse_accept(p, JT_LPAREN);
    struct jtarget *first = one_target(p, attrs), *last = first;

    *unpack = false;
    while (last && jparse_accept(p, JT_COMMA)) {
        *unpack = true;
        if (p->tok.type != JT_NAME || jparse_is(p, "in"))
            break;
        last->next = one_target(p, attrs);
        last = last->next;
    }
    if (closed)
        jparse_expect(p, JT_RPAREN);
    return p->lex.st ? NULL : first;
}

static void bind_targets(struct jparse *p, const struct jtarget *t)
{
    for (; t; t = t->next)
        if (!t->attr.n)
            jparse_bind(p, jparse_intern(p, t->name->s));
}

/* --- if, for ------------------------------------------------------------- */

static struct jstmt *parse_if(struct jparse *p, int line)
{
    static const char *const ends[] = {"elif", "else", "endif", NULL};
    static const char *const last[] = {"endif", NULL};
    struct jstmt *s = new_stmt(p, JS_IF, line);
    struct jbranch **end = s ? &s->u.branches : NULL;
    const struct jbind *mark = p->binds;
    bool test = true;

    p->branches++;
    while (end) {
        struct jbranch *b = jparse_new(p, struct jbranch);

        if (!b)
            break;
        *end = b;
        end = &b->next;
        if (test)
            b->test = jparse_tuple(p, false);
        end_tag(p);
        b->body = parse_body(p, test ? ends : last, line);
        jparse_unbind(p, mark);
        if (p->lex.st || jparse_accept_word(p, "endif"))
            break;
        test = !jparse_accept_word(p, "else");
        if (test)
            jparse_next(p);
    }
    p->branches--;
    end_tag(p);
    return s;
}

static struct jstmt *parse_for(struct jparse *p, int line)
{
    static const char *const ends[] = {"else", "endfor", NULL};
    struct jstmt *s = new_stmt(p, JS_FOR, line);
    struct jname *loop = jparse_intern(p, (struct span){"loop", 4});
    const struct jbind *mark = p->binds;
    unsigned loads;

    if (!s || !loop)
        return NULL;
    s->u.loop.targets = parse_targets(p, false, &s->u.loop.unpack);
    if (!jparse_accept_word(p, "in"))
        jparse_unexpected(p, "'in'");
    s->u.loop.over = jparse_tuple(p, false);
    if (p->lex.st)
        return NULL;
    bind_targets(p, s->u.loop.targets);
    if (jparse_accept_word(p, "if"))
        s->u.loop.only = jparse_expr(p);
    if (jparse_is(p, "recursive"))
        jparse_fail(p, line, "recursive loops are not supported");
    end_tag(p);
    jparse_bind(p, loop);
    loads = loop->loads;
    p->loops++;
    s->u.loop.body = parse_body(p, ends, line);
    p->loops--;
    s->u.loop.loop = loop->loads != loads ? loop : NULL;
    jparse_unbind(p, mark);
    if (!jparse_accept_word(p, "else")) {
        jparse_accept_word(p, "endfor");
        end_tag(p);
        return s;
    }
    end_tag(p);
    s->u.loop.none = body_until(p, "endfor", line);
    return s;
}

static struct jstmt *parse_break(struct jparse *p, int line)
{
    if (!p->loops)
        jparse_fail(p, line, "break outside of a loop");
    end_tag(p);
    return new_stmt(p, JS_BREAK, line);
}

static struct jstmt *parse_continue(struct jparse *p, int line)
{
    if (!p->loops)
        jparse_fail(p, line, "continue outside of a loop");
    end_tag(p);
    return new_stmt(p, JS_CONTINUE, line);
}

/* --- set, with, do, filter ----------------------------------------------- */

static struct jstmt *parse_set(struct jparse *p, int line)
{
    struct jstmt *s = new_stmt(p, JS_SET, line);

    if (!s)
        return NULL;
    s->u.set.targets = parse_targets(p, true, &s->u.set.unpack);
    if (jparse_accept(p, JT_ASSIGN)) {
        s->u.set.value = jparse_tuple(p, true);
        end_tag(p);
    } else {
        s->kind = JS_CAPTURE;
        if (s->u.set.unpack)
            jparse_unexpected(p, "'='");
        if (jparse_accept(p, JT_PIPE))
            s->u.set.filters = jparse_filters(p);
        end_tag(p);
        s->u.set.body = body_until(p, "endset", line);
    }
    if (!p->lex.st)
        bind_targets(p, s->u.set.targets);
    return s;
}

static struct jstmt *parse_with(struct jparse *p, int line)
{
    struct jstmt *s = new_stmt(p, JS_WITH, line);
    struct jparam **end = s ? &s->u.with.vars : NULL;
    const struct jbind *mark = p->binds;

    while (end && p->tok.type == JT_NAME) {
        struct jparam *v = jparse_new(p, struct jparam);
        struct jtarget *t = one_target(p, false);

        if (!v || !t || !jparse_expect(p, JT_ASSIGN))
            return NULL;
        v->name = t->name;
        v->fallback = jparse_expr(p);
        *end = v;
        end = &v->next;
        if (!jparse_accept(p, JT_COMMA))
            break;
    }
    end_tag(p);
    if (p->lex.st)
        return NULL;
    for (struct jparam *v = s->u.with.vars; v; v = v->next)
        jparse_bind(p, jparse_intern(p, v->name->s));
    s->u.with.body = body_until(p, "endwith", line);
    jparse_unbind(p, mark);
    return s;
}

static struct jstmt *parse_do(struct jparse *p, int line)
{
    struct jstmt *s = new_stmt(p, JS_DO, line);

    if (s)
        s->u.expr = jparse_tuple(p, true);
    end_tag(p);
    return s;
}

static struct jstmt *parse_filter_block(struct jparse *p, int line)
{
    struct jstmt *s = new_stmt(p, JS_FILTER, line);

    if (!s)
        return NULL;
    s->u.set.filters = jparse_filters(p);
    end_tag(p);
    s->u.set.body = body_until(p, "endfilter", line);
    return s;
}

/* An extension of transformers: marks what the model wrote in training. */
static struct jstmt *parse_generation(struct jparse *p, int line)
{
    static const char *const ends[] = {"endgeneration", NULL};
    struct jstmt *s = new_stmt(p, JS_BODY, line);

    end_tag(p);
    if (s)
        s->u.body = parse_body(p, ends, line);
    jparse_accept_word(p, "endgeneration");
    end_tag(p);
    return s;
}

/* --- macros -------------------------------------------------------------- */

/* Behind "(": names with defaults up to ")". */
static void parse_params(struct jparse *p, struct jmacro *m)
{
    struct jparam **end = &m->params;

    while (!p->lex.st && p->tok.type != JT_RPAREN) {
        struct jparam *v = jparse_new(p, struct jparam);
        struct jtarget *t = one_target(p, false);

        if (!v || !t)
            return;
        v->name = t->name;
        if (jparse_accept(p, JT_ASSIGN))
            v->fallback = jparse_expr(p);
        *end = v;
        end = &v->next;
        m->n_params++;
        if (!jparse_accept(p, JT_COMMA))
            break;
    }
    jparse_expect(p, JT_RPAREN);
}

static void macro_body(struct jparse *p, struct jmacro *m, const char *end,
                       int line)
{
    static const char *const words[] = {"varargs", "kwargs", "caller"};
    const struct jname **used[] = {&m->varargs, &m->kwargs, &m->caller};
    const struct jbind *mark = p->binds;
    struct jname *names[3] = {NULL};
    unsigned loads[3] = {0};
    int loops = p->loops;

    p->loops = 0;
    for (int i = 0; i < 3; i++) {
        names[i] = jparse_intern(p, (struct span){words[i], strlen(words[i])});
        jparse_bind(p, names[i]);
        loads[i] = names[i] ? names[i]->loads : 0;
    }
    for (struct jparam *v = m->params; v; v = v->next)
        jparse_bind(p, jparse_intern(p, v->name->s));
    m->body = body_until(p, end, line);
    for (int i = 0; i < 3; i++)
        if (names[i] && names[i]->loads != loads[i])
            *used[i] = names[i];
    jparse_unbind(p, mark);
    p->loops = loops;
}

static struct jstmt *parse_macro(struct jparse *p, int line)
{
    struct jstmt *s = new_stmt(p, JS_MACRO, line);
    struct jmacro *m = jparse_new(p, struct jmacro);
    struct jtarget *t = one_target(p, false);

    if (!s || !m || !t)
        return NULL;
    s->u.macro.name = t->name;
    s->u.macro.macro = m;
    m->name = t->name->s;
    jparse_bind(p, jparse_intern(p, m->name));
    jparse_expect(p, JT_LPAREN);
    parse_params(p, m);
    end_tag(p);
    macro_body(p, m, "endmacro", line);
    return s;
}

static struct jstmt *parse_call(struct jparse *p, int line)
{
    struct jstmt *s = new_stmt(p, JS_CALL, line);
    struct jmacro *m = jparse_new(p, struct jmacro);
    const struct jlink *l;

    if (!s || !m)
        return NULL;
    s->u.call.body = m;
    if (jparse_accept(p, JT_LPAREN))
        parse_params(p, m);
    s->u.call.expr = jparse_expr(p);
    end_tag(p);
    if (p->lex.st)
        return NULL;
    l = s->u.call.expr->kind == JE_CHAIN ? s->u.call.expr->u.chain.links
                                         : NULL;
    while (l && l->next)
        l = l->next;
    if (!l || l->kind != JL_CALL)
        jparse_fail(p, line, "a call block must call something: "
                    "{%% call name(...) %%}");
    macro_body(p, m, "endcall", line);
    return s;
}

/* --- bodies -------------------------------------------------------------- */

static struct jstmt *parse_tag(struct jparse *p)
{
    static const struct {
        const char *word;
        struct jstmt *(*parse)(struct jparse *p, int line);
    } tags[] = {
        {"if", parse_if}, {"for", parse_for}, {"set", parse_set},
        {"macro", parse_macro}, {"call", parse_call}, {"with", parse_with},
        {"do", parse_do}, {"filter", parse_filter_block},
        {"generation", parse_generation}, {"break", parse_break},
        {"continue", parse_continue},
    };
    static const char *const refused[] = {
        "include", "import", "from", "extends", "block",
    };
    struct jstmt *s = NULL;
    int line = p->tok.line;

    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
        if (!jparse_is(p, tags[i].word))
            continue;
        jparse_next(p);
        if (jparse_enter(p, line))
            s = tags[i].parse(p, line);
        jparse_leave(p);
        return p->lex.st ? NULL : s;
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (jparse_is(p, refused[i]))
            jparse_fail(p, line, "'%s' is refused: a chat template stands "
                        "alone", refused[i]);
    jparse_unexpected(p, "a tag (if, for, set, macro, call, with, do, filter, "
                         "generation, break, continue, raw)");
    return NULL;
}

static struct jstmt *parse_data(struct jparse *p)
{
    struct jstmt *s = new_stmt(p, JS_DATA, p->tok.line);

    jparse_literal(p, p->tok.s);
    if (s)
        s->u.data = p->tok.s;
    jparse_next(p);
    return s;
}

static struct jstmt *parse_output(struct jparse *p)
{
    struct jstmt *s = new_stmt(p, JS_OUTPUT, p->tok.line);

    jparse_next(p);
    if (s)
        s->u.expr = jparse_tuple(p, true);
    return jparse_expect(p, JT_VAR_END) ? s : NULL;
}

/* Statements up to a tag of one of these names, which becomes p->tok; or, for
 * `ends` NULL, to the end of the template. */
static struct jstmt *parse_body(struct jparse *p, const char *const *ends,
                                int line)
{
    struct jstmt *first = NULL, **end = &first;

    while (!p->lex.st && p->tok.type != JT_END) {
        if (p->tok.type == JT_DATA) {
            *end = parse_data(p);
        } else if (p->tok.type == JT_VAR_BEGIN) {
            *end = parse_output(p);
        } else {
            jparse_expect(p, JT_BLOCK_BEGIN);
            for (size_t i = 0; ends && ends[i]; i++)
                if (jparse_is(p, ends[i]))
                    return first;
            *end = parse_tag(p);
        }
        if (!*end)
            return NULL;
        end = &(*end)->next;
    }
    if (ends && !p->lex.st)
        jparse_fail(p, line, "a block without its end tag");
    return first;
}

enum st jparse_template(struct jparse *p)
{
    jparse_next(p);
    p->t->body = parse_body(p, NULL, 1);
    return p->lex.st;
}
