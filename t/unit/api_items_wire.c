/*
 * Requests to /v1/responses and /v1/responses/input_tokens on the wire: what
 * is counted, what is said to be left out, and what refusals name. Expectations
 * as in api_items.c; that a count has no row is a decision of ours.
 */
#include "t/lib/apit.h"

static const char *const create = "/v1/responses";
static const char *const count = "/v1/responses/input_tokens";

static void refused(struct apit *t, const char *path, const char *body,
                    const char *param)
{
    struct call c;
    struct arena a;

    call_do(&c, t, path, body);
    is_int(call_status(&c), 400, "%.60s", body);
    if (!ok(json_str_is(json_at(call_json(&c, &a), "error.param"), param),
            "names %s", param))
        printf("# %s\n", call_body(&c));
    arena_release(&a);
    call_release(&c);
}

static int64_t counted(struct apit *t, const char *body)
{
    const struct json *v;
    struct call c;
    struct arena a;
    int64_t n;

    call_do(&c, t, count, body);
    is_int(call_status(&c), 200, "counted: %.60s", body);
    v = call_json(&c, &a);
    ok(v && v->n == 2 &&
           json_str_is(json_get(v, "object"), "response.input_tokens"),
       "the object of the reference");
    n = json_int(json_get(v, "input_tokens"));
    arena_release(&a);
    call_release(&c);
    return n;
}

static void counts(struct apit *t)
{
    static const char body[] = "{\"input\":\"Hi\",\"instructions\":\"Be\"}";
    const struct json *v;
    struct call c;
    struct arena a;
    struct buf long_one;
    int64_t n = counted(t, body);

    is_int(row_count(t, "1"), 0, "a count has no row");
    call_do(&c, t, create, body);
    v = call_json(&c, &a);
    is_int(json_int(json_at(v, "usage.input_tokens")), n,
           "as many as the answer says");
    arena_release(&a);
    call_release(&c);
    buf_init(&long_one, 1 << 20);
    buf_puts(&long_one, "{\"input\":\"");
    for (int i = 0; i < 3000; i++)
        buf_puts(&long_one, "Hi ");
    buf_puts(&long_one, "\"}");
    ok(counted(t, long_one.p) > 3000, "also what is too long for an answer");
    buf_release(&long_one);
    refused(t, count, "{}", "input");
    is_int(row_count(t, "endpoint = 'count_tokens' AND status = 400"), 1,
           "a refused one has a row");
    call_start(&c, t, "GET", count, NULL, NULL);
    is_int(call_status(&c), 405, "GET is no way to count");
    call_release(&c);
}

static void skips(struct apit *t)
{
    struct call c;
    char h[64];

    call_do(&c, t, count, "{\"input\":\"Hi\",\"tools\":[{\"type\":"
                          "\"web_search\"},{\"type\":\"a\\r\\nb\"}]}");
    is_str(call_header(&c, "X-Skipped-Tools", h, sizeof(h)),
           "web_search, other", "what a count left out");
    call_release(&c);
    call_do(&c, t, create, "{\"input\":\"Hi\",\"tools\":[{\"type\":"
                           "\"mcp\",\"name\":\"x\"}]}");
    is_int(call_status(&c), 200, "an answer without its tool");
    is_str(call_header(&c, "X-Skipped-Tools", h, sizeof(h)), "mcp",
           "says so");
    call_release(&c);
}

static void names(struct apit *t)
{
    refused(t, create, "{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":"
                       "\"input_image\",\"image_url\":\"data:,\"}]}]}",
            "input[0].content[0].type");
    refused(t, create, "{\"input\":\"Hi\",\"reasoning\":{\"effort\":7}}",
            "reasoning.effort");
    refused(t, create, "{\"input\":\"Hi\",\"text\":{\"format\":{\"type\":"
                       "\"json_schema\",\"schema\":{\"uniqueItems\":true}}}}",
            "text.format.schema");
    refused(t, create, "{\"input\":\"Hi\",\"previous_response_id\":\"x\"}",
            "previous_response_id");
}

static void no_forms(struct api_config *c)
{
    c->structured_off = true;
}

static void without_forms(struct apit *t)
{
    refused(t, create, "{\"input\":\"Hi\",\"text\":{\"format\":{\"type\":"
                       "\"json_object\"}}}", "text.format.type");
}

int main(void)
{
    int32_t ids[16];
    const struct scripted_config gen = {
        .ids = ids, .n = apit_ids("Hello", ids, 16), .context = 512,
        .fail_after = -1,
    };
    struct apit t;
    const char *why;

    if (!apit_open(&t, &gen, NULL, &why))
        skip_all(why);
    counts(&t);
    skips(&t);
    names(&t);
    apit_close(&t);
    apit_with(&gen, no_forms, without_forms);
    return done();
}
