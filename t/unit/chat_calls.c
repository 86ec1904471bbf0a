/* The calls of a reply: ids, limits, and names that a model wrote. */
#include "chat/calls.h"
#include "t/lib/tap.h"

static void test_ids(void)
{
    struct calls a, b;
    bool unique = true;

    calls_init(&a, CALLS_MAX, 1);
    calls_init(&b, CALLS_MAX, 2);
    for (size_t i = 0; i < CALLS_MAX; i++) {
        BUG_ON(!calls_add(&a, NULL, 0, "f", 1));
        BUG_ON(!calls_add(&b, NULL, 0, "f", 1));
    }
    for (size_t i = 0; i < CALLS_MAX; i++)
        for (size_t j = 0; j < CALLS_MAX; j++)
            unique = unique && strcmp(a.p[i]->id, b.p[j]->id) != 0 &&
                     (i == j || strcmp(a.p[i]->id, a.p[j]->id) != 0);
    ok(unique, "256 ids of two replies differ");
    is_int((long)strlen(a.p[0]->id), 29, "call_ and 24 digits");
    is_int((long)strspn(a.p[0]->id + 5, "0123456789abcdef"), 24, "hex ones");
    ok(!strncmp(a.p[0]->id, "call_", 5), "begins with call_");
    ok(!calls_add(&a, NULL, 0, "f", 1) && !a.failed && a.dropped == 1,
       "one too many is dropped");
    calls_release(&a);
    calls_release(&b);

    calls_init(&a, CALLS_MAX, 7);
    a.form = CALL_ID_SHORT;
    BUG_ON(!calls_add(&a, NULL, 0, "f", 1));
    is_int((long)strlen(a.p[0]->id), 9, "a short id has 9 characters");
    BUG_ON(!calls_add(&a, "functions.f:0", 13, "f", 1));
    is_str(a.p[1]->id, "functions.f:0", "an id of the model's stays");
    calls_release(&a);
}

static void test_limit(void)
{
    struct tool_call *first;
    struct calls c;

    calls_init(&c, 1, 1);
    first = calls_add(&c, NULL, 0, "f", 1);
    BUG_ON(!first || !calls_add(&c, NULL, 0, "g", 1));
    ok(!first->dropped && c.p[1]->dropped, "the second of one is dropped");
    is_int((long)c.shown, 1, "one is shown");
    is_int((long)c.dropped, 1, "one is counted");
    calls_withdraw(&c, first);
    calls_withdraw(&c, first);
    is_int((long)c.shown, 0, "a withdrawn call is not shown");
    BUG_ON(!calls_add(&c, NULL, 0, "h", 1));
    ok(!c.p[2]->dropped, "and leaves its place to the next");
    calls_withdraw(&c, c.p[1]);
    is_int((long)c.shown, 1, "a dropped one leaves none");
    calls_release(&c);
}

/* A client parses the arguments of every call that is complete. */
static void test_settle(void)
{
    struct calls c;

    calls_init(&c, 4, 1);
    for (int i = 0; i < 3; i++)
        BUG_ON(!calls_add(&c, NULL, 0, "f", 1));
    c.p[0]->whole = true;
    buf_puts(&c.p[1]->args, "[1]");
    c.p[1]->whole = true;
    calls_settle(&c, 0, 7);
    is_str(c.p[0]->args.p, "{}", "no arguments are an empty object");
    is_str(c.p[1]->args.p, "[1]", "those that are there stay");
    is_int((long)c.p[2]->args.n, 0, "a call that was cut gets none");
    BUG_ON(!calls_add(&c, NULL, 0, "f", 1));
    c.p[2]->whole = true;
    calls_settle(&c, 3, 9);
    is_str(c.p[2]->args.p, "{}", "also the call before the new ones");
    ok(c.p[2]->at == 7 && c.p[3]->at == 9, "the places are those of the new");
    calls_release(&c);
}

static void test_names(void)
{
    char longer[300];
    struct calls c;

    calls_init(&c, 4, 1);
    BUG_ON(!calls_add(&c, "a\0b\xff", 4, "x\0\xc3\xa9\xc3", 5));
    is_str(c.p[0]->name, "x\xc3\xa9", "a name keeps its valid characters");
    is_str(c.p[0]->id, "ab", "so does an id");
    BUG_ON(!calls_add(&c, "", 0, "", 0));
    is_str(c.p[1]->name, "", "an empty name is one");
    is_int((long)strlen(c.p[1]->id), 29, "an empty id is none");
    BUG_ON(!calls_add(&c, "a\xff" "b\xe2\x82", 5, "\xc3" "x\xed\xa0\x80y", 6));
    is_str(c.p[2]->name, "xy", "bytes of no character are left out anywhere");
    is_str(c.p[2]->id, "ab", "of an id too");
    memset(longer, 'x', sizeof(longer));
    BUG_ON(!calls_add(&c, longer, sizeof(longer), "f", 1));
    is_int((long)strlen(c.p[3]->id), 256, "an id has 256 bytes at most");
    calls_release(&c);
}

int main(void)
{
    test_ids();
    test_limit();
    test_settle();
    test_names();
    return done();
}
