/* POST /v1/messages and /v1/messages/count_tokens. */
#include "api/handlers.h"
#include "api/run.h"
#include "api/wire.h"

static enum st parse(struct exchange *x, struct body *out, struct err *e)
{
    return body_parse_blocks(out, &x->arena, x->req.body, e);
}

static enum st parse_count(struct exchange *x, struct body *out,
                           struct err *e)
{
    return body_parse_count(out, &x->arena, x->req.body, e);
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
        .build = prompts_turns,
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
        .build = prompts_turns,
    };

    count_prompt(x, &wire, NULL);
}
