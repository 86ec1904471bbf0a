/*
 * The dialects whose answers are lists, through the real pump: what a client
 * gets does not depend on when somebody looked, calls that do not last
 * included; a stream and a whole answer differ in these alone. The scripts are
 * in the XML form of the published Qwen3-Coder chat template, as in
 * t/unit/api_calls.c; the expectations are api/pieces.h's, by hand.
 */
#include "t/lib/apit.h"

#include "api/run.h"
#include "t/lib/parts_t.h"

#include <unistd.h>

#define STR(name) "\"" name "\":{\"type\":\"string\"}"
#define SCHEMA "{\"type\":\"object\",\"properties\":{" STR("a") "," STR("b") "}}"
#define P(name, value) "<parameter=" name ">" value "</parameter>"
#define F(name, params) "<function=" name ">" params "</function>"
#define T "<tool_call>"
#define E "</tool_call>"
#define END "<|im_end|>"
/* swept as f(a), read as f(a, b) when the block is complete */
#define BROKEN F("f", P("a", "1") "<br " P("b", "2"))
#define OPEN_CALL T "<function=f>" P("a", "1") "<parameter=b>2 3 4"
#define NO_CALL T "{\"name\": \"f\", \"arguments\": {\"a\": \"1\"}, oops" E

static const struct wire_case {
    const char *name, *path, *body; /* of a request; its members follow */
    enum parts_wire wire;
} wires[] = {
    {"items", "/v1/responses",
     "{\"input\":\"Hi\",\"reasoning\":{\"effort\":\"none\"},\"tools\":["
     "{\"type\":\"function\",\"name\":\"f\",\"parameters\":" SCHEMA "},"
     "{\"type\":\"function\",\"name\":\"g\",\"parameters\":" SCHEMA "}]",
     PARTS_ITEMS},
    {"blocks", "/v1/messages",
     "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"tools\":["
     "{\"name\":\"f\",\"input_schema\":" SCHEMA "},"
     "{\"name\":\"g\",\"input_schema\":" SCHEMA "}]",
     PARTS_BLOCKS},
};

static struct apit t;
static size_t script_n;

static void script(const char *text, int64_t gap_us)
{
    script_n = apit_script(&t, text, gap_us);
}

/* Until the gen is done with it, without a look at what it wrote. */
static void let_end(const struct call *c)
{
    struct ring *ring = run_of(&c->x)->choices[0].job->ring;
    struct ring_view v = {0};

    for (int i = 0; i < 5000 && !v.ended; i++) {
        usleep(1000);
        ring_look(ring, &v);
    }
    ok(v.ended, "it was generated");
}

enum how { WHOLE, BY_BIT, AT_ONCE };

static void ask(struct parts *p, const struct wire_case *w, enum how how,
                size_t limit, const char *more)
{
    char body[2048];
    struct call c;

    snprintf(body, sizeof(body), "%s,\"%s\":%zu%s%s}", w->body,
             w->wire == PARTS_ITEMS ? "max_output_tokens" : "max_tokens",
             limit ? limit : 1000, how == WHOLE ? "" : ",\"stream\":true",
             more);
    if (how == AT_ONCE)
        scripted_hold(t.gen);
    call_start(&c, &t, "POST", w->path, body, NULL);
    if (how == AT_ONCE) {
        scripted_release(t.gen);
        let_end(&c);
    }
    call_finish(&c);
    if (how == WHOLE)
        parts_whole(p, w->wire, call_body(&c), strlen(call_body(&c)));
    else
        parts_stream(p, w->wire, call_body(&c), strlen(call_body(&c)));
    is_str(p->bad, "", "%s, %s: by its rules", w->name,
           how == WHOLE ? "whole" : how == BY_BIT ? "bit by bit" : "at once");
    call_release(&c);
}

/* What a stream tells, and a whole answer where that is another list. */
static void tells(const char *text, size_t cut, const char *more,
                  const char *stream, const char *whole, const char *what)
{
    struct parts p;

    for (size_t i = 0; i < 2; i++) {
        const struct wire_case *w = &wires[i];

        script(text, 0);
        ask(&p, w, AT_ONCE, cut ? script_n - cut : 0, more);
        is_str(p.list.p, stream, "%s, %s: at once", what, w->name);
        parts_close(&p);
        ask(&p, w, WHOLE, cut ? script_n - cut : 0, more);
        is_str(p.list.p, whole, "%s, %s: whole", what, w->name);
        parts_close(&p);
        apit_close(&t);
        script(text, 1500);
        ask(&p, w, BY_BIT, cut ? script_n - cut : 0, more);
        is_str(p.list.p, stream, "%s, %s: bit by bit", what, w->name);
        ok(p.deltas > 1 || !strlen(stream), "%s, %s: in %zu deltas", what,
           w->name, p.deltas);
        parts_close(&p);
        apit_close(&t);
    }
}

#define FA "C11:f {\"a\":\"1\"};"
#define FAB "C19:f {\"a\":\"1\",\"b\":\"2\"};"
#define GA "C11:g {\"a\":\"2\"};"

static void order(void)
{
    tells("Hi" T F("f", P("a", "1")) E "you" T F("g", P("a", "2")) E END, 0, "",
          "T2:Hi;" FA "T3:you;" GA, "T2:Hi;" FA "T3:you;" GA,
          "text between calls");
    tells(T F("f", P("a", "1")) E "\n" T F("g", P("a", "2")) E "\n" END, 0, "",
          FA GA, FA GA, "a newline between calls");
    tells("Well.\n\n" T F("f", P("a", "1")) E END, 0, "",
          "T7:Well.\n\n;" FA, "T7:Well.\n\n;" FA, "an empty line before one");
}

/* "\n\n" may begin the stop string while the call comes. */
static void held(void)
{
    struct parts p;

    for (size_t i = 0; i < 2; i++) {
        const struct wire_case *w = &wires[i];
        const char *more = i ? ",\"stop_sequences\":[\"\\n\\nHuman:\"]"
                             : ",\"stop\":[\"\\n\\nHuman:\"]";

        script("Well.\n\n" T F("f", P("a", "1")) E "\n\nHuman: no" END, 1500);
        ask(&p, w, BY_BIT, 0, more);
        is_str(p.list.p, "T7:Well.\n\n;" FA, "text that a stop string held "
               "stays before the call: %s", w->name);
        parts_close(&p);
        ask(&p, w, WHOLE, 0, more);
        is_str(p.list.p, "T7:Well.\n\n;" FA, "whole, too");
        parts_close(&p);
        apit_close(&t);
    }
}

static void withdrawn(void)
{
    /* its last brace never comes: the next function does */
    static const char text[] = T BROKEN E END;
    struct parts some, p;

    for (size_t i = 0; i < 2; i++) {
        const struct wire_case *w = &wires[i];

        script(text, 0);
        ask(&some, w, AT_ONCE, 0, "");
        ok(!strncmp(some.list.p, "C", 1) && strstr(some.list.p, FAB),
           "%s: told, and the complete one behind it", w->name);
        ask(&p, w, WHOLE, 0, "");
        is_str(p.list.p, FAB, "%s: the complete one alone, whole", w->name);
        parts_close(&p);
        apit_close(&t);
        script(text, 1500);
        ask(&p, w, BY_BIT, 0, "");
        is_str(p.list.p, some.list.p, "%s: bit by bit as at once", w->name);
        parts_close(&p);
        parts_close(&some);
        apit_close(&t);
    }
    tells(NO_CALL END, 0, "", FA "T66:" NO_CALL ";", "T66:" NO_CALL ";",
          "no call after all");
}

static void cut_short(void)
{
    struct parts some, p;

    for (size_t i = 0; i < 2; i++) {
        const struct wire_case *w = &wires[i];

        script(OPEN_CALL END, 0);
        ask(&some, w, AT_ONCE, script_n - 1, "");
        is_str(some.end, i ? "max_tokens" : "incomplete", "%s: cut", w->name);
        ok(!strncmp(some.cut.p, "C1:f;", 5), "%s: the call began", w->name);
        apit_close(&t);
        script(OPEN_CALL END, 1500);
        ask(&p, w, BY_BIT, script_n - 1, "");
        is_str(p.list.p, some.list.p, "%s: bit by bit as at once", w->name);
        parts_close(&p);
        parts_close(&some);
        apit_close(&t);
    }
}

static void nothing(void)
{
    struct parts p;

    for (size_t i = 0; i < 2; i++) {
        script(END, 0);
        ask(&p, &wires[i], AT_ONCE, 0, "");
        is_str(p.list.p, i ? "" : "T0:;", "%s: an empty turn", wires[i].name);
        parts_close(&p);
        ask(&p, &wires[i], WHOLE, 0, "");
        is_str(p.list.p, i ? "" : "T0:;", "%s: whole", wires[i].name);
        parts_close(&p);
        apit_close(&t);
    }
}

/* The client leaves inside a call; later the daemon cuts one. */
static void ends(void)
{
    char row[96];
    struct parts p;
    struct call c;
    char body[1024];

    for (size_t i = 0; i < 2; i++) {
        const struct wire_case *w = &wires[i];

        script("Hello " T F("f", P("a", "1 2 3 4 5 6 7 8 9 10 11 12")), 3000);
        snprintf(body, sizeof(body), "%s,\"%s\":1000,\"stream\":true}",
                 w->body, i ? "max_tokens" : "max_output_tokens");
        call_start(&c, &t, "POST", w->path, body, NULL);
        ok(call_until(&c, "5", 5000), "%s: inside a call", w->name);
        api_gone(&c.x);
        buf_clear(&c.out);
        call_finish(&c);
        is_int(c.state, X_FAILED, "the client left: nothing may be sent");
        is_str(row_get(&c, "endpoint || ' ' || finish_reason || ' ' || status",
                       row, sizeof(row)),
               i ? "messages abandoned 200" : "responses abandoned 200",
               "%s: its row", w->name);
        call_release(&c);

        call_start(&c, &t, "POST", w->path, body, NULL);
        ok(call_until(&c, "5", 5000), "%s: inside a call", w->name);
        api_cut(&c.x);
        call_finish(&c);
        parts_stream(&p, w->wire, call_body(&c), strlen(call_body(&c)));
        is_str(p.bad, "", "%s: an end by the rules", w->name);
        is_str(p.end, i ? "error overloaded_error" : "failed",
               "%s: that says it failed", w->name);
        is_str(row_get(&c, "finish_reason || ' ' || error_type", row,
                       sizeof(row)), "error draining", "its row");
        parts_close(&p);
        call_release(&c);
        apit_close(&t);
    }
}

int main(void)
{
    order();
    held();
    withdrawn();
    cut_short();
    nothing();
    ends();
    return done();
}
