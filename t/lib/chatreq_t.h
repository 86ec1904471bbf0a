/*
 * t/lib/chatreq_t.h - chat requests for tests of formats: from JSON without
 * the API's rules, to segments as text.
 *
 *   {"messages":[..],"tools":[..],"effort":"high","think":true|false,
 *    "tool_choice":"none","no_prompt":true}
 * Messages are OpenAI's: role, content (string, or a list of text and image
 * parts), name, tool, reasoning, tool_calls, tool_call_id.
 */
#ifndef T_CHATREQ_T_H
#define T_CHATREQ_T_H

#include "chat/format_int.h"

struct chatreq_t {
    struct arena a;
    struct chat_req r;
};

static inline struct text chatreq_str(const struct json *o, const char *key)
{
    const struct json *v = json_get(o, key);

    return v && v->type == JSON_STR ? v->str : (struct text){NULL, 0};
}

static inline void chatreq_content(struct arena *a, const struct json *v,
                                   struct chat_msg *m)
{
    struct chat_part *p;
    size_t j = 0;

    m->has_content = v && v->type != JSON_NULL;
    if (v && v->type == JSON_STR)
        m->content = v->str;
    if (!v || v->type != JSON_ARR)
        return;
    p = arena_array(a, v->n, sizeof(*p));
    BUG_ON(!p);
    m->parts = p;
    m->n_parts = v->n;
    for (const struct json *c = v->child; c; c = c->next, j++) {
        p[j].type = json_is(json_get(c, "type"), "text") ? PART_TEXT
                                                         : PART_IMAGE;
        p[j].text = chatreq_str(c, "text");
    }
}

static inline void chatreq_calls(struct arena *a, const struct json *v,
                                 struct chat_msg *m)
{
    struct chat_call *p;
    size_t j = 0;

    if (!v)
        return;
    p = arena_array(a, v->n, sizeof(*p));
    BUG_ON(!p);
    m->calls = p;
    m->n_calls = v->n;
    for (const struct json *c = v->child; c; c = c->next, j++) {
        const struct json *f = json_get(c, "function");
        const struct json *args = json_get(f, "arguments");
        struct err e;

        p[j].id = chatreq_str(c, "id");
        p[j].name = chatreq_str(f, "name");
        if (args && args->type == JSON_STR) {
            p[j].sent = args->str;
            if (json_parse(&p[j].args, a, args->str.s, args->str.n, &e))
                p[j].args = NULL;
        } else {
            p[j].args = args;
        }
        if (p[j].args && p[j].args->type != JSON_OBJ)
            p[j].args = NULL;
        if (!p[j].args)
            p[j].raw = p[j].sent;
    }
}

static inline void chatreq_messages(struct chatreq_t *t, const struct json *v)
{
    static const char *const roles[] = {"system", "user", "assistant", "tool"};
    struct chat_msg *m = arena_array(&t->a, v->n, sizeof(*m));
    size_t i = 0;

    BUG_ON(!m);
    t->r.messages = m;
    t->r.n_messages = v->n;
    for (const struct json *c = v->child; c; c = c->next, i++) {
        while (!json_is(json_get(c, "role"), roles[m[i].role]))
            BUG_ON(m[i].role++ == ROLE_TOOL);
        chatreq_content(&t->a, json_get(c, "content"), &m[i]);
        chatreq_calls(&t->a, json_get(c, "tool_calls"), &m[i]);
        m[i].reasoning = chatreq_str(c, "reasoning");
        m[i].name = chatreq_str(c, "name");
        m[i].tool = chatreq_str(c, "tool");
        m[i].call_id = chatreq_str(c, "tool_call_id");
        m[i].sent_i = i;
    }
}

static inline void chatreq_tools(struct chatreq_t *t, const struct json *v)
{
    struct chat_tool *p;
    size_t i = 0;

    if (!v || !v->n)
        return;
    p = arena_array(&t->a, v->n, sizeof(*p));
    BUG_ON(!p);
    t->r.tools = v;
    t->r.tool_list = p;
    t->r.n_tools = v->n;
    for (const struct json *c = v->child; c; c = c->next, i++) {
        p[i].item = c;
        p[i].function = json_get(c, "function");
        p[i].name = chatreq_str(p[i].function, "name");
        p[i].params = json_get(p[i].function, "parameters");
    }
}

static inline void chatreq_open(struct chatreq_t *t, const char *json)
{
    const struct json *root, *v;
    struct err e = {0};

    memset(t, 0, sizeof(*t));
    arena_init(&t->a, 64u << 20);
    if (json_parse(&root, &t->a, json, strlen(json), &e)) {
        printf("Bail out! %s: %s\n", json, e.text);
        exit(1);
    }
    t->r.effort = chatreq_str(root, "effort");
    t->r.effort_n = -1;
    t->r.parallel_calls = true;
    v = json_get(root, "think");
    if (v)
        t->r.think = v->boolean ? THINK_ON : THINK_OFF;
    else if (t->r.effort.n)
        t->r.think = THINK_ON;
    if (json_is(json_get(root, "tool_choice"), "none"))
        t->r.tool_choice = TOOLS_NONE;
    t->r.no_prompt = json_get(root, "no_prompt") != NULL;
    chatreq_messages(t, json_get(root, "messages"));
    chatreq_tools(t, json_get(root, "tools"));
}

static inline void chatreq_close(struct chatreq_t *t)
{
    arena_release(&t->a);
}

/*
 * The prompt: markup as [..], text as (..); or "error FIELD: text". With
 * `ids` (may be NULL) its token ids too. Owned by the caller.
 */
static inline char *chatreq_shown(const struct format *f, const char *json,
                                  const struct tok *tok, struct ids *ids)
{
    struct chatreq_t t;
    struct segments s;
    struct err e = {0};
    struct buf b;
    bool think_open;

    chatreq_open(&t, json);
    segments_init(&s, &t.a);
    buf_init(&b, BUF_FILE);
    buf_puts(&b, "");
    if (format_render(f, &t.r, &s, &think_open, &e)) {
        buf_printf(&b, "error %s: %s", e.where, e.text);
    } else {
        for (size_t i = 0; i < s.n; i++) {
            bool markup = s.p[i].mode == TOK_MARKUP;

            buf_putc(&b, markup ? '[' : '(');
            buf_add(&b, s.p[i].text.s, s.p[i].text.n);
            buf_putc(&b, markup ? ']' : ')');
        }
        BUG_ON(ids && segments_encode(&s, tok, ids, &e));
    }
    chatreq_close(&t);
    BUG_ON(b.failed || !b.p);
    return b.p;
}

/* `s` with every `from` replaced. Owned by the caller. */
static inline char *chatreq_with(const char *s, char from, const char *to)
{
    struct buf b;

    buf_init(&b, BUF_FILE);
    for (; *s; s++) {
        if (*s == from)
            buf_puts(&b, to);
        else
            buf_putc(&b, *s);
    }
    return b.p;
}

/*
 * Does the request with `evil` (JSON string characters) for every '@' have
 * exactly the special tokens of the one with "x", in the same order?
 */
static inline bool chatreq_unforged(const struct format *f, const char *json,
                                    const char *evil, const struct tok *tok)
{
    const char *const with[] = {"x", evil};
    struct ids ids[2], special[2];
    bool same = true;

    for (int k = 0; k < 2; k++) {
        char *body = chatreq_with(json, '@', with[k]);
        char *shown;

        ids_init(&ids[k], 1u << 22);
        ids_init(&special[k], 1u << 22);
        shown = chatreq_shown(f, body, tok, &ids[k]);
        if (!strncmp(shown, "error", 5)) {
            printf("# %s\n", shown);
            same = false;
        }
        for (size_t i = 0; i < ids[k].n; i++) {
            enum tok_type type = tok_type_of(tok, ids[k].p[i]);

            if (type == TOK_CONTROL || type == TOK_USER)
                ids_add(&special[k], ids[k].p[i]);
        }
        free(shown);
        free(body);
    }
    same = same && special[0].n && special[0].n == special[1].n &&
           !memcmp(special[0].p, special[1].p,
                   special[0].n * sizeof(*special[0].p)) &&
           ids[1].n > ids[0].n;
    for (int k = 0; k < 2; k++) {
        ids_release(&ids[k]);
        ids_release(&special[k]);
    }
    return same;
}

#endif
