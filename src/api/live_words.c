/*
 * The words of the live view, for people. Nothing of a client's is in them
 * but the name of a tool that is being called.
 */
#include "api/live.h"

const char *live_number(char out[32], int64_t n)
{
    char digits[24];
    size_t len = (size_t)snprintf(digits, sizeof(digits), "%lld",
                                  (long long)(n > 0 ? n : 0));
    size_t at = 0;

    for (size_t i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

static const char *ordinal(int32_t n)
{
    if (n / 10 % 10 == 1)
        return "th";
    switch (n % 10) {
    case 1:
        return "st";
    case 2:
        return "nd";
    case 3:
        return "rd";
    }
    return "th";
}

static void queued(char *out, size_t cap, const struct live_row *r,
                   const struct gen_limits *limits, const struct shot *s)
{
    int32_t running = s->in_flight - s->queued;
    int32_t place = r->place < 0 ? 1 : r->place + 1;
    int n = snprintf(out, cap, "Queued, about %d%s in line", place,
                     ordinal(place));

    if (running >= limits->parallel && n > 0 && (size_t)n < cap)
        snprintf(out + n, cap - (size_t)n,
                 limits->parallel == 1 ? ": the slot is busy"
                                       : ": all %d slots are busy",
                 limits->parallel);
}

void live_label(char *out, size_t cap, const struct live_row *r,
                const struct gen_limits *limits, const struct shot *s)
{
    char done[32], total[32];

    switch (r->state) {
    case LIVE_QUEUED:
        queued(out, cap, r, limits, s);
        return;
    case LIVE_PREFILLING:
        snprintf(out, cap, "Prefilling %s of %s (%d %%)",
                 live_number(done, r->prefill_done),
                 live_number(total, r->prefill_total),
                 r->prefill_total > 0
                     ? (int)((int64_t)r->prefill_done * 100 /
                             r->prefill_total)
                     : 0);
        return;
    case LIVE_THINKING:
        snprintf(out, cap, "Thinking");
        return;
    case LIVE_TOOL_CALL:
        snprintf(out, cap, "Calling tool %s", r->tool.name);
        return;
    case LIVE_FINISHING:
        snprintf(out, cap, "Finishing: the answer is complete");
        return;
    case LIVE_DONE:
        snprintf(out, cap, "Done: %s", r->stop.reason);
        return;
    case LIVE_WRITING:
    case LIVE_STATES:
        break;
    }
    snprintf(out, cap, "Writing");
}

struct say { /* detail NULL: any other */
    const char *reason, *detail, *words;
};

static const struct say sayings[] = {
    {"stop", "stop_string", "A stop string ended the answer"},
    {"stop", "pattern_guard", "The answer repeated itself and was ended"},
    {"stop", NULL, "The model ended its answer"},
    {"length", NULL, "The answer reached its limit"},
    {"tool_calls", NULL, "The model called tools; its client goes on"},
    {"timeout", "queue_timeout", "Its turn did not come in time"},
    {"timeout", NULL, "The request's time was up"},
    {"abandoned", "left_while_queued", "The client left while it waited"},
    {"abandoned", "left_during_prefill",
     "The client left while its prompt was read"},
    {"abandoned", NULL, "The client left or took nothing any more"},
    {"cancelled", "shutting_down", "The server went down"},
    {"cancelled", NULL, "Its client asked for the end"},
    {"refused", "queue_full", "The queue was full"},
    {"refused", "shutting_down", "The server was going down"},
    {"refused", "rate", "A limit of the key was reached"},
    {"refused", NULL, "The server had no room for it"},
    {"rejected", "prompt_too_long", "The prompt did not fit the context"},
    {"rejected", NULL, "The request was wrong"},
    {"error", NULL, "The server or the model failed"},
};

void live_sentence(char *out, size_t cap, const struct live_row *r)
{
    const char *words = "It ended";
    char n[32];

    for (size_t i = 0; i < sizeof(sayings) / sizeof(sayings[0]); i++) {
        const struct say *s = &sayings[i];

        if (strcmp(s->reason, r->stop.reason) != 0)
            continue;
        if (s->detail &&
            (!r->stop.detail || strcmp(s->detail, r->stop.detail) != 0))
            continue;
        words = s->words;
        break;
    }
    if (r->tokens > 0)
        snprintf(out, cap, "%s, after %s token%s.", words,
                 live_number(n, r->tokens), r->tokens == 1 ? "" : "s");
    else
        snprintf(out, cap, "%s.", words);
}
