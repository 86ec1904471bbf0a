/*
 * Bodies of /v1/responses and /v1/messages in arenas of every size: where the
 * memory of a request ends, it is refused as too large, and never served with
 * a part of what it says. Expectation: what the same body says with room.
 */
#include "api/body.h"
#include "api/seal.h"
#include "base/buf.h"
#include "chat/jsontext.h"
#include "t/lib/tap.h"

#define STEP 16     /* the least that an arena hands out */
#define MOST 200000 /* bytes that every body here does with */

static const char items[] =
    "{\"instructions\":\"be brief\",\"previous_response_id\":\"resp_1\","
    "\"stop\":[\"a\",\"b\"],\"input\":["
    "{\"role\":\"user\",\"content\":\"short\"},"
    "{\"role\":\"assistant\",\"content\":\"form\",\"phase\":\"commentary\"},"
    "{\"type\":\"item_reference\",\"id\":\"msg_1\"},"
    "{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"x\"}"
    ",{\"type\":\"input_text\",\"text\":\"y\"}]},"
    "{\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":"
    "\"pen1.dGhvdWdodCB0aG91Z2h0IHRob3VnaHQgdGhvdWdodA\"},"
    "{\"type\":\"reasoning\",\"summary\":[],\"content\":[{\"type\":"
    "\"reasoning_text\",\"text\":\"more\"}]},"
    "{\"type\":\"function_call\",\"call_id\":\"1\",\"name\":\"f\","
    "\"arguments\":\"{\\\"a\\\":[1,2]}\"},"
    "{\"type\":\"custom_tool_call\",\"call_id\":\"2\",\"name\":\"p\","
    "\"namespace\":\"n\",\"input\":\"patch\"},"
    "{\"type\":\"additional_tools\",\"tools\":[{\"type\":\"function\","
    "\"name\":\"g\",\"description\":\"old\"},{\"type\":\"custom\","
    "\"name\":\"h\"}]},"
    "{\"type\":\"function_call_output\",\"call_id\":\"1\",\"output\":\"o\"},"
    "{\"type\":\"web_search_call\"},"
    "{\"role\":\"user\",\"content\":\"last\"}],"
    "\"tools\":[{\"type\":\"function\",\"name\":\"f\",\"description\":\"d\","
    "\"parameters\":{\"type\":\"object\"}},{\"type\":\"web_search\"},"
    "{\"type\":\"function\",\"name\":\"g\"},{\"type\":\"namespace\","
    "\"name\":\"n\",\"description\":\"about\",\"tools\":[{\"type\":"
    "\"custom\",\"name\":\"p\",\"description\":\"patches\",\"format\":"
    "{\"type\":\"grammar\",\"syntax\":\"lark\",\"definition\":\"start: /a/\"}"
    "},{\"type\":\"function\",\"name\":\"q\",\"parameters\":{}}]},"
    "{\"type\":\"namespace\",\"name\":\"m\",\"description\":\"about\","
    "\"tools\":[{\"type\":\"function\",\"name\":\"q\"}]}],"
    "\"tool_choice\":{\"type\":\"function\",\"name\":\"f\"}}";

static const char blocks[] =
    "{\"max_tokens\":5,\"system\":[{\"type\":\"text\",\"text\":\"be\"},"
    "{\"type\":\"text\",\"text\":\"brief\"}],\"stop_sequences\":[\"a\"],"
    "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
    "\"text\":\"x\"},{\"type\":\"text\",\"text\":\"y\"}]},"
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\","
    "\"thinking\":\"\",\"signature\":"
    "\"pen1.dGhvdWdodCB0aG91Z2h0IHRob3VnaHQgdGhvdWdodA\"},"
    "{\"type\":\"text\",\"text\":\"so\"},{\"type\":\"tool_use\",\"id\":\"1\","
    "\"name\":\"f\",\"input\":{\"a\":[1,2]}},{\"type\":\"tool_use\","
    "\"id\":\"2\",\"name\":\"f\",\"input\":{}}]},"
    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
    "\"tool_use_id\":\"1\",\"content\":[{\"type\":\"text\",\"text\":\"o\"},"
    "{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"u\"}}]},"
    "{\"type\":\"tool_result\",\"tool_use_id\":\"2\",\"content\":\"p\"},"
    "{\"type\":\"document\",\"title\":\"t\",\"source\":{\"type\":\"text\","
    "\"media_type\":\"text/plain\",\"data\":\"d\"}}]}],"
    "\"tools\":[{\"name\":\"f\",\"description\":\"d\",\"input_schema\":"
    "{\"type\":\"object\"}}],\"tool_choice\":{\"type\":\"any\"}}";

/* What is largest comes last: @ is long, # is its seal. */
static const struct {
    const char *name, *json;
    bool items;
} largest[] = {
    {"a tool", "{\"input\":\"x\",\"tools\":[{\"type\":\"function\","
     "\"name\":\"f\",\"description\":\"d\"}]}", true},
    {"a name", "{\"input\":[{\"role\":\"user\",\"content\":\"x\"},{\"type\":"
     "\"function_call\",\"call_id\":\"c\",\"namespace\":\"s\",\"name\":\"@\","
     "\"arguments\":\"{}\"}]}", true},
    {"a seal", "{\"input\":[{\"role\":\"user\",\"content\":\"x\"},{\"type\":"
     "\"reasoning\",\"encrypted_content\":\"#\"}]}", true},
    {"parts", "{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":"
     "\"input_text\",\"text\":\"@\"},{\"type\":\"input_text\",\"text\":"
     "\"@\"}]}]}", true},
    {"thoughts", "{\"input\":[{\"role\":\"user\",\"content\":\"x\"},"
     "{\"type\":\"reasoning\",\"content\":[{\"type\":\"reasoning_text\","
     "\"text\":\"@\"},{\"type\":\"reasoning_text\",\"text\":\"@\"}]}]}",
     true},
    {"a block of thoughts", "{\"max_tokens\":5,\"messages\":[{\"role\":"
     "\"user\",\"content\":\"x\"},{\"role\":\"assistant\",\"content\":["
     "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"#\"}]},"
     "{\"role\":\"user\",\"content\":\"y\"}]}", false},
    {"calls", "{\"max_tokens\":5,\"messages\":[{\"role\":\"user\","
     "\"content\":\"x\"},{\"role\":\"assistant\",\"content\":["
     "{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"f\"}%]},{\"role\":"
     "\"user\",\"content\":\"y\"}]}", false},
};

static struct arena arena;
static struct body body;
static struct err err;

/* --- what is stored ------------------------------------------------------- */

static enum st chain(void *arg, struct arena *a, struct text id,
                     const struct json **list, struct err *e)
{
    static const char json[] =
        "[{\"type\":\"message\",\"role\":\"user\",\"content\":\"before\"},"
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"it\"}]";

    (void)arg;
    (void)id;
    return json_parse(list, a, json, sizeof(json) - 1, e);
}

static enum st one(void *arg, struct arena *a, struct text id,
                   const struct json **item, struct err *e)
{
    static const char json[] =
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"kept\"}";

    (void)arg;
    (void)id;
    return json_parse(item, a, json, sizeof(json) - 1, e);
}

/* --- one body ------------------------------------------------------------- */

static void add(struct buf *out, char mark, struct text t)
{
    buf_putc(out, mark);
    buf_add(out, t.s, t.n);
}

static void add_json(struct buf *out, char mark, const struct json *v)
{
    buf_putc(out, mark);
    if (v)
        jsontext(out, v, JT_COMPACT);
}

/* All that the parsers make of a body. */
static void tell(struct buf *out)
{
    const struct chat_req *r = &body.chat;

    for (size_t i = 0; i < r->n_messages; i++) {
        const struct chat_msg *m = &r->messages[i];

        buf_printf(out, "\n%d %zu parts", (int)m->role, m->n_parts);
        add(out, 'o', m->call_id);
        add(out, 'r', m->reasoning);
        add(out, 't', m->content);
        for (size_t j = 0; j < m->n_calls; j++) {
            add(out, 'c', m->calls[j].name);
            add(out, '!', m->calls[j].raw);
            add_json(out, '(', m->calls[j].args);
        }
    }
    for (size_t i = 0; i < body.n_stops; i++)
        add(out, 's', body.stops[i]);
    add_json(out, 'T', r->tools);
    for (size_t i = 0; i < body.n_offered; i++) {
        add(out, '/', body.offered[i].space);
        add(out, '/', body.offered[i].own);
        buf_puts(out, body.offered[i].custom ? "!" : "");
        if (body.tool_params)
            buf_puts(out, body.offered[i].sent_in);
    }
    add_json(out, 'I', body.input);
    buf_printf(out, "%zu %zu %s", body.n_offered, r->n_tools, body.skipped);
}

static enum st parse(const char *json, bool as_items, size_t most)
{
    const struct body_past past = {NULL, chain, one};
    const struct text text = {json, strlen(json)};

    err = (struct err){0};
    arena_release(&arena);
    arena_init(&arena, most);
    return as_items ? body_parse_items(&body, &arena, text, &past, &err)
                    : body_parse_blocks(&body, &arena, text, &err);
}

static void every_size(const char *json, bool as_items, const char *name)
{
    struct buf want, got;
    size_t used, first = 0;
    bool right = true;

    buf_init(&want, 1 << 16);
    buf_init(&got, 1 << 16);
    ok(!parse(json, as_items, MOST), "%s: there is room", name);
    used = arena.used;
    tell(&want);
    for (size_t most = 0; most <= used && right; most += STEP) {
        enum st st = parse(json, as_items, most);

        buf_clear(&got);
        if (st) {
            right = st == ST_LIMIT && !first;
        } else {
            first = first ? first : most;
            tell(&got);
            right = got.n == want.n && !memcmp(got.p, want.p, got.n);
        }
        if (!right)
            printf("# %zu bytes: %s %s: %s\n%.*s\n", most, st_name(st),
                   err.where, err.text, (int)got.n, got.n ? got.p : "");
    }
    ok(right, "%s: all of it, or a refusal", name);
    is_int((intmax_t)first, (intmax_t)used, "%s: it needs what it uses",
           name);
    buf_release(&want);
    buf_release(&got);
}

/* A long text, its seal, and calls of one kind, into their places. */
static void fill(struct buf *out, const char *json)
{
    char text[4000];

    memset(text, 'x', sizeof(text));
    for (; *json; json++) {
        if (*json == '@')
            buf_add(out, text, sizeof(text));
        else if (*json == '#')
            seal_put(out, text, sizeof(text));
        else if (*json != '%')
            buf_putc(out, *json);
        for (int i = 0; *json == '%' && i < 100; i++)
            buf_puts(out, ",{\"type\":\"tool_use\",\"id\":\"2\",\"name\":"
                          "\"f\"}");
    }
}

int main(void)
{
    every_size(items, true, "items");
    every_size(blocks, false, "blocks");
    for (size_t i = 0; i < sizeof(largest) / sizeof(largest[0]); i++) {
        struct buf b;

        buf_init(&b, 1 << 20);
        fill(&b, largest[i].json);
        every_size(b.p, largest[i].items, largest[i].name);
        buf_release(&b);
    }
    arena_release(&arena);
    return done();
}
