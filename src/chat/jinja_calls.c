/*
 * The form in which a template writes calls, found by rendering two of them
 * and looking at what stands between what is ours. It counts when the dialect
 * reads those calls back from the same text; else the form is one of the
 * dialect's own.
 */
#include "chat/jinja_format.h"

#include "base/ascii.h"
#include "chat/textreply.h"

#define CALLS_ARENA (32u << 20)
#define CALLS_STEPS 300000u
#define CALLS_OUT (1u << 20)
#define FORM_TEXT_MAX 400 /* bytes of one text of a form */

#define ASKED "penstockquestion"
#define SAID "penstockanswer"
#define KEY "penstock_text"
#define VALUE "penstockvalue"
#define COUNT_KEY "penstock_count"
#define COUNT "47114711"
#define ID(k) "probe000" k

#define ARGS_JSON "{\"" KEY "\":\"" VALUE "\",\"" COUNT_KEY "\":" COUNT "}"

#define NEEDLE(literal) ((struct text){(literal), sizeof(literal) - 1})

struct seen {
    struct format *f;
    const struct jinja_data *d;
    struct arena arena;      /* of everything here */
    struct chat_req r;
    const struct json *args;
    const char *name;        /* of the function, in the tools of `r` */
    struct text one, two;    /* answers of one and of two calls; s NULL */
};

/* --- what the model would have written ------------------------------------ */

/* The conversation as the template writes it; s NULL when it does not. */
static struct text rendered(struct seen *x, const struct chat_msg *m, size_t n,
                            bool prompt)
{
    struct jinja_ask a = {
        .r = &x->r, .msgs = m, .n = n, .arena = &x->arena,
        .max_steps = CALLS_STEPS, .max_out = CALLS_OUT,
    };
    struct err e;

    x->r.messages = m;
    x->r.n_messages = n;
    x->r.no_prompt = !prompt;
    if (jinja_write(x->d, &a, &e) || !a.out.u.str.n)
        return (struct text){NULL, 0};
    return (struct text){a.out.u.str.s, a.out.u.str.n};
}

static struct text from(struct text t, size_t i)
{
    return (struct text){t.s + i, t.n - i};
}

static size_t common(struct text a, struct text b)
{
    size_t n = 0;

    while (n < a.n && n < b.n && a.s[n] == b.s[n])
        n++;
    return n;
}

/* Skips blanks and marks of reasoning, but for the blanks at the end. */
static struct text behind_thoughts(const struct seen *x, struct text t)
{
    for (;;) {
        size_t blank = 0, k = 0;

        while (blank < t.n && ascii_space(t.s[blank]))
            blank++;
        for (; k < 2; k++) {
            struct text mark = x->f->think[k];

            if (mark.n && t.n - blank >= mark.n &&
                !memcmp(t.s + blank, mark.s, mark.n)) {
                t = from(t, blank + mark.n);
                break;
            }
        }
        if (k == 2)
            return t;
    }
}

/* Where the turn ends: at a control token that is not of the form. */
static struct text cut_turn(const struct seen *x, struct text t,
                            struct text end)
{
    const struct tok *tok = x->f->tok;
    size_t at = 0;

    if (t.n >= end.n && !memcmp(t.s + t.n - end.n, end.s, end.n))
        t.n -= end.n;
    while (tok && at < t.n) {
        struct tok_marker m = tok_next_marker(tok, t.s + at, t.n - at);
        bool ours = false;

        if (m.id < 0)
            break;
        for (int k = 0; x->f->dialect->markers[k]; k++)
            ours = ours || format_mark_id(x->f, k) == m.id;
        at += m.at;
        if (!ours && tok_type_of(tok, m.id) == TOK_CONTROL)
            t.n = at;
        else
            at += m.n;
    }
    while (t.n && ascii_space(t.s[t.n - 1]))
        t.n--;
    return t;
}

static struct chat_msg message(enum chat_role role, const char *content)
{
    return (struct chat_msg){
        .role = role, .has_content = true,
        .content = {content, strlen(content)},
    };
}

/* What closes the turn behind an answer in words. */
static struct text end_of_turn(struct seen *x)
{
    struct chat_msg m[] = {message(ROLE_USER, ASKED),
                           message(ROLE_ASSISTANT, SAID)};
    struct text t = rendered(x, m, 2, false);
    const char *said = t.s ? memmem(t.s, t.n, SAID, strlen(SAID)) : NULL;

    return said ? from(t, (size_t)(said - t.s) + strlen(SAID))
                : (struct text){"", 0};
}

/* What the assistant's turn with n calls adds to the opened one. */
static struct text answer(struct seen *x, size_t n)
{
    const struct text name = {x->name, strlen(x->name)};
    const struct chat_call calls[] = {
        {.id = NEEDLE(ID("1")), .name = name, .args = x->args,
         .sent = NEEDLE(ARGS_JSON)},
        {.id = NEEDLE(ID("2")), .name = name, .args = x->args,
         .sent = NEEDLE(ARGS_JSON)},
    };
    struct chat_msg m[] = {message(ROLE_USER, ASKED),
                           message(ROLE_ASSISTANT, "")};
    struct text end = end_of_turn(x), open = rendered(x, m, 1, true), whole;
    size_t same;

    m[1].calls = calls;
    m[1].n_calls = n;
    whole = rendered(x, m, 2, false);
    if (!open.s || !whole.s)
        return (struct text){NULL, 0};
    same = common(open, whole);
    if (!ascii_blank(behind_thoughts(x, from(open, same)).s,
                     behind_thoughts(x, from(open, same)).n))
        return (struct text){NULL, 0};
    return cut_turn(x, behind_thoughts(x, from(whole, same)), end);
}

/* --- reading it back ------------------------------------------------------ */

static bool is_number(const struct json *v)
{
    return v && (json_is(v, COUNT) ||
                 (v->type == JSON_NUM && text_is(v->str, COUNT)));
}

static bool is_ours(const struct seen *x, const struct tool_call *c)
{
    const struct json *v;
    struct arena a;
    bool ours;

    arena_init(&a, CALLS_ARENA);
    ours = c->whole && !strcmp(c->name, x->name) && c->args.n &&
           !json_parse(&v, &a, c->args.p, c->args.n, NULL) && v->n == 2 &&
           json_is(json_get(v, KEY), VALUE) &&
           is_number(json_get(v, COUNT_KEY));
    arena_release(&a);
    return ours;
}

/* Does the dialect read n of our calls from t, and nothing else? A second one
 * that is the same as the first is dropped. */
static bool reads_back(struct seen *x, struct text t)
{
    struct tools *tools = tools_new(x->r.tool_list, x->r.n_tools);
    const struct turn_config c = {
        .dialect = x->f->dialect, .tools = tools, .parallel_calls = true,
    };
    struct textreply *r = tools ? textreply_new(&c) : NULL;
    struct buf reasoning, content;
    bool ours = r;

    buf_init(&reasoning, BUF_ANSWER);
    buf_init(&content, BUF_ANSWER);
    if (r) {
        textreply_feed(r, t.s, t.n, &reasoning, &content);
        textreply_end(r, true, &reasoning, &content);
        ours = textreply_calls(r)->shown &&
               ascii_blank(content.n ? content.p : "", content.n);
        for (size_t i = 0; i < textreply_calls(r)->n; i++)
            ours = ours && is_ours(x, textreply_calls(r)->p[i]);
    }
    buf_release(&reasoning);
    buf_release(&content);
    textreply_free(r);
    tools_free(tools);
    return ours;
}

/* --- taking it apart ------------------------------------------------------ */

/* A place in an answer. */
struct at {
    struct text t;
    size_t i;
};

/* What stands before the next `needle`; the place is behind it. False: there
 * is none. */
static bool until(struct at *p, const char *needle, struct text *before)
{
    struct text rest = from(p->t, p->i);
    const char *hit = memmem(rest.s, rest.n, needle, strlen(needle));

    if (!hit)
        return false;
    *before = (struct text){rest.s, (size_t)(hit - rest.s)};
    p->i += before->n + strlen(needle);
    return true;
}

static bool ends_with(struct text t, const char *s)
{
    size_t n = strlen(s);

    return t.n >= n && !memcmp(t.s + t.n - n, s, n);
}

/* Our arguments as a JSON object, up to its brace at the place; false: they
 * are no such. `head` is what stands before it. */
static bool object(struct at *p, struct text *head)
{
    static const char *const parts[] = {
        "\"" KEY "\"", ":", "\"" VALUE "\"", ",", "\"" COUNT_KEY "\"", ":",
        COUNT, "}",
    };
    struct text gap;

    if (!until(p, parts[0], head))
        return false;
    while (head->n && ascii_space(head->s[head->n - 1]))
        head->n--;
    if (!ends_with(*head, "{"))
        return false;
    head->n--;
    for (size_t i = 1; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (!until(p, parts[i], &gap) || !ascii_blank(gap.s, gap.n))
            return false;
    return true;
}

/* The texts between what is ours, of one call. */
struct apart {
    bool params;
    struct text open, head, close;
    struct text first, raw, between, json; /* params: name to key, key to
                                            * value, value to key, .. */
};

static bool take_params(struct at *p, struct apart *a)
{
    return until(p, KEY, &a->first) && until(p, VALUE, &a->raw) &&
           until(p, COUNT_KEY, &a->between) && until(p, COUNT, &a->json);
}

static bool take_apart(const struct seen *x, struct text t, struct apart *a)
{
    struct at p = {t, 0}, name;

    if (!until(&p, x->name, &a->open))
        return false;
    name = p;
    if (!object(&p, &a->head)) {
        p = name;
        a->params = true;
        if (!take_params(&p, a))
            return false;
    }
    a->close = from(t, p.i);
    return true;
}

/* Of two calls: what stands between the arguments and the next name. */
static bool take_next(const struct seen *x, const struct apart *a,
                      struct text *next)
{
    struct at p = {x->two, 0};
    struct apart b = {0};
    struct text second;

    if (!x->two.s || !until(&p, x->name, &b.open))
        return false;
    if (a->params ? !take_params(&p, &b) : !object(&p, &b.head))
        return false;
    return until(&p, x->name, next) &&
           (a->params ? take_params(&p, &b) : object(&p, &second));
}

/* --- and together again --------------------------------------------------- */

/* A copy with our ids as what they stand for; NULL when it is no text of a
 * form. */
static const char *text_of(struct format *f, struct text t)
{
    char *s;
    size_t to = 0, id = strlen(ID("1"));

    if (t.n > FORM_TEXT_MAX)
        return NULL;
    for (size_t i = 0; i < t.n; i++)
        if ((unsigned char)t.s[i] <= *CALL_AT_TYPE)
            return NULL;
    s = arena_alloc(&f->arena, t.n + 1);
    if (!s)
        return NULL;
    for (size_t i = 0; i < t.n; to++) {
        bool is_id = t.n - i >= id && (!memcmp(t.s + i, ID("1"), id) ||
                                       !memcmp(t.s + i, ID("2"), id));

        s[to] = is_id ? *CALL_AT_ID : t.s[i];
        i += is_id ? id : 1;
    }
    s[to] = '\0';
    return s;
}

/* The dialect's form of the same kind, for what no rendering shows. */
static const struct callform *like(const struct seen *x, const struct apart *a)
{
    const struct dialect *d = x->f->dialect;
    enum callname name = !a->params && ends_with(a->open, "\"")
                             ? CALLNAME_JSON
                             : CALLNAME_PLAIN;

    for (size_t i = 0; i < d->n_forms; i++)
        if (!d->forms[i].param == !a->params && d->forms[i].name == name)
            return &d->forms[i];
    return NULL;
}

/* What stands before each key and behind each value: the common end of what
 * stands before the first and before the second key. */
static bool split_params(struct format *f, const struct apart *a,
                         struct callform *c)
{
    struct text param = a->between, head = a->first, end = a->between,
                close = a->close;
    size_t n = 0;

    while (n < a->first.n && n < a->between.n &&
           a->first.s[a->first.n - 1 - n] == a->between.s[a->between.n - 1 - n])
        n++;
    while (n && a->between.s[a->between.n - n] == '>')
        n--; /* that ends what is before */
    param = from(a->between, a->between.n - n);
    end.n -= n;
    head.n -= n;
    if (!n || close.n < end.n || memcmp(close.s, end.s, end.n))
        return false;
    c->head = text_of(f, head);
    c->param = text_of(f, param);
    c->raw = text_of(f, a->raw);
    c->json = text_of(f, a->json);
    c->end = text_of(f, end);
    c->close = text_of(f, from(close, end.n));
    return c->head && c->param && c->raw && c->json && c->end && c->close;
}

/* Where calls do not repeat, an answer has one. */
static const char *next_of(const struct seen *x, const struct apart *a,
                           const struct callform *c, const struct callform *b)
{
    struct text next;

    if (x->two.s && reads_back((struct seen *)(uintptr_t)x, x->two) &&
        take_next(x, a, &next)) {
        size_t skip = a->params ? strlen(c->end) : 0;

        if (next.n >= skip)
            return text_of(x->f, from(next, skip));
    }
    if (!strcmp(c->open, b->open) && !strcmp(c->close, b->close))
        return b->next;
    return NULL;
}

static bool put_together(struct seen *x, const struct apart *a,
                         struct callform *c)
{
    const struct callform *b = like(x, a);
    struct format *f = x->f;
    struct text open = a->open;
    size_t blank = 0;

    if (!b)
        return false;
    *c = *b;
    while (blank < open.n && ascii_space(open.s[blank]))
        blank++;
    c->lead = text_of(f, (struct text){open.s, blank});
    c->open = text_of(f, from(open, blank));
    if (!c->lead || !c->open)
        return false;
    if (a->params) {
        if (!split_params(f, a, c))
            return false;
    } else {
        c->head = text_of(f, a->head);
        c->close = text_of(f, a->close);
        if (!c->head || !c->close)
            return false;
    }
    c->next = next_of(x, a, c, b);
    return true;
}

/* --- all of it ------------------------------------------------------------ */

static const struct callform *written(struct seen *x)
{
    struct apart a = {0};
    struct callform c, *kept;

    if (json_parse(&x->args, &x->arena, ARGS_JSON, strlen(ARGS_JSON), NULL))
        return NULL;
    x->one = answer(x, 1);
    x->two = answer(x, 2);
    if (!x->one.s || !reads_back(x, x->one) || !take_apart(x, x->one, &a) ||
        !put_together(x, &a, &c))
        return NULL;
    kept = arena_alloc(&x->f->arena, sizeof(*kept));
    if (kept)
        *kept = c;
    return kept;
}

/* The form of the dialect that the template's own words mean. */
static const struct callform *told(const struct format *f,
                                   const struct jinja_data *d)
{
    const struct dialect *dialect = f->dialect;

    for (size_t i = 0; i < dialect->n_forms; i++) {
        const char *tell = dialect->forms[i].tell;

        if (tell && (jinja_mentions(d->plain, tell) ||
                     (d->tools && jinja_mentions(d->tools, tell))))
            return &dialect->forms[i];
    }
    return dialect->forms;
}

const struct callform *jinja_callform(struct format *f,
                                      const struct chat_req *r)
{
    struct seen x = {.f = f, .d = f->data, .r = *r};
    const struct callform *c = NULL;
    char name[64];

    /* one that has no parts of others in it */
    x.r.think = f->caps.think_forced || !f->caps.think ? THINK_DEFAULT
                                                       : THINK_OFF;
    arena_init(&x.arena, CALLS_ARENA);
    if (x.d->history && r->n_tools && r->tool_list[0].name.n < sizeof(name)) {
        memcpy(name, r->tool_list[0].name.s, r->tool_list[0].name.n);
        name[r->tool_list[0].name.n] = '\0';
        x.name = name;
        c = written(&x);
    }
    arena_release(&x.arena);
    return c ? c : told(f, x.d);
}
