/* POST /v1/chat/completions and /v1/completions. */
#include "api/handlers.h"
#include "api/wire.h"

static enum st parse_chat(struct exchange *x, struct body *out, struct err *e)
{
    return body_parse_chat(out, &x->arena, x->req.body, e);
}

static enum st parse_text(struct exchange *x, struct body *out, struct err *e)
{
    return body_parse_completion(out, &x->arena, x->req.body, e);
}

void handle_chat(struct exchange *x)
{
    static const struct wire wire = {
        .emit = &emit_chat,
        .field = "messages",
        .thinks = true,
        .parse = parse_chat,
        .build = prompts_chat,
    };

    generate(x, &wire);
}

void handle_completion(struct exchange *x)
{
    static const struct wire wire = {
        .emit = &emit_text,
        .field = "prompt",
        .parse = parse_text,
        .build = prompts_text,
    };

    generate(x, &wire);
}
