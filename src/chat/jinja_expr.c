#include "config.h"
#include "chat/jinja_parse.h"

#include <string.h>

/* Our own recursion: expressions inside expressions and blocks. A bracket
 * costs two or three, so JINJA_NEST_MAX is what a template meets first. */
#define PARSE_DEPTH_MAX 400

enum level {
    L_NONE, L_OR, L_AND, L_NOT, L_COMPARE, L_ADD, L_TILDE, L_MUL, L_POW,
    L_UNARY,
};

struct infix {
    enum level level;
    enum jop op;
};

static struct jexpr *parse_level(struct jparse *p, enum level min);
static struct jexpr *parse_unary(struct jparse *p, bool filters);

static bool deeper(struct jparse *p)
{
    p->depth++;
    if (p->depth > PARSE_DEPTH_MAX)
        jparse_fail(p, p->tok.line, "nested too deeply");
    return !p->lex.st;
}

static struct jexpr *new_expr(struct jparse *p, enum jexpr_kind kind, int line)
{
    struct jexpr *e = jparse_new(p, struct jexpr);

    if (e) {
        e->kind = kind;
        e->line = line;
    }
    return e;
}

static struct jitem *new_item(struct jparse *p, struct jexpr *value)
{
    struct jitem *it = value ? jparse_new(p, struct jitem) : NULL;

    if (it)
        it->value = value;
    return it;
}

/* --- primaries ----------------------------------------------------------- */

static bool keyword(struct span s)
{
    static const char *const words[] = {
        "and", "or", "not", "in", "is", "if", "else", "elif",
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (span_is(s, words[i]))
            return true;
    return false;
}

static struct jexpr *constant(struct jparse *p, struct jv v)
{
    struct jexpr *e = new_expr(p, JE_CONST, p->tok.line);

    v.markup = true;
    if (e)
        e->u.value = v;
    jparse_next(p);
    return e;
}

static struct jexpr *parse_name(struct jparse *p)
{
    struct span s = p->tok.s;
    struct jname *name;
    struct jexpr *e;

    if (span_is(s, "true") || span_is(s, "True"))
        return constant(p, jv_bool(true, true));
    if (span_is(s, "false") || span_is(s, "False"))
        return constant(p, jv_bool(false, true));
    if (span_is(s, "none") || span_is(s, "None"))
        return constant(p, jv_none());
    if (keyword(s)) {
        jparse_unexpected(p, "an expression");
        return NULL;
    }
    e = new_expr(p, JE_NAME, p->tok.line);
    name = jparse_name(p);
    if (!e || !name)
        return NULL;
    name->loads++;
    if (!name->bound)
        name->free = true;
    e->u.name = name;
    return e;
}

/* Adjacent literals are one string. */
static struct jexpr *parse_string(struct jparse *p)
{
    struct jexpr *e = new_expr(p, JE_CONST, p->tok.line);
    struct span s = p->tok.s;
    struct buf joined;

    jparse_next(p);
    if (p->tok.type == JT_STRING) {
        buf_init(&joined, JINJA_SOURCE_MAX);
        buf_add(&joined, s.s, s.n);
        for (; p->tok.type == JT_STRING; jparse_next(p))
            buf_add(&joined, p->tok.s.s, p->tok.s.n);
        s.n = joined.n;
        s.s = arena_dup(&p->t->arena, joined.n ? joined.p : "", joined.n);
        if (joined.failed || !s.s)
            jlex_nomem(&p->lex);
        buf_release(&joined);
    }
    jparse_literal(p, s);
    if (p->lex.st || !e)
        return NULL;
    e->u.value = jv_span(s.s, s.n, true);
    return e;
}

/* Behind the opening bracket: expressions up to `close`, which is taken. */
static struct jexpr *parse_list(struct jparse *p, enum jexpr_kind kind,
                                enum jtok_type close, int line)
{
    struct jexpr *e = new_expr(p, kind, line);
    struct jitem **end = e ? &e->u.items : NULL;

    while (end && p->tok.type != close) {
        *end = new_item(p, jparse_expr(p));
        if (!*end)
            return NULL;
        if (kind == JE_DICT) {
            (*end)->key = (*end)->value;
            if (!jparse_expect(p, JT_COLON))
                return NULL;
            (*end)->value = jparse_expr(p);
        }
        end = &(*end)->next;
        if (!jparse_accept(p, JT_COMMA))
            break;
    }
    return jparse_expect(p, close) ? e : NULL;
}

/* Commas after `first` make it a tuple; with `first` NULL it is empty. */
static struct jexpr *tuple_rest(struct jparse *p, struct jexpr *first,
                                bool with_cond)
{
    struct jexpr *e = new_expr(p, JE_TUPLE, p->tok.line);
    struct jitem **end;

    if (!e || !first)
        return e;
    e->line = first->line;
    e->u.items = new_item(p, first);
    if (!e->u.items)
        return NULL;
    end = &e->u.items->next;
    while (jparse_accept(p, JT_COMMA)) {
        enum jtok_type t = p->tok.type;

        if (t == JT_RPAREN || t == JT_VAR_END || t == JT_BLOCK_END)
            break;
        *end = new_item(p, with_cond ? jparse_expr(p) : jparse_no_cond(p));
        if (!*end)
            return NULL;
        end = &(*end)->next;
    }
    return p->lex.st ? NULL : e;
}

struct jexpr *jparse_tuple(struct jparse *p, bool with_cond)
{
    struct jexpr *e = with_cond ? jparse_expr(p) : jparse_no_cond(p);

    return e && p->tok.type == JT_COMMA ? tuple_rest(p, e, with_cond) : e;
}

static struct jexpr *parse_bracket(struct jparse *p)
{
    enum jtok_type open = p->tok.type;
    struct jexpr *e = NULL;
    int line = p->tok.line;

    if (jparse_enter(p, line)) {
        jparse_next(p);
        if (open == JT_LBRACKET) {
            e = parse_list(p, JE_LIST, JT_RBRACKET, line);
        } else if (open == JT_LBRACE) {
            e = parse_list(p, JE_DICT, JT_RBRACE, line);
        } else {
            e = p->tok.type == JT_RPAREN ? tuple_rest(p, NULL, true)
                                         : jparse_tuple(p, true);
            if (!jparse_expect(p, JT_RPAREN))
                e = NULL;
        }
    }
    jparse_leave(p);
    return e;
}

static struct jexpr *parse_primary(struct jparse *p)
{
    switch (p->lex.st ? JT_END : p->tok.type) {
    case JT_NAME:
        return parse_name(p);
    case JT_STRING:
        return parse_string(p);
    case JT_INT:
        return constant(p, jv_int(p->tok.i, true));
    case JT_FLOAT:
        return constant(p, jv_float(p->tok.d, true));
    case JT_LPAREN:
    case JT_LBRACKET:
    case JT_LBRACE:
        return parse_bracket(p);
    default:
        jparse_unexpected(p, "an expression");
        return NULL;
    }
}

/* --- suffixes ------------------------------------------------------------ */

/* Behind "(": arguments up to ")", which is taken. */
static struct jarg *parse_args(struct jparse *p)
{
    struct jarg *first = NULL, **end = &first;
    bool keywords = false;

    while (!p->lex.st && p->tok.type != JT_RPAREN) {
        struct jarg *a = jparse_new(p, struct jarg);

        if (!a)
            return NULL;
        if (jparse_accept(p, JT_MUL)) {
            a->kind = JARG_STAR;
        } else if (jparse_accept(p, JT_POW)) {
            a->kind = JARG_STARSTAR;
        } else if (p->tok.type == JT_NAME &&
                   jparse_peek(p)->type == JT_ASSIGN) {
            a->kind = JARG_KW;
            a->name = p->tok.s;
            jparse_next(p);
            jparse_next(p);
        } else if (keywords) {
            jparse_fail(p, p->tok.line, "an argument without a name behind "
                        "one with a name");
        }
        keywords |= a->kind == JARG_KW || a->kind == JARG_STARSTAR;
        a->value = jparse_expr(p);
        *end = a;
        end = &a->next;
        if (!jparse_accept(p, JT_COMMA))
            break;
    }
    return jparse_expect(p, JT_RPAREN) ? first : NULL;
}

static void call_args(struct jparse *p, struct jlink *l)
{
    if (jparse_enter(p, p->tok.line)) {
        jparse_next(p);
        l->args = parse_args(p);
    }
    jparse_leave(p);
}

/* name.name...; only the first is looked up when there is one. */
static struct span dotted(struct jparse *p)
{
    struct span s = p->tok.s, part = s;

    while (jparse_expect(p, JT_NAME)) {
        s.n = (size_t)(part.s + part.n - s.s);
        if (!jparse_accept(p, JT_DOT))
            return s;
        part = p->tok.s;
    }
    return (struct span){"", 0};
}

/* As in Jinja2, what stands inside an `if` may never run: there an unknown
 * name is an error of the rendering. */
static void check_known(struct jparse *p, struct jlink *l, bool known,
                        const char *what)
{
    l->unknown = !known;
    if (!known && !p->branches)
        jparse_fail(p, l->line, "no %s '%.*s'", what,
                    (int)(l->name.n < 40 ? l->name.n : 40), l->name.s);
}

static void parse_filter(struct jparse *p, struct jlink *l)
{
    l->kind = JL_FILTER;
    l->name = dotted(p);
    if (p->lex.st)
        return;
    check_known(p, l, jlib_has_filter(l->name.s, l->name.n), "filter");
    if (p->tok.type == JT_LPAREN)
        call_args(p, l);
}

static struct jexpr *suffixes(struct jparse *p, struct jexpr *e, bool filters);

/* Does what follows a test's name begin its argument? */
static bool begins_arg(const struct jparse *p)
{
    switch (p->tok.type) {
    case JT_NAME:
        return !keyword(p->tok.s);
    case JT_STRING:
    case JT_INT:
    case JT_FLOAT:
    case JT_LBRACKET:
    case JT_LBRACE:
        return true;
    default:
        return false;
    }
}

static void parse_test(struct jparse *p, struct jlink *l)
{
    struct jarg *a;

    l->kind = jparse_accept_word(p, "not") ? JL_TEST_NOT : JL_TEST;
    l->name = dotted(p);
    if (p->lex.st)
        return;
    check_known(p, l, jlib_has_test(l->name.s, l->name.n), "test");
    if (p->tok.type == JT_LPAREN) {
        call_args(p, l);
    } else if (begins_arg(p)) {
        a = jparse_new(p, struct jarg);
        if (a && deeper(p))
            a->value = suffixes(p, parse_primary(p), false);
        p->depth--;
        l->args = a;
    }
}

static void subscript(struct jparse *p, struct jlink *l)
{
    l->kind = JL_ITEM;
    if (jparse_enter(p, l->line)) {
        if (p->tok.type != JT_COLON)
            l->a = jparse_expr(p);
        if (jparse_accept(p, JT_COLON)) {
            l->kind = JL_SLICE;
            if (p->tok.type != JT_COLON && p->tok.type != JT_RBRACKET)
                l->b = jparse_expr(p);
            if (jparse_accept(p, JT_COLON) && p->tok.type != JT_RBRACKET)
                l->c = jparse_expr(p);
        }
        jparse_expect(p, JT_RBRACKET);
    }
    jparse_leave(p);
}

static void attribute(struct jparse *p, struct jlink *l)
{
    if (p->tok.type == JT_INT) {
        l->kind = JL_ITEM;
        l->a = constant(p, jv_int(p->tok.i, true));
        return;
    }
    l->kind = JL_ATTR;
    l->name = p->tok.s;
    jparse_expect(p, JT_NAME);
}

/* One suffix into *l; false when there is none. */
static bool suffix(struct jparse *p, struct jlink *l, bool filters,
                   bool filtered)
{
    l->line = p->tok.line;
    if (p->tok.type == JT_LPAREN) {
        l->kind = JL_CALL;
        call_args(p, l);
    } else if (!filtered && jparse_accept(p, JT_DOT)) {
        attribute(p, l);
    } else if (!filtered && jparse_accept(p, JT_LBRACKET)) {
        subscript(p, l);
    } else if (filters && jparse_accept(p, JT_PIPE)) {
        parse_filter(p, l);
    } else if (filters && jparse_accept_word(p, "is")) {
        parse_test(p, l);
    } else {
        return false;
    }
    return true;
}

static struct jexpr *suffixes(struct jparse *p, struct jexpr *e, bool filters)
{
    struct span called = {"", 0};
    struct jlink one = {0}, **end = NULL;
    bool filtered = false;

    if (e && e->kind == JE_NAME)
        called = e->u.name->s;
    while (e && suffix(p, &one, filters, filtered)) {
        struct jlink *l = jparse_new(p, struct jlink);

        if (!l)
            return NULL;
        if (!end) {
            struct jexpr *chain = new_expr(p, JE_CHAIN, e->line);

            if (!chain)
                return NULL;
            chain->u.chain.first = e;
            end = &chain->u.chain.links;
            e = chain;
        }
        if (one.kind == JL_CALL)
            one.name = called;
        filtered |= one.kind == JL_FILTER || one.kind == JL_TEST ||
                    one.kind == JL_TEST_NOT;
        called = one.kind == JL_ATTR ? one.name : (struct span){"", 0};
        *l = one;
        *end = l;
        end = &l->next;
        one = (struct jlink){0};
    }
    return p->lex.st ? NULL : e;
}

struct jlink *jparse_filters(struct jparse *p)
{
    struct jlink *first = NULL, **end = &first;

    do {
        struct jlink *l = jparse_new(p, struct jlink);

        if (!l)
            return NULL;
        l->line = p->tok.line;
        parse_filter(p, l);
        *end = l;
        end = &l->next;
    } while (jparse_accept(p, JT_PIPE));
    return p->lex.st ? NULL : first;
}

/* --- operators ----------------------------------------------------------- */

static struct jexpr *wrap(struct jparse *p, enum jexpr_kind kind, int line,
                          struct jexpr *a)
{
    struct jexpr *e = a ? new_expr(p, kind, line) : NULL;

    if (e)
        e->u.a = a;
    return e;
}

static struct jexpr *parse_unary(struct jparse *p, bool filters)
{
    struct jexpr *e = NULL;
    int line = p->tok.line;

    if (deeper(p)) {
        if (jparse_accept(p, JT_SUB))
            e = wrap(p, JE_NEG, line, parse_unary(p, false));
        else if (jparse_accept(p, JT_ADD))
            e = wrap(p, JE_POS, line, parse_unary(p, false));
        else
            e = parse_primary(p);
        e = suffixes(p, e, filters);
    }
    p->depth--;
    return e;
}

static struct infix infix_at(struct jparse *p)
{
    static const struct infix table[] = {
        [JT_ADD] = {L_ADD, JOP_ADD}, [JT_SUB] = {L_ADD, JOP_SUB},
        [JT_TILDE] = {L_TILDE, JOP_CONCAT},
        [JT_MUL] = {L_MUL, JOP_MUL}, [JT_DIV] = {L_MUL, JOP_DIV},
        [JT_FLOORDIV] = {L_MUL, JOP_FLOORDIV}, [JT_MOD] = {L_MUL, JOP_MOD},
        [JT_POW] = {L_POW, JOP_POW},
        [JT_EQ] = {L_COMPARE, JOP_EQ}, [JT_NE] = {L_COMPARE, JOP_NE},
        [JT_LT] = {L_COMPARE, JOP_LT}, [JT_LE] = {L_COMPARE, JOP_LE},
        [JT_GT] = {L_COMPARE, JOP_GT}, [JT_GE] = {L_COMPARE, JOP_GE},
    };
    const struct jtok *next;

    if (p->lex.st)
        return table[0];
    if (p->tok.type != JT_NAME)
        return p->tok.type < sizeof(table) / sizeof(table[0])
                   ? table[p->tok.type]
                   : table[0];
    if (jparse_is(p, "or"))
        return (struct infix){L_OR, JOP_EQ};
    if (jparse_is(p, "and"))
        return (struct infix){L_AND, JOP_EQ};
    if (jparse_is(p, "in"))
        return (struct infix){L_COMPARE, JOP_IN};
    if (!jparse_is(p, "not"))
        return table[0];
    next = jparse_peek(p);
    if (next->type == JT_NAME && span_is(next->s, "in"))
        return (struct infix){L_COMPARE, JOP_NOT_IN};
    return table[0];
}

/* `left` and all that follows on this level, as one list. */
static struct jexpr *row_items(struct jparse *p, struct jexpr *left,
                               enum level level)
{
    struct jexpr *e = new_expr(p, level == L_OR    ? JE_OR
                                  : level == L_AND ? JE_AND
                                                   : JE_CONCAT, left->line);
    struct jitem **end;

    if (!e)
        return NULL;
    e->u.items = new_item(p, left);
    if (!e->u.items)
        return NULL;
    end = &e->u.items->next;
    while (infix_at(p).level == level) {
        jparse_next(p);
        *end = new_item(p, parse_level(p, level + 1));
        if (!*end)
            return NULL;
        end = &(*end)->next;
    }
    return e;
}

static struct jexpr *row_links(struct jparse *p, struct jexpr *left,
                               enum level level)
{
    struct jexpr *e = new_expr(p, level == L_COMPARE ? JE_COMPARE : JE_CHAIN,
                               left->line);
    struct infix op = infix_at(p);
    struct jlink **end;

    if (!e)
        return NULL;
    e->u.chain.first = left;
    end = &e->u.chain.links;
    for (; op.level == level; op = infix_at(p)) {
        struct jlink *l = jparse_new(p, struct jlink);

        if (!l)
            return NULL;
        *l = (struct jlink){.kind = JL_BINARY, .op = op.op,
                            .line = p->tok.line};
        jparse_next(p);
        if (op.op == JOP_NOT_IN)
            jparse_next(p);
        l->a = parse_level(p, level + 1);
        if (!l->a)
            return NULL;
        *end = l;
        end = &l->next;
    }
    return e;
}

/* Operators of `min` and what binds tighter. */
static struct jexpr *parse_level(struct jparse *p, enum level min)
{
    struct jexpr *e = NULL;
    enum level level;
    int line = p->tok.line;

    if (deeper(p)) {
        if (min <= L_NOT && jparse_accept_word(p, "not"))
            e = wrap(p, JE_NOT, line, parse_level(p, L_NOT));
        else
            e = parse_unary(p, true);
    }
    while (e) {
        level = infix_at(p).level;
        if (level == L_NONE || level < min)
            break;
        if (level == L_OR || level == L_AND || level == L_TILDE)
            e = row_items(p, e, level);
        else
            e = row_links(p, e, level);
    }
    p->depth--;
    return p->lex.st ? NULL : e;
}

struct jexpr *jparse_no_cond(struct jparse *p)
{
    return parse_level(p, L_OR);
}

struct jexpr *jparse_expr(struct jparse *p)
{
    struct jexpr *whole = NULL, **slot = &whole, *cond;
    bool more;

    do {
        more = false;
        *slot = parse_level(p, L_OR);
        if (!*slot)
            return NULL;
        while (jparse_is(p, "if")) {
            cond = new_expr(p, JE_COND, p->tok.line);
            jparse_next(p);
            if (!cond)
                return NULL;
            cond->u.cond.yes = *slot;
            cond->u.cond.test = parse_level(p, L_OR);
            if (!cond->u.cond.test)
                return NULL;
            *slot = cond;
            more = jparse_accept_word(p, "else");
            if (more) {
                slot = &cond->u.cond.no;
                break;
            }
        }
    } while (more);
    return p->lex.st ? NULL : whole;
}
