/* What a template can do, found out with tiny conversations. A probe looks
 * for words of its own ("needles") in what comes out. */
#include "chat/jinja_format.h"

#include "base/ascii.h"

#define PROBE_STEPS 300000u
#define PROBE_OUT (1u << 20)
#define PROBE_ARENA (32u << 20)

#define ASKED "penstockquestion"
#define SAID "penstockanswer"
#define RULE "penstockrule"
#define THOUGHT "penstockthought"
#define ARG "penstockvalue"
#define RESULT "penstockresult"
#define TOOL "penstock_probe"

#define CUT_MAX 64 /* bytes from a thought to what is said */

struct probe {
    struct format *f;
    struct jinja_data *d;
    struct arena own;      /* what lasts for all probes */
    struct arena arena;    /* of one rendering */
    const struct json *tools;
    struct chat_req r;     /* its options are set by each probe */
    struct jinja_ask a;    /* a.out: the last rendering */
    struct err e;
};

/* The conversation m[0..n) as the template writes it. */
static bool writes(struct probe *p, const struct chat_msg *m, size_t n)
{
    arena_release(&p->arena);
    arena_init(&p->arena, PROBE_ARENA);
    p->r.messages = m;
    p->r.n_messages = n;
    p->a = (struct jinja_ask){
        .r = &p->r, .msgs = m, .n = n, .arena = &p->arena,
        .max_steps = PROBE_STEPS, .max_out = PROBE_OUT,
    };
    return !jinja_write(p->d, &p->a, &p->e);
}

static const char *find(const struct jv *v, const char *needle)
{
    size_t n = v->u.str.n;

    return n ? memmem(v->u.str.s, n, needle, strlen(needle)) : NULL;
}

/* From `from` in it on. */
static const char *find_from(const struct jv *v, const char *from,
                             struct text needle)
{
    return memmem(from, (size_t)(v->u.str.s + v->u.str.n - from), needle.s,
                  needle.n);
}

static bool shows(struct probe *p, const struct chat_msg *m, size_t n,
                  const char *needle)
{
    return writes(p, m, n) && find(&p->a.out, needle);
}

/* A copy of the last rendering, to compare another one with. */
static struct text kept(struct probe *p)
{
    char *s = arena_dup(&p->own, p->a.out.u.str.n ? p->a.out.u.str.s : "",
                        p->a.out.u.str.n);

    return s ? (struct text){s, p->a.out.u.str.n} : TEXT("");
}

static bool same(const struct probe *p, struct text t)
{
    return p->a.out.u.str.n == t.n &&
           (!t.n || !memcmp(p->a.out.u.str.s, t.s, t.n));
}

static struct chat_msg say(enum chat_role role, struct text t)
{
    return (struct chat_msg){
        .role = role, .has_content = true, .content = t,
    };
}

static const struct chat_part text_part = {
    .type = PART_TEXT, .text = {ASKED, sizeof(ASKED) - 1},
};

static struct chat_msg ask(void)
{
    return say(ROLE_USER, TEXT(ASKED));
}

static struct chat_msg ask_parts(const struct chat_part *p, size_t n)
{
    struct chat_msg m = ask();

    m.parts = p;
    m.n_parts = n;
    return m;
}

/* --- content ------------------------------------------------------------- */

static enum st probe_content(struct probe *p, struct err *e)
{
    struct chat_msg m = ask(), list = ask_parts(&text_part, 1);
    struct text plain;
    struct err first;

    if (shows(p, &m, 1, ASKED)) {
        plain = kept(p);
        p->d->parts = true;
        p->d->parts = writes(p, &list, 1) && same(p, plain);
        return ST_OK;
    }
    first = p->e;
    p->d->parts_only = p->d->parts = true;
    if (shows(p, &m, 1, ASKED))
        return ST_OK;
    if (first.st)
        return err_set(e, ST_UNSUPPORTED, "template", "%s: %s", first.where,
                       first.text);
    return err_set(e, ST_UNSUPPORTED, "template",
                   "it does not write what a user says");
}

static void probe_images(struct probe *p)
{
    const struct chat_part parts[] = {{.type = PART_IMAGE}, text_part};
    struct chat_msg without = ask_parts(&text_part, 1),
                    with = ask_parts(parts, 2);
    struct text plain;

    if (!p->d->parts || !shows(p, &without, 1, ASKED))
        return;
    plain = kept(p);
    p->f->caps.images = shows(p, &with, 1, ASKED) && !same(p, plain);
}

static void probe_system(struct probe *p)
{
    const struct chat_msg first[] = {say(ROLE_SYSTEM, TEXT(RULE)), ask()};
    const struct chat_msg late[] = {
        ask(), say(ROLE_ASSISTANT, TEXT(SAID)), first[0], ask(),
    };

    p->f->caps.system = shows(p, first, 2, RULE);
    if (shows(p, late, 4, RULE))
        p->f->caps.late_system = LATE_SYSTEM_YES;
}

/* --- reasoning ----------------------------------------------------------- */

static bool mentions(const struct jinja_data *d, const char *text)
{
    return jinja_mentions(d->plain, text) ||
           (d->tools && jinja_mentions(d->tools, text));
}

static bool reads(const struct jinja_data *d, const char *name)
{
    return jinja_reads(d->plain, name) ||
           (d->tools && jinja_reads(d->tools, name));
}

static int32_t id_of(const struct jinja_data *d, const char *marker)
{
    return d->tok ? format_marker_id(d->tok, marker) : -1;
}

/* What opens and closes reasoning in published templates. The closing one is
 * enough: a template may only cut old reasoning out. */
static void probe_pair(struct probe *p)
{
    static const char *const pairs[][2] = {
        {"<think>", "</think>"},
        {"[THINK]", "[/THINK]"},
        {"<seed:think>", "</seed:think>"},
        {"<|START_THINKING|>", "<|END_THINKING|>"},
        {"<|inner_prefix|>", "<|inner_suffix|>"},
        {"<thought>", "</thought>"},
        {"<reasoning>", "</reasoning>"},
    };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if (!mentions(p->d, pairs[i][1]))
            continue;
        for (int k = 0; k < 2; k++) {
            p->f->think[k] = (struct text){pairs[i][k], strlen(pairs[i][k])};
            p->f->think_id[k] = id_of(p->d, pairs[i][k]);
        }
        return;
    }
}

/* Which member of a message do old thoughts come from? */
static void probe_think_key(struct probe *p)
{
    static const char *const keys[] = {"reasoning_content", "reasoning",
                                       "thinking"};
    const struct chat_call call = {.id = TEXT("probe0001"), .name = TEXT(TOOL)};
    struct chat_msg thought = say(ROLE_ASSISTANT, TEXT(SAID));
    struct chat_msg called = {.role = ROLE_ASSISTANT, .calls = &call,
                              .n_calls = 1};

    thought.reasoning = called.reasoning = TEXT(THOUGHT);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct chat_msg m[] = {ask(), thought};
        const struct chat_msg c[] = {ask(), called};

        p->d->think_key = keys[i];
        if (shows(p, m, 2, THOUGHT) || shows(p, c, 2, THOUGHT))
            return;
    }
    p->d->think_key = keys[0];
}

/*
 * A template that reads the effort takes OpenAI's three words, even where some
 * of them are its default and change nothing. A further word counts when it
 * changes the prompt in another way than by being printed.
 */
static void probe_efforts(struct probe *p)
{
    static const char *const more[] = {"minimal", "xhigh", "max"};
    struct chat_msg m = ask();
    struct text plain;
    size_t n = 0;

    p->d->efforts[n++] = "low";
    p->d->efforts[n++] = "medium";
    p->d->efforts[n++] = "high";
    p->f->caps.efforts = p->d->efforts;
    p->r.think = THINK_ON;
    p->r.effort = TEXT(ASKED "e");
    if (writes(p, &m, 1) && !find(&p->a.out, ASKED "e")) {
        plain = kept(p);
        for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
            p->r.effort = (struct text){more[i], strlen(more[i])};
            if (writes(p, &m, 1) && !same(p, plain))
                p->d->efforts[n++] = more[i];
        }
    }
    p->r.effort = (struct text){NULL, 0};
    p->r.think = THINK_DEFAULT;
}

static void probe_think(struct probe *p)
{
    struct chat_msg m = ask();

    probe_pair(p);
    if (reads(p->d, "reasoning_effort"))
        probe_efforts(p);
    p->f->caps.think = p->f->think[1].n || p->f->caps.efforts;
    if (p->f->think[1].n) {
        p->r.think = THINK_OFF;
        p->f->caps.think_forced = writes(p, &m, 1) &&
                                  jinja_think_open(p->f, &p->a.out);
        p->r.think = THINK_DEFAULT;
    }
    probe_think_key(p);
}

/* --- tools --------------------------------------------------------------- */

#define TOOLS_JSON \
    "[{\"type\":\"function\",\"function\":{\"name\":\"" TOOL "\"," \
    "\"description\":\"d\",\"parameters\":{\"type\":\"object\"," \
    "\"properties\":{\"key\":{\"type\":\"string\",\"description\":\"d\"}}," \
    "\"required\":[\"key\"]}}}]"
#define ARGS_JSON "{\"key\":\"" ARG "\"}"
#define ARGS_REPR "{'key': '" ARG "'}" /* Python's print of a dict */

/* Marker texts of templates and the form of calls they stand for. */
static const struct {
    const char *marker;
    const struct dialect *dialect;
} forms[] = {
    {"<|tool_calls_section_begin|>", &dialect_kimi},
    {"\xef\xbd\x9c" "DSML" "\xef\xbd\x9c", &dialect_dsml},
    {"<\xef\xbd\x9ctool\xe2\x96\x81" "calls\xe2\x96\x81" "begin\xef\xbd\x9c>",
     &dialect_deepseek},
    {"<arg_key>", &dialect_glm},
    {"<tool_call>", &dialect_qwen},
    {"[TOOL_CALLS]", &dialect_mistral},
    {"<|python_tag|>", &dialect_llama3},
};

/* The first that the template mentions: instructions name it. JSON as the
 * whole answer is the common case of templates that name none. */
static const struct dialect *form_mentioned(const struct jinja_data *d)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (mentions(d, forms[i].marker))
            return forms[i].dialect;
    return &dialect_llama3;
}

/* The one that stands next before the argument, in the assistant's turn of
 * the last rendering. What a template writes beats what it mentions. */
static const struct dialect *form_written(const struct jv *out)
{
    const char *arg = find(out, ARG), *from = out->u.str.s, *best = NULL;
    const struct dialect *form = &dialect_llama3;

    for (const char *s; (s = memmem(from, (size_t)(arg - from), ASKED,
                                    sizeof(ASKED) - 1));)
        from = s + sizeof(ASKED) - 1;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        size_t n = strlen(forms[i].marker);

        for (const char *s = from;
             (s = memmem(s, (size_t)(arg - s), forms[i].marker, n)); s += n)
            if (!best || s > best) {
                best = s;
                form = forms[i].dialect;
            }
    }
    return form;
}

/* Does the history of a call show its argument and result? */
static bool shows_history(struct probe *p, const struct chat_call *call,
                          struct text said)
{
    struct chat_msg m[] = {
        ask(), say(ROLE_ASSISTANT, said), say(ROLE_TOOL, TEXT(RESULT)),
    };

    m[1].calls = call;
    m[1].n_calls = 1;
    m[2].call_id = call->id;
    m[2].tool = call->name;
    return shows(p, m, 3, ARG) && find(&p->a.out, RESULT) &&
           !find(&p->a.out, ARGS_REPR);
}

static void probe_history(struct probe *p, const struct json *args)
{
    /* nine characters: some templates insist on that */
    const struct chat_call call = {
        .id = TEXT("probe0001"), .name = TEXT(TOOL), .args = args,
        .sent = TEXT(ARGS_JSON),
    };
    struct jinja_data *d = p->d;

    for (int form = 0; form < 4 && !d->history; form++) {
        d->args_text = form & 1;
        d->empty_text = form & 2;
        d->history = shows_history(p, &call, TEXT("")) &&
                     (d->empty_text || !find(&p->a.out, "None"));
    }
    if (d->history)
        p->f->dialect = form_written(&p->a.out);
}

/* How it writes calls, as data. */
static void probe_callform(struct probe *p)
{
    const struct json *function = json_get(p->tools->child, "function");
    const struct chat_tool tool = {
        .name = TEXT(TOOL), .item = p->tools->child, .function = function,
        .params = json_get(function, "parameters"),
    };

    p->r.tool_list = &tool;
    p->r.n_tools = 1;
    p->f->callform = jinja_callform(p->f, &p->r);
    p->r.tool_list = NULL;
    p->r.n_tools = 0;
}

static enum st probe_tools(struct probe *p, struct err *e)
{
    struct chat_msg m = ask();
    const struct json *args;
    enum st st = json_parse(&p->tools, &p->own, TOOLS_JSON,
                            sizeof(TOOLS_JSON) - 1, e);

    if (!st)
        st = json_parse(&args, &p->own, ARGS_JSON, sizeof(ARGS_JSON) - 1, e);
    if (st)
        return st;
    p->r.tools = p->tools;
    p->f->caps.tools = shows(p, &m, 1, TOOL);
    if (p->f->caps.tools) {
        p->f->dialect = form_mentioned(p->d);
        probe_history(p, args);
        probe_callform(p);
    }
    p->r.tools = NULL;
    return ST_OK;
}

/* --- the end of a turn --------------------------------------------------- */

/* The control token that follows what the assistant said. */
static void probe_stop(struct probe *p)
{
    const struct chat_msg m[] = {
        ask(), say(ROLE_ASSISTANT, TEXT(SAID)), ask(),
    };
    const struct jv *v = &p->a.out;
    struct tok_marker next;
    const char *s;
    size_t i;

    if (!p->d->tok || !shows(p, m, 3, SAID))
        return;
    s = find(v, SAID);
    i = (size_t)(s - v->u.str.s) + sizeof(SAID) - 1;
    while (i < v->u.str.n && (v->u.str.s[i] == ' ' || v->u.str.s[i] == '\n'))
        i++;
    next = tok_next_marker(p->d->tok, v->u.str.s + i, v->u.str.n - i);
    if (next.id < 0 || next.at ||
        tok_type_of(p->d->tok, next.id) != TOK_CONTROL)
        return;
    for (size_t k = 0; k < next.n; k++)
        if (!jv_markup_at(v, i + k))
            return;
    p->f->stop_ids[0] = next.id;
    p->f->n_stop_ids = 1;
}

/* --- from reasoning to the answer ----------------------------------------- */

static bool ends_turn(const struct format *f, const char *s, size_t n)
{
    struct tok_marker m;

    while (f->tok && (m = tok_next_marker(f->tok, s, n)).id >= 0) {
        if (m.id == tok_eos(f->tok) ||
            (f->n_stop_ids && m.id == f->stop_ids[0]))
            return true;
        s += m.at + m.n;
        n -= m.at + m.n;
    }
    return false;
}

/* What stands in the history between a thought and what is said; empty when
 * no thought is shown. */
static struct text cut_written(struct probe *p)
{
    struct chat_msg m[] = {ask(), say(ROLE_ASSISTANT, TEXT(SAID))};
    const char *from, *close, *to;

    m[1].reasoning = TEXT(THOUGHT);
    if (!shows(p, m, 2, THOUGHT))
        return TEXT("");
    from = find(&p->a.out, THOUGHT) + sizeof(THOUGHT) - 1;
    close = find_from(&p->a.out, from, p->f->think[1]);
    to = close ? find_from(&p->a.out, close, TEXT(SAID)) : NULL;
    if (!to || to - from > CUT_MAX ||
        !ascii_blank(from, (size_t)(close - from)) ||
        ends_turn(p->f, from, (size_t)(to - from)))
        return TEXT("");
    return (struct text){from, (size_t)(to - from)};
}

/* The blanks between a close that is written without a thought, and what is
 * said; s NULL when there is none. */
static struct text gap_written(struct probe *p)
{
    struct chat_msg m[] = {ask(), say(ROLE_ASSISTANT, TEXT(SAID))};
    struct text close = p->f->think[1];
    const char *from, *said, *at;

    if (!shows(p, m, 2, SAID))
        return (struct text){NULL, 0};
    from = p->a.out.u.str.s;
    said = at = find(&p->a.out, SAID);
    while (at > from && ascii_space(at[-1]))
        at--;
    if ((size_t)(at - from) < close.n || said - at > CUT_MAX ||
        memcmp(at - close.n, close.s, close.n))
        return (struct text){NULL, 0};
    return (struct text){at, (size_t)(said - at)};
}

/* Where no thought is shown: in the published templates a tag that has
 * blanks behind it stands on a line of its own, and what is no tag has no
 * blanks around it. */
static void write_cut(struct probe *p, struct buf *b)
{
    struct text close = p->f->think[1], cut = cut_written(p), gap;

    if (cut.n) {
        buf_add(b, cut.s, cut.n);
        return;
    }
    gap = gap_written(p);
    if (!gap.s)
        gap = memcmp(close.s, "</", 2) ? TEXT("") : TEXT("\n\n");
    buf_puts(b, gap.n ? "\n" : "");
    buf_add(b, close.s, close.n);
    buf_add(b, gap.s, gap.n);
}

static void probe_cut(struct probe *p)
{
    struct buf b;
    char *s;

    if (!p->f->think[1].n)
        return;
    buf_init(&b, BUF_MESSAGE);
    write_cut(p, &b);
    s = arena_dup(&p->f->arena, b.p, b.n);
    p->f->cut = s ? (struct text){s, b.n} : p->f->think[1];
    buf_release(&b);
}

enum st jinja_probe(struct format *f, struct err *e)
{
    struct probe p = {.f = f, .d = f->data};
    enum st st;

    p.r.effort_n = -1;
    p.d->think_key = "reasoning_content";
    arena_init(&p.own, PROBE_ARENA);
    arena_init(&p.arena, PROBE_ARENA);
    st = probe_content(&p, e);
    if (!st) {
        probe_images(&p);
        probe_system(&p);
        probe_think(&p);
        probe_stop(&p);
        probe_cut(&p);
        st = probe_tools(&p, e);
    }
    arena_release(&p.arena);
    arena_release(&p.own);
    return st;
}
