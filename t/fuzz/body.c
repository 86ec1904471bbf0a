/* Request bodies: whatever is accepted is whole, whatever is not is one error
 * object of valid JSON. The first byte chooses the route. */
#include "api/body.h"
#include "api/error.h"
#include "base/utf8.h"
#include "chat/history.h"
#include "json/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_text(struct text t)
{
    BUG_ON(!utf8_valid(t.n ? t.s : "", t.n, NULL));
}

static void check_msg(const struct chat_msg *m)
{
    check_text(m->content);
    check_text(m->reasoning);
    check_text(m->call_id);
    for (size_t j = 0; j < m->n_calls; j++) {
        const struct chat_call *c = &m->calls[j];

        check_text(c->id);
        check_text(c->name);
        BUG_ON(!c->name.n || (c->raw.n && c->args));
        BUG_ON(c->args && c->args->type != JSON_OBJ);
    }
    BUG_ON(m->n_calls && m->role != ROLE_ASSISTANT);
    BUG_ON(m->tools && m->role != ROLE_SYSTEM);
}

static void check_tools(const struct body *b)
{
    const struct chat_req *r = &b->chat;

    BUG_ON(b->n_offered > TOOLS_MAX || r->n_tools > TOOLS_MAX);
    BUG_ON(r->n_tools ? r->tools->n != r->n_tools : r->tools != NULL);
    for (size_t i = 0; i < r->n_tools; i++) {
        BUG_ON(!r->tool_list[i].name.n);
        BUG_ON(r->tool_list[i].params &&
               r->tool_list[i].params->type != JSON_OBJ);
    }
    BUG_ON(r->tool_choice == TOOLS_REQUIRED && !b->n_offered);
    BUG_ON(r->tool_choice == TOOLS_NAMED && !b->n_offered);
}

static void check_body(const struct body *b, bool completion)
{
    bool user = false;

    BUG_ON(b->n < 1 || b->n > 16 || b->max_tokens < 0);
    BUG_ON(!(b->sampling.top_p > 0 && b->sampling.top_p <= 1));
    BUG_ON(!(b->sampling.temperature >= 0 && b->sampling.temperature <= 2));
    BUG_ON(b->n_stops > STOPS_MAX);
    for (size_t i = 0; i < b->n_stops; i++) {
        check_text(b->stops[i]);
        BUG_ON(!b->stops[i].n);
    }
    for (size_t i = 0; i < b->chat.n_messages; i++) {
        check_msg(&b->chat.messages[i]);
        user = user || b->chat.messages[i].role == ROLE_USER;
    }
    BUG_ON(!completion && !user);
    if (!completion)
        check_tools(b);
    (void)!history_check_strict(&b->chat, NULL);
    BUG_ON(completion && !b->n_prompts);
    for (size_t i = 0; i < b->n_prompts; i++)
        BUG_ON(!b->prompts[i].n_ids && !b->prompts[i].text.n);
}

static void check_error(const struct err *e)
{
    struct arena a;
    struct buf out;
    struct err again = {0};
    const struct json *root;

    arena_init(&a, 1u << 20);
    buf_init(&out, BUF_EVENT);
    api_error_json(&out, e);
    BUG_ON(out.failed || json_parse(&root, &a, out.p, out.n, &again));
    BUG_ON(api_error_of(e->st)->http != 400);
    buf_release(&out);
    arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a;
    struct body body;
    struct err e = {0};
    bool completion = n && data[0] == 'c';
    struct text json = {(const char *)data + 1, n - 1};
    enum st st;

    if (!n)
        return 0;
    arena_init(&a, 4u << 20);
    st = completion ? body_parse_completion(&body, &a, json, &e)
                    : body_parse_chat(&body, &a, json, &e);
    if (st)
        check_error(&e);
    else
        check_body(&body, completion);
    arena_release(&a);
    return 0;
}
