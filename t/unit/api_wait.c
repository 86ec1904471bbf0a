/*
 * What waits: the lines that a waiting stream gets, the end of a wait, who
 * owns a job, and which requests are small enough for the side lane.
 */
#include "api/side.h"
#include "base/thread.h"
#include "t/lib/apit.h"

#include <unistd.h>

static const char *const chat = "/v1/chat/completions";

#define CHAT(more)                                                             \
    "{\"reasoning_effort\":\"none\",\"messages\":[{\"role\":\"user\","         \
    "\"content\":\"Hi\"}]" more "}"

/* --- the side lane ------------------------------------------------------- */

static const struct {
    const char *what, *body;
    bool thinking, task, side;
    int32_t max_tokens;
    size_t prompt_tok;
} lane[] = {
    {"a short answer", CHAT(""), false, false, true, 64, 2048},
    {"one token too many", CHAT(""), false, false, false, 65, 10},
    {"a prompt of one too many", CHAT(""), false, false, false, 64, 2049},
    {"reasoning", CHAT(""), true, false, false, 64, 10},
    {"two choices", CHAT(",\"n\":2"), false, false, false, 64, 10},
    {"a task by its name", CHAT(",\"metadata\":{\"task\":"
     "\"title_generation\"}"), false, true, true, 1000, 10},
    {"tags", CHAT(",\"metadata\":{\"task\":\"tags_generation\"}"), false, true,
     true, 1000, 10},
    {"follow-ups", CHAT(",\"metadata\":{\"task\":\"follow_up_generation\"}"),
     false, true, true, 1000, 10},
    {"another task", CHAT(",\"metadata\":{\"task\":\"translation\"}"), false,
     false, false, 1000, 10},
    {"a task that is a number", CHAT(",\"metadata\":{\"task\":7}"), false,
     false, false, 1000, 10},
    {"metadata that is a list", CHAT(",\"metadata\":[\"task\"]"), false, false,
     false, 1000, 10},
    {"a long task", CHAT(",\"metadata\":{\"task\":\"title_generation\"}"),
     false, true, false, 1000, 2049},
    {"a chat page's title",
     "{\"messages\":[{\"role\":\"user\",\"content\":\"### Task:\\nGenerate a "
     "concise, 3-5 word title with an emoji summarizing the chat history.\\n"
     "### Guidelines:\\n- x\\n### Chat History:\\n<chat_history>\\n"
     "USER: Hi\\n</chat_history>\"}],\"max_tokens\":1000}",
     false, true, true, 1000, 300},
    {"its tags, behind a system message",
     "{\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"},{\"role\":"
     "\"user\",\"content\":[{\"type\":\"text\",\"text\":\" ### Task:\\r\\n"
     "Generate 1-3 broad tags categorizing the main themes\"}]}]}",
     false, true, true, 8192, 300},
    {"its follow-ups",
     "{\"messages\":[{\"role\":\"user\",\"content\":\"### Task:\\nSuggest 3-5 "
     "relevant follow-up questions or prompts\"}]}",
     false, true, true, 8192, 300},
    {"a task of somebody's own",
     "{\"messages\":[{\"role\":\"user\",\"content\":\"### Task:\\nWrite a "
     "novel\"}]}",
     false, false, false, 8192, 300},
    {"the words elsewhere",
     "{\"messages\":[{\"role\":\"user\",\"content\":\"What is: ### Task:\\n"
     "Generate a concise title\"}]}",
     false, false, false, 8192, 300},
    {"the words in a second turn",
     "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"},{\"role\":"
     "\"assistant\",\"content\":\"Hi\"},{\"role\":\"user\",\"content\":"
     "\"### Task:\\nGenerate a concise title\"}]}",
     false, false, false, 8192, 300},
    {"a coding agent's title",
     "{\"messages\":[{\"role\":\"system\",\"content\":\"You are a title "
     "generator. You output ONLY a thread title. Nothing else.\\n\\n<task>"
     "\"},{\"role\":\"user\",\"content\":\"Generate a title for this "
     "conversation:\\n\"},{\"role\":\"user\",\"content\":\"Hi\"}]}",
     false, true, true, 32000, 900},
    {"the same with tools",
     "{\"messages\":[{\"role\":\"system\",\"content\":\"You are a title "
     "generator. You output ONLY a thread title. Nothing else.\"},{\"role\":"
     "\"user\",\"content\":\"Hi\"}],\"tools\":[{\"type\":\"function\","
     "\"function\":{\"name\":\"f\"}}]}",
     false, false, false, 32000, 900},
    {"a system message alone",
     "{\"messages\":[{\"role\":\"system\",\"content\":\"### Task:\\n"
     "Generate a concise title\"},{\"role\":\"user\",\"content\":\"Hi\"}]}",
     false, false, false, 8192, 300},
};

static void side_lane(void)
{
    for (size_t i = 0; i < sizeof(lane) / sizeof(lane[0]); i++) {
        struct text json = {lane[i].body, strlen(lane[i].body)};
        struct arena a;
        struct body b;
        struct err e;

        arena_init(&a, 1 << 20);
        if (ok(!body_parse_chat(&b, &a, json, &e), "%s: read",
               lane[i].what)) {
            is_int(side_task(&b), lane[i].task, "%s: a client's own?",
                   lane[i].what);
            is_int(side_is(&b, lane[i].thinking, lane[i].prompt_tok,
                           lane[i].max_tokens),
                   lane[i].side, "%s: side lane?", lane[i].what);
        } else {
            printf("# %s: %s\n", e.where, e.text);
        }
        arena_release(&a);
    }
}

/* --- what a job says ----------------------------------------------------- */

static struct job seen[8];
static int n_seen;

static size_t note_job(const struct job *j)
{
    if (n_seen < 8)
        seen[n_seen++] = (struct job){.owner = j->owner,
                                      .side = j->side,
                                      .thinking = j->thinking,
                                      .start_by_us = j->start_by_us,
                                      .deadline_us = j->deadline_us};
    return 0;
}

static void jobs(struct apit *t)
{
    const struct call_opts a = {.key = "one"}, b = {.key = "two"};
    struct call c;
    int64_t before = mono_us();

    n_seen = 0;
    call_start(&c, t, "POST", chat, CHAT(",\"max_tokens\":2"), &a);
    call_finish(&c);
    call_release(&c);
    call_start(&c, t, "POST", chat, CHAT(",\"max_tokens\":2,\"n\":2"), &a);
    call_finish(&c);
    call_release(&c);
    call_start(&c, t, "POST", chat,
               "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],"
               "\"max_tokens\":90,\"stream\":true}", &b);
    call_finish(&c);
    call_release(&c);
    is_int(n_seen, 4, "four jobs");
    ok(seen[0].owner && seen[0].owner == seen[1].owner &&
           seen[1].owner == seen[2].owner,
       "one client, one owner");
    ok(seen[3].owner != seen[0].owner, "another client, another owner");
    ok(seen[0].side && !seen[1].side && !seen[3].side, "small ones are marked");
    ok(!seen[0].thinking && seen[3].thinking, "and those that think");
    ok(seen[0].start_by_us >= before + 250000 &&
           seen[0].start_by_us < mono_us() + 250000,
       "not streamed: its turn must come in time");
    ok(seen[1].start_by_us && !seen[2].start_by_us,
       "of several choices the first one's");
    ok(!seen[3].start_by_us && seen[3].deadline_us,
       "a stream waits until its time is up");
}

/* --- waiting ------------------------------------------------------------- */

/* Nobody moves; this one is first in the queue. */
static void block(struct call *c, struct apit *t)
{
    scripted_hold(t->gen);
    call_start(c, t, "POST", chat, CHAT(",\"max_tokens\":50,\"stream\":true"),
               NULL);
}

static void let_go(struct call *c, struct apit *t)
{
    scripted_release(t->gen);
    call_finish(c);
    call_release(c);
}

/* Seconds of the first and the last waiting line's estimate; false: a line
 * of another form. */
static bool lines(const char *body, int *n, long *first, long *last)
{
    const char *p = body;

    *n = 0;
    while ((p = strstr(p, ": waiting")) != NULL) {
        char *end;
        long eta;

        if (strncmp(p, ": waiting, position 2, about ", 29) != 0)
            return false;
        eta = strtol(p + 29, &end, 10);
        if (strncmp(end, " s, ", 4) != 0)
            return false;
        strtol(end + 4, &end, 10);
        if (strncmp(end, " s so far\n\n", 11) != 0)
            return false;
        if (!(*n)++)
            *first = eta;
        *last = eta;
        p = end;
    }
    return true;
}

static void estimates(struct apit *t)
{
    struct call_opts long_ago = {.waited_us = 34500000};
    long first = 0, last = 0;
    struct call head, c;
    bool good;
    int n;

    block(&head, t);
    call_start(&c, t, "POST", chat, CHAT(",\"max_tokens\":3,\"stream\":true"),
               &long_ago);
    call_until(&c, "s so far", 5000);
    ok(strstr(call_body(&c), " s, 34 s so far\n\n"), "how long it waits now");
    call_until(&c, NULL, 2500);
    good = lines(call_body(&c), &n, &first, &last);
    ok(good && n >= 3, "place, estimate, time so far: %d lines", n);
    ok(first == 3 && last == 1, "the estimate counts down, never below 1");
    let_go(&head, t);
    call_finish(&c);
    ok(strstr(call_body(&c), "[DONE]"), "and then it is served");
    call_release(&c);
}

static void no_estimate(struct apit *t)
{
    struct call head, c;
    int64_t before;

    block(&head, t);
    before = mono_us();
    call_start(&c, t, "POST", chat, CHAT(",\"max_tokens\":3,\"stream\":true"),
               NULL);
    ok(call_until(&c, ": waiting, position 2, 0 s so far\n\n", 5000),
       "nothing known: the place alone");
    ok(api_next_us(&c.x) >= before + 800000, "the next line as long after");
    let_go(&head, t);
    call_finish(&c);
    call_release(&c);
}

/* Ten seconds are never over here. */
static void no_line(struct apit *t)
{
    struct call head, c;

    block(&head, t);
    call_start(&c, t, "POST", chat, CHAT(",\"max_tokens\":3,\"stream\":true"),
               NULL);
    call_until(&c, NULL, 300);
    is_int(c.out.n, 0, "a short wait: not a byte, no status either");
    ok(api_next_us(&c.x) >= mono_us() + 9000000, "the line comes after 10 s");
    let_go(&head, t);
    call_finish(&c);
    ok(!strstr(call_body(&c), ": waiting"), "no line afterwards");
    call_release(&c);
}

static void too_long(struct apit *t)
{
    struct call head, c, s;
    const struct json *j;
    struct arena a;
    char h[64];

    block(&head, t);
    call_start(&s, t, "POST", chat, CHAT(",\"max_tokens\":3,\"stream\":true"),
               NULL);
    call_start(&c, t, "POST", chat, CHAT(",\"max_tokens\":3,\"n\":2"), NULL);
    call_finish(&c);
    j = call_json(&c, &a);
    is_int(call_status(&c), 429, "no stream and no turn in time: 429");
    is_str(call_header(&c, "Retry-After", h, sizeof(h)), "10", "Retry-After");
    ok(json_str_is(json_at(j, "error.type"), "rate_limit_error"), "its type");
    ok(json_str_is(json_at(j, "error.code"), "queue_timeout"), "its code");
    is_str(row_get(&c, "finish_reason || ' ' || error_type || ' ' || state || "
                       "' ' || status || ' ' || completion_tokens",
                   h, sizeof(h)),
           "timeout queued done 429 0", "its row");
    call_release(&c);
    call_until(&s, NULL, 10);
    is_int(s.out.n, 0, "a stream waits on");
    let_go(&head, t);
    call_finish(&s);
    ok(strstr(call_body(&s), "[DONE]"), "until it is served");
    call_release(&s);
    call_do(&c, t, chat, CHAT(",\"max_tokens\":3"));
    is_int(call_status(&c), 200, "a turn in time: served");
    call_release(&c);
    arena_release(&a);
}

static void run_time_out(struct apit *t)
{
    struct arena a;
    struct call c;
    char h[64];

    call_do(&c, t, chat, CHAT(",\"max_tokens\":4000"));
    is_int(call_status(&c), 200, "the time ran out in mid-answer");
    ok(json_str_is(json_at(call_json(&c, &a), "choices.0.finish_reason"),
                   "timeout"), "finish_reason without a stream");
    is_str(row_get(&c, "finish_reason || ' ' || state", h, sizeof(h)),
           "timeout done", "its row");
    arena_release(&a);
    call_release(&c);
    call_do(&c, t, chat, CHAT(",\"max_tokens\":4000,\"stream\":true"));
    ok(strstr(call_body(&c), "\"finish_reason\":\"timeout\""),
       "and in a stream");
    call_release(&c);
}

/* --- no memory ----------------------------------------------------------- */

static void refused(struct apit *t)
{
    struct call c;
    char h[64];

    call_do(&c, t, chat, CHAT(",\"stream\":true"));
    is_int(call_status(&c), 503, "no memory before the first byte: 503");
    is_str(call_header(&c, "Retry-After", h, sizeof(h)), "15", "Retry-After");
    call_release(&c);

    scripted_hold(t->gen);
    call_start(&c, t, "POST", chat, CHAT(",\"stream\":true"), NULL);
    ok(call_until(&c, ": ", 5000), "a comment committed the status");
    scripted_release(t->gen);
    call_finish(&c);
    is_int(call_status(&c), 200, "no other status can come");
    ok(strstr(call_body(&c), "\"error\":{\"message\":\"the script says fail\","
                             "\"type\":\"server_busy\""),
       "the error is an event and has the engine's words");
    is_str(row_get(&c, "finish_reason || ' ' || error_type", h, sizeof(h)),
           "error nomem", "its row");
    call_release(&c);
}

static void from_disk(struct apit *t)
{
    const struct json *j;
    struct arena a;
    struct call c;
    char h[64];

    call_do(&c, t, chat, CHAT(",\"max_tokens\":2,\"n\":2"));
    j = call_json(&c, &a);
    is_int(json_int(json_at(j, "usage.prompt_tokens_details.cached_tokens")),
           3, "cached tokens: of a prompt once");
    ok(json_str_is(json_at(j, "timings.cache_source"), "disk"),
       "some of them from disk");
    is_str(row_get(&c, "cached_tokens || ' ' || cache_source", h, sizeof(h)),
           "3 disk", "its row");
    arena_release(&a);
    call_release(&c);
}

/* --- all ----------------------------------------------------------------- */

static void patient(struct api_config *c)
{
    c->wait_line_ms = 400;
    c->prefill_line_ms = 50;
    c->request_timeout_ms = 60000;
    c->queue_timeout_ms = 250;
}

static void usual(struct api_config *c)
{
    c->think_default = true;
    c->request_timeout_ms = 60000;
    c->queue_timeout_ms = 250;
}

static void hasty(struct api_config *c)
{
    c->request_timeout_ms = 300;
}

int main(void)
{
    int32_t ids[64];
    struct scripted_config gen = {.ids = ids,
                                  .loop = true,
                                  .fail_after = -1,
                                  .parallel = 1,
                                  .max_queue = 8,
                                  .start_at = note_job,
                                  .context = 8192};

    if (access(APIT_MODEL, R_OK))
        skip_all("no demo model");
    gen.n = apit_ids("one two three four five ", ids, 64);
    side_lane();
    apit_with(&gen, usual, jobs);
    apit_with(&gen, patient, no_estimate);
    apit_with(&gen, usual, no_line);
    apit_with(&gen, patient, too_long);
    gen.eta_us = 3000000;
    apit_with(&gen, patient, estimates);
    gen.per_token_us = 1000;
    apit_with(&gen, hasty, run_time_out);
    gen.per_token_us = 0;
    gen.cached = 3;
    gen.disk = 1;
    apit_with(&gen, usual, from_disk);
    gen.fail_after = 0;
    gen.fail_as = ST_NOMEM;
    apit_with(&gen, patient, refused);
    return done();
}
