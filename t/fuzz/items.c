/* Bodies of /v1/responses, as t/fuzz/body.c, with what was stored before: the
 * first byte says whether anything is ('s'), the last one of an id what. */
#include "t/lib/bodycheck.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char chain[] =
    "[{\"type\":\"message\",\"role\":\"user\",\"content\":\"Hi\"},"
    "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[],\"content\":"
    "[{\"type\":\"reasoning_text\",\"text\":\"Hm.\"}]},"
    "{\"type\":\"function_call\",\"id\":\"fc_1\",\"call_id\":\"call_1\","
    "\"name\":\"f\",\"arguments\":\"{}\"}]";
static const char output[] =
    "{\"type\":\"function_call_output\",\"call_id\":\"call_1\","
    "\"output\":\"done\"}";
static const char cut[] = "[{\"type\":\"function_call\"}]";

/* Of an id that ends with these letters: nothing, no memory, what no version
 * of this server stores. */
static enum st past(struct arena *a, struct text id, const char *stored,
                    const struct json **out, struct err *e)
{
    char last = id.n ? id.s[id.n - 1] : 'n';

    if (last == 'n')
        return err_set(e, ST_NOT_FOUND, "", "there is no such response");
    if (last == 'x')
        stored = cut;
    return json_parse(out, a, stored, strlen(stored), e);
}

static enum st past_chain(void *arg, struct arena *a, struct text id,
                          const struct json **items, struct err *e)
{
    (void)arg;
    return past(a, id, chain, items, e);
}

static enum st past_item(void *arg, struct arena *a, struct text id,
                         const struct json **item, struct err *e)
{
    (void)arg;
    return past(a, id, output, item, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct body_past stored = {
        .chain = past_chain, .item = past_item};
    struct arena a;
    struct body body;
    struct err e = {0};
    struct text json = {(const char *)data + 1, n - 1};

    if (!n)
        return 0;
    arena_init(&a, 4u << 20);
    if (body_parse_items(&body, &a, json, data[0] == 's' ? &stored : NULL,
                         &e)) {
        check_error(&e, WIRE_RESPONSES);
    } else {
        check_body(&body, false);
        BUG_ON(body.n != 1 || body.n_prompts);
        BUG_ON(!body.input || body.input->type != JSON_ARR);
    }
    arena_release(&a);
    return 0;
}
