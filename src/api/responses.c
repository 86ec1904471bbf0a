/* POST /v1/responses and /v1/responses/input_tokens. */
#include "api/emit_responses.h"
#include "api/handlers.h"
#include "api/stored.h"
#include "api/wire.h"

static enum st parse(struct exchange *x, struct body *out, struct err *e)
{
    struct stored_past past;

    return body_parse_items(out, &x->arena, x->req.body,
                            stored_past(&past, x), e);
}

static const struct wire wire = {
    .emit = &emit_responses,
    .field = "input",
    .thinks = true,
    .parse = parse,
    .build = prompts_turns,
    .keep = responses_echo,
};

void handle_responses(struct exchange *x)
{
    generate(x, &wire);
}

void handle_input_tokens(struct exchange *x)
{
    count_prompt(x, &wire, "response.input_tokens");
}
