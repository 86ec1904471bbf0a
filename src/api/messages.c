/* POST /v1/messages and /v1/messages/count_tokens. */
#include "api/body_int.h"
#include "api/handlers.h"
#include "api/run.h"
#include "api/wire.h"
#include "chat/format.h"

static enum st parse(struct exchange *x, struct body *out, struct err *e)
{
    return body_parse_blocks(out, &x->arena, x->req.body, e);
}

static enum st parse_count(struct exchange *x, struct body *out,
                           struct err *e)
{
    return body_parse_count(out, &x->arena, x->req.body, e);
}

/*
 * Anthropic's types let a system message stand anywhere, and Claude Code puts
 * one behind the user's first: where the format has no place for it, it is
 * read as a user's.
 */
static bool system_to_user(struct chat_msg *list, const struct chat_req *r)
{
    bool late = false, any = false;

    for (size_t i = 0; i < r->n_messages; i++) {
        list[i] = r->messages[i];
        late = late || list[i].role != ROLE_SYSTEM;
        if (!late || list[i].role != ROLE_SYSTEM)
            continue;
        list[i].role = ROLE_USER;
        any = true;
    }
    return any;
}

static enum st build(struct prompt_ids *p, const struct catalog_model *m,
                     const struct body *b, struct arena *a, struct err *e)
{
    struct body own = *b;
    struct chat_msg *list;

    if (!m->format || format_caps(m->format)->late_system == LATE_SYSTEM_YES)
        return prompts_chat(p, m, b, a, e);
    list = arena_array(a, b->chat.n_messages, sizeof(*list));
    if (!list)
        return body_full(e);
    if (system_to_user(list, &b->chat))
        own.chat.messages = list;
    return prompts_chat(p, m, &own, a, e);
}

static enum st keep(struct exchange *x, const struct body *b, struct err *e)
{
    (void)e;
    run_of(x)->thinking_hidden = b->think.hidden;
    return ST_OK;
}

void handle_messages(struct exchange *x)
{
    static const struct wire wire = {
        .emit = &emit_messages,
        .field = "messages",
        .thinks = true,
        .parse = parse,
        .build = build,
        .keep = keep,
    };

    generate(x, &wire);
}

void handle_count_tokens(struct exchange *x)
{
    static const struct wire wire = {
        .field = "messages",
        .thinks = true,
        .parse = parse_count,
        .build = build,
    };

    count_prompt(x, &wire, NULL);
}
