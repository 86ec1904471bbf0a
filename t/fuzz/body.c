/* Request bodies: whatever is accepted is whole, whatever is not is one error
 * object of valid JSON. The first byte chooses the route. */
#include "api/body.h"
#include "api/error.h"
#include "base/utf8.h"
#include "json/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_text(struct text t)
{
    BUG_ON(!utf8_valid(t.n ? t.s : "", t.n, NULL));
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
        check_text(b->chat.messages[i].content);
        check_text(b->chat.messages[i].reasoning);
        user = user || b->chat.messages[i].role == ROLE_USER;
    }
    BUG_ON(!completion && !user);
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
