/* Bodies of /v1/messages and of its count, as t/fuzz/body.c; the first byte
 * chooses which. */
#include "t/lib/bodycheck.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_ends(const struct body *b)
{
    const struct chat_req *r = &b->chat;

    BUG_ON(b->n != 1 || b->n_prompts || b->logprobs);
    BUG_ON(r->messages[r->n_messages - 1].role == ROLE_ASSISTANT);
    for (size_t i = 0; i < r->n_messages; i++)
        BUG_ON(r->messages[i].role == ROLE_TOOL &&
               !r->messages[i].call_id.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a;
    struct body body;
    struct err e = {0};
    struct text json = {(const char *)data + 1, n - 1};
    enum st st;

    if (!n)
        return 0;
    arena_init(&a, 4u << 20);
    st = data[0] == 'c' ? body_parse_count(&body, &a, json, &e)
                        : body_parse_blocks(&body, &a, json, &e);
    if (st) {
        check_error(&e, WIRE_MESSAGES);
    } else {
        check_body(&body, false);
        check_ends(&body);
    }
    arena_release(&a);
    return 0;
}
