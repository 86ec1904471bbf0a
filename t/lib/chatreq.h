/*
 * t/lib/chatreq.h - a chat request from JSON, for tests of formats.
 *
 * Takes what the API's validation would refuse too (a result that answers
 * nothing, a call without a name), so that a format's own checks are seen.
 * Members beside OpenAI's: thinking (bool), add_generation_prompt, and image
 * parts {"type":"image","width":W,"height":H}, sizes left out: not looked at.
 */
#ifndef T_CHATREQ_H
#define T_CHATREQ_H

#include "base/buf.h"
#include "chat/req.h"

static inline struct text chatreq_text(const struct json *o, const char *key)
{
    const struct json *v = json_get(o, key);

    return v && v->type == JSON_STR ? v->str : (struct text){"", 0};
}

static inline void *chatreq_array(struct arena *a, size_t n, size_t size)
{
    void *p = arena_array(a, n + 1, size);

    BUG_ON(!p);
    return p;
}

static inline void chatreq_call(struct chat_call *c, struct arena *a,
                                const struct json *v)
{
    const struct json *fn = json_get(v, "function");
    const struct json *args;

    c->id = chatreq_text(v, "id");
    fn = fn ? fn : v;
    c->name = chatreq_text(fn, "name");
    args = json_get(fn, "arguments");
    if (args && args->type == JSON_STR) {
        c->sent = args->str;
        if (json_parse(&c->args, a, args->str.s, args->str.n, NULL) ||
            c->args->type != JSON_OBJ) {
            c->args = NULL;
            c->raw = args->str;
        }
    } else if (args && args->type == JSON_OBJ) {
        c->args = args;
    }
}

static inline void chatreq_parts(struct chat_msg *m, struct arena *a,
                                 const struct json *list)
{
    struct chat_part *p = chatreq_array(a, list->n, sizeof(*p));
    size_t i = 0, bytes = 0;
    char *s;

    m->parts = p;
    m->n_parts = list->n;
    for (const struct json *c = list->child; c; c = c->next, i++) {
        const struct json *w = json_get(c, "width");
        const struct json *h = json_get(c, "height");

        p[i].type = json_is(json_get(c, "type"), "text") ? PART_TEXT
                                                         : PART_IMAGE;
        p[i].text = chatreq_text(c, "text");
        p[i].width = w ? (int32_t)w->i : 0;
        p[i].height = h ? (int32_t)h->i : 0;
        bytes += p[i].text.n;
    }
    s = chatreq_array(a, bytes, 1);
    m->content = (struct text){s, bytes};
    for (i = 0; i < list->n; i++) {
        memcpy(s, p[i].text.s, p[i].text.n);
        s += p[i].text.n;
    }
}

static inline void chatreq_msg(struct chat_msg *m, struct arena *a,
                               const struct json *v)
{
    const struct json *role = json_get(v, "role");
    const struct json *content = json_get(v, "content");
    const struct json *calls = json_get(v, "tool_calls");
    struct chat_call *list;

    m->role = json_is(role, "user")        ? ROLE_USER
              : json_is(role, "assistant") ? ROLE_ASSISTANT
              : json_is(role, "tool")      ? ROLE_TOOL
                                           : ROLE_SYSTEM;
    m->has_content = content && content->type != JSON_NULL;
    m->content = chatreq_text(v, "content");
    if (content && content->type == JSON_ARR)
        chatreq_parts(m, a, content);
    m->reasoning = chatreq_text(v, "reasoning_content");
    if (!m->reasoning.n)
        m->reasoning = chatreq_text(v, "reasoning");
    m->name = chatreq_text(v, "name");
    m->tool = chatreq_text(v, "tool");
    m->call_id = chatreq_text(v, "tool_call_id");
    m->tools = json_get(v, "tools");
    if (!calls || calls->type != JSON_ARR || !calls->n)
        return;
    list = chatreq_array(a, calls->n, sizeof(*list));
    m->calls = list;
    for (const struct json *c = calls->child; c; c = c->next)
        chatreq_call(&list[m->n_calls++], a, c);
}

static inline void chatreq_tools(struct chat_req *r, struct arena *a,
                                 const struct json *tools)
{
    struct chat_tool *list;

    if (!tools || tools->type != JSON_ARR || !tools->n)
        return;
    list = chatreq_array(a, tools->n, sizeof(*list));
    r->tools = tools;
    r->tool_list = list;
    for (const struct json *c = tools->child; c; c = c->next) {
        const struct json *fn = json_get(c, "function");

        fn = fn ? fn : c;
        list[r->n_tools++] = (struct chat_tool){
            .name = chatreq_text(fn, "name"), .item = c, .function = fn,
            .params = json_get(fn, "parameters"),
        };
    }
}

static inline void chatreq_options(struct chat_req *r, const struct json *v)
{
    const struct json *choice = json_get(v, "tool_choice");
    const struct json *form = json_get(v, "response_format");
    const struct json *think = json_get(v, "thinking");
    const struct json *effort = json_get(v, "reasoning_effort");
    const struct json *prompt = json_get(v, "add_generation_prompt");

    r->tool_choice = json_is(choice, "none")       ? TOOLS_NONE
                     : json_is(choice, "required") ? TOOLS_REQUIRED
                                                   : TOOLS_AUTO;
    if (choice && choice->type == JSON_OBJ) {
        r->tool_choice = TOOLS_NAMED;
        r->tool_named = chatreq_text(json_get(choice, "function"), "name");
    }
    if (json_is(json_get(form, "type"), "json_object"))
        r->form = FORM_JSON_OBJECT;
    if (json_is(json_get(form, "type"), "json_schema")) {
        const struct json *s = json_get(form, "json_schema");
        const struct json *inner = json_get(s, "schema");

        r->form = FORM_JSON_SCHEMA;
        inner = inner ? inner : json_get(s, "json_schema");
        r->schema = inner ? inner : s;
    }
    r->effort = chatreq_text(v, "reasoning_effort");
    if (r->effort.n)
        r->think = THINK_ON;
    if (think)
        r->think = think->boolean ? THINK_ON : THINK_OFF;
    r->effort_n = effort && effort->type == JSON_NUM ? (int32_t)effort->i : -1;
    r->no_prompt = prompt && !prompt->boolean;
}

/* Aborts on what is not even JSON of the right shape: tests are ours. */
static inline void chatreq_read(struct chat_req *r, struct arena *a,
                                const struct json *v)
{
    const struct json *msgs = json_get(v, "messages");
    struct chat_msg *list;

    BUG_ON(!msgs || msgs->type != JSON_ARR);
    *r = (struct chat_req){.parallel_calls = true};
    list = chatreq_array(a, msgs->n, sizeof(*list));
    r->messages = list;
    for (const struct json *c = msgs->child; c; c = c->next) {
        chatreq_msg(&list[r->n_messages], a, c);
        list[r->n_messages].sent_i = r->n_messages;
        r->n_messages++;
    }
    chatreq_tools(r, a, json_get(v, "tools"));
    chatreq_options(r, v);
}

/* The same from text. Release with chatreq_close. */
struct chatreq {
    struct arena a;
    struct chat_req r;
};

static inline void chatreq_open(struct chatreq *t, const char *json)
{
    const struct json *v;
    struct err e = {0};

    arena_init(&t->a, 64u << 20);
    if (json_parse(&v, &t->a, json, strlen(json), &e)) {
        printf("Bail out! not JSON: %s: %.200s\n", e.text, json);
        exit(1);
    }
    chatreq_read(&t->r, &t->a, v);
}

static inline void chatreq_close(struct chatreq *t)
{
    arena_release(&t->a);
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

#endif
