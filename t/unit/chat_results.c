/*
 * The order of tool results: spec waste.md 1.7 and check 7 of its 7.2. The
 * expectations are the rules of that section, case by case.
 */
#include "chat/format_int.h"
#include "t/lib/chatreq.h"
#include "t/lib/tap.h"

static struct arena arena;

/* ids "-" are none; one letter per message: a assistant with calls, t result,
 * u user. Shown: content, "=" tool, " " per message that is a result. */
static void check(const char *json, const char *want, const char *name)
{
    const struct json *v;
    const struct chat_msg *out, *again;
    struct chat_req r, second;
    struct chat_msg *before;
    struct err e = {0};
    char got[512] = "";
    bool same;

    if (json_parse(&v, &arena, json, strlen(json), &e)) {
        ok(false, "%s: %s", name, e.text);
        return;
    }
    chatreq_read(&r, &arena, v);
    before = arena_array(&arena, r.n_messages, sizeof(*before));
    memcpy(before, r.messages, r.n_messages * sizeof(*before));
    if (format_sort_results(&out, &r, &arena, &e)) {
        ok(false, "%s: %s", name, e.text);
        return;
    }
    for (size_t i = 0; i < r.n_messages; i++)
        if (out[i].role == ROLE_TOOL)
            snprintf(got + strlen(got), sizeof(got) - strlen(got),
                     "%.*s=%.*s/%.*s ", (int)out[i].content.n,
                     out[i].content.s, (int)out[i].tool.n, out[i].tool.s,
                     (int)out[i].name.n, out[i].name.s);
    is_str(got, want, "%s", name);
    second = r;
    second.messages = out;
    same = !format_sort_results(&again, &second, &arena, &e);
    for (size_t i = 0; same && i < r.n_messages; i++)
        same = out[i].sent_i == again[i].sent_i &&
               out[i].tool.s == again[i].tool.s;
    ok(same, "waste 7.2/7: twice is once: %s", name);
    ok(!memcmp(before, r.messages, r.n_messages * sizeof(*before)),
       "waste 7.2/8: the request is as it was: %s", name);
}

#define CALLS(list) "{\"role\":\"assistant\",\"tool_calls\":[" list "]}"
#define CALL(id, name) \
    "{\"id\":\"" id "\",\"function\":{\"name\":\"" name "\"}}"
#define NOID(name) "{\"function\":{\"name\":\"" name "\"}}"
#define RESULT(id, text) \
    ",{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" text "\"}"
#define NAMED(id, name, text) \
    ",{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"name\":\"" name \
    "\",\"content\":\"" text "\"}"
#define USER ",{\"role\":\"user\",\"content\":\"x\"}"
#define R(list) "{\"messages\":[" list "]}"

int main(void)
{
    arena_init(&arena, 16u << 20);
    check(R(CALLS(CALL("a", "f") "," CALL("b", "g")) RESULT("b", "2")
            RESULT("a", "1")), "1=f/ 2=g/ ", "results in the wrong order");
    check(R(CALLS(CALL("a", "f") "," CALL("b", "g")) RESULT("b", "2")
            RESULT("c", "3") RESULT("a", "1")), "2=/ 3=/ 1=/ ",
          "one result of no call: the run stays as sent");
    check(R(CALLS(CALL("a", "f") "," CALL("b", "g")) RESULT("b", "2")
            USER RESULT("a", "1")), "2=g/ 1=f/ ",
          "a message between: two runs, the calls still known");
    check(R(CALLS(CALL("a", "f") "," CALL("a", "g")) RESULT("a", "1")
            RESULT("a", "2")), "1=f/ 2=f/ ",
          "of equal ids the first; equal results stay in order");
    check(R(CALLS(NOID("e") "," CALL("b", "g") "," CALL("a", "f"))
            RESULT("a", "1") RESULT("b", "2")), "2=g/ 1=f/ ",
          "a call without an id has its place");
    check(R(CALLS(CALL("a", "f") "," CALL("ab", "g")) RESULT("ab", "2")
            RESULT("a", "1")), "1=f/ 2=g/ ", "an id that begins another");
    check(R(CALLS(NOID("f") "," CALL("b", "g")) ",{\"role\":\"tool\","
            "\"content\":\"1\"}" RESULT("b", "2")), "1=/ 2=/ ",
          "no id answers no call that has none");
    check(R(CALLS(CALL("a", "f")) NAMED("a", "lie", "1")), "1=f/f ",
          "the name a client claims gives way to the call's");
    check(R(CALLS(CALL("a", "f")) ",{\"role\":\"assistant\",\"content\":\"x\"}"
            NAMED("a", "h", "1")), "1=/h ",
          "an assistant message without calls forgets the earlier ones");
    check(R(CALLS(CALL("a", "f")) "," CALLS(CALL("b", "g")) RESULT("a", "1")),
          "1=/ ", "only the latest assistant message counts");
    check(R(CALLS(CALL("a", "f")) ",{\"role\":\"tool\",\"content\":\"1\"}"),
          "1=/ ", "a result without an id matches nothing");
    check(R("{\"role\":\"user\",\"content\":\"x\"}"), "", "no results");
    check("{\"messages\":[]}", "", "no messages");
    arena_release(&arena);
    return done();
}
