/* POST /v1/responses. */
#include "api/emit_responses.h"
#include "api/handlers.h"
#include "api/wire.h"

static enum st parse(struct exchange *x, struct body *out, struct err *e)
{
    return body_parse_items(out, &x->arena, x->req.body, NULL, e);
}

void handle_responses(struct exchange *x)
{
    static const struct wire wire = {
        .emit = &emit_responses,
        .field = "input",
        .thinks = true,
        .parse = parse,
        .build = prompts_chat,
        .keep = responses_echo,
    };

    generate(x, &wire);
}
