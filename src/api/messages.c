/* POST /v1/messages. */
#include "api/handlers.h"
#include "api/wire.h"

static enum st parse(struct exchange *x, struct body *out, struct err *e)
{
    return body_parse_blocks(out, &x->arena, x->req.body, e);
}

void handle_messages(struct exchange *x)
{
    static const struct wire wire = {
        .emit = &emit_messages,
        .field = "messages",
        .thinks = true,
        .parse = parse,
        .build = prompts_chat,
    };

    generate(x, &wire);
}
