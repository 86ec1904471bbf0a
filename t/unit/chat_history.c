/*
 * Every rule for calls and results in a strict conversation: one break, one
 * error, with its path. The rules are those of the hub's published contract
 * ("Tool history"), which are OpenAI's.
 */
#include "chat/history.h"
#include "t/lib/tap.h"

#define ASK {.role = ROLE_USER, .has_content = true, .content = {"hi", 2}}
#define SAY {.role = ROLE_ASSISTANT, .has_content = true, .content = {"x", 1}}
#define ID(s) {s, sizeof(s) - 1}
#define RESULT(s) {.role = ROLE_TOOL, .call_id = ID(s)}
#define CALLER(c)                                                              \
    {.role = ROLE_ASSISTANT, .calls = (c),                                     \
     .n_calls = sizeof(c) / sizeof((c)[0])}

static const struct chat_call one[] = {{.id = ID("a"), .name = ID("f")}};
static const struct chat_call two[] = {{.id = ID("a"), .name = ID("f")},
                                       {.id = ID("b"), .name = ID("f")}};
static const struct chat_call twins[] = {{.id = ID("a"), .name = ID("f")},
                                         {.id = ID("a"), .name = ID("g")}};
static const struct chat_call nameless[] = {{.name = ID("f")}};

static struct chat_msg list[300];

static void is_path(const struct chat_msg *m, size_t n, const char *where,
                    const char *what)
{
    struct chat_req r = {.messages = list, .n_messages = n};
    struct err e = {0};
    enum st st;

    memmove(list, m, n * sizeof(*m));
    for (size_t i = 0; i < n; i++)
        list[i].sent_i = i + 1; /* a merged message stands before them */
    st = history_check_strict(&r, &e);
    if (!where) {
        ok(st == ST_OK, "%s", what);
        return;
    }
    is_int(st, ST_INVALID, "%s: refused", what);
    is_str(e.where, where, "%s: the path", what);
}

#define CHECK(where, what, ...)                                                \
    is_path((const struct chat_msg[]){__VA_ARGS__},                            \
            sizeof((const struct chat_msg[]){__VA_ARGS__}) /                   \
                sizeof(struct chat_msg),                                       \
            where, what)

static void ids(void)
{
    static char wide[4 * 257 + 1];
    struct chat_call call = {.name = ID("f")};
    struct chat_msg m[3] = {ASK, {.role = ROLE_ASSISTANT, .calls = &call,
                                  .n_calls = 1}, {.role = ROLE_TOOL}};

    for (size_t i = 0; i < 257; i++)
        memcpy(wide + 4 * i, "\xf0\x9f\x98\x80", 4);
    for (size_t chars = 256; chars <= 257; chars++) {
        call.id = m[2].call_id = (struct text){wide, 4 * chars};
        is_path(m, 3, chars > 256 ? "messages[2].tool_calls[0].id" : NULL,
                chars > 256 ? "an id of 257 characters"
                            : "an id of 256 characters");
    }
    CHECK("messages[2].tool_calls[0].id", "a call without an id", ASK,
          CALLER(nameless));
    CHECK("messages[3].tool_call_id", "a result without an id", ASK,
          CALLER(one), {.role = ROLE_TOOL});
}

static void many(void)
{
    static char names[129][8];
    static struct chat_call calls[129];
    static struct chat_msg m[131] = {ASK, {.role = ROLE_ASSISTANT}};

    for (size_t i = 0; i < 129; i++) {
        snprintf(names[i], sizeof(names[i]), "c%zu", i);
        calls[i].id = (struct text){names[i], strlen(names[i])};
        calls[i].name = (struct text)ID("f");
        m[2 + i].role = ROLE_TOOL;
        m[2 + i].call_id = calls[i].id;
    }
    m[1].calls = calls;
    m[1].n_calls = 128;
    is_path(m, 130, NULL, "128 calls");
    m[1].n_calls = 129;
    is_path(m, 131, "messages[2].tool_calls", "129 calls");
}

int main(void)
{
    const struct chat_req none = {.n_messages = 0};

    ok(!history_check_strict(&none, NULL), "no messages at all");
    CHECK(NULL, "no calls at all", ASK, SAY, ASK);
    CHECK(NULL, "a call and its result", ASK, CALLER(one), RESULT("a"), SAY);
    CHECK(NULL, "results in any order", ASK, CALLER(two), RESULT("b"),
          RESULT("a"), ASK);
    CHECK(NULL, "an id comes again later", ASK, CALLER(one), RESULT("a"),
          CALLER(one), RESULT("a"));
    CHECK("messages[2].tool_calls", "no result", ASK, CALLER(one));
    CHECK("messages[2].tool_calls", "a result is missing", ASK, CALLER(two),
          RESULT("a"));
    CHECK("messages[2].tool_calls", "somebody speaks in between", ASK,
          CALLER(one), ASK, RESULT("a"));
    CHECK("messages[2].tool_calls", "a result comes late", ASK, CALLER(two),
          RESULT("a"), SAY, RESULT("b"));
    CHECK("messages[4].tool_call_id", "a call is answered twice", ASK,
          CALLER(two), RESULT("a"), RESULT("a"));
    CHECK("messages[3].tool_call_id", "an unknown id", ASK, CALLER(one),
          RESULT("z"));
    CHECK("messages[4].tool_call_id", "one result too many", ASK, CALLER(one),
          RESULT("a"), RESULT("b"));
    CHECK("messages[2].tool_calls[1].id", "one id for two calls", ASK,
          CALLER(twins), RESULT("a"), RESULT("a"));
    CHECK("messages[2].role", "a result of nothing", ASK, RESULT("a"));
    CHECK("messages[3].role", "a result behind words", ASK, SAY, RESULT("a"));
    ids();
    many();
    return done();
}
