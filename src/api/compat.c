#include "api/compat.h"

#include <math.h>

#define H USE_HONOURED
#define X USE_EXTENSION
#define N USE_NEUTRAL
#define R USE_REFUSED
#define ANY -HUGE_VAL, HUGE_VAL
#define NO_SHAPE "a choice of one string; this version has no grammars"

/* name, {chat, completions}, type, min, max, above, harmless, accepts, dflt */
static const struct compat_field fields[] = {
    {"messages", {H, 0}, TYPE_OWN, 0, 0, 0, 0,
     "a list with a user message; text content, tool calls and results", NULL},
    {"prompt", {0, H}, TYPE_OWN, 0, 0, 0, 0,
     "a string, a list of strings, token ids, or a list of lists of them",
     NULL},
    {"model", {H, H}, TYPE_STR, 0, 0, 0, 0, NULL, "the default model"},
    {"stream", {H, H}, TYPE_BOOL, 0, 0, 0, 0, NULL, "false"},
    {"stream_options", {H, H}, TYPE_OWN, 0, 0, 0, 0,
     "an object; include_usage is true or false", NULL},
    {"max_tokens", {H, H}, TYPE_INT, 1, HUGE_VAL, 0, 0, NULL,
     "default-max-tokens of the server"},
    {"max_completion_tokens", {H, X}, TYPE_INT, 1, HUGE_VAL, 0, 0, NULL,
     "max_tokens; both with different values are refused"},
    {"stop", {H, H}, TYPE_OWN, 0, 0, 0, 0,
     "a string or a list of at most 16 strings; empty ones are ignored",
     NULL},
    {"temperature", {H, H}, TYPE_NUM, 0, 2, 0, 0, NULL, "1"},
    {"top_p", {H, H}, TYPE_NUM, 0, 1, true, 0, NULL, "1"},
    {"top_k", {X, X}, TYPE_INT, 0, HUGE_VAL, 0, 0, NULL, "0 (off)"},
    {"min_p", {X, X}, TYPE_NUM, 0, 1, 0, 0, NULL, "0 (off)"},
    {"seed", {H, H}, TYPE_INT, ANY, 0, 0, NULL, "a new one per request"},
    {"n", {H, H}, TYPE_INT, 1, 16, 0, 0, NULL, "1; with stream only 1"},
    {"reasoning_effort", {H, 0}, TYPE_OWN, 0, 0, 0, 0,
     "none, minimal or off (no reasoning); low, medium, high, xhigh, max or a "
     "number, as far as the chat format knows it",
     "thinking of the server"},
    {"thinking_effort", {X, 0}, TYPE_OWN, 0, 0, 0, 0,
     "the words of reasoning_effort", NULL},
    {"thinking", {X, 0}, TYPE_BOOL, 0, 0, 0, 0, NULL, NULL},
    {"enable_thinking", {X, 0}, TYPE_BOOL, 0, 0, 0, 0, NULL, NULL},
    {"chat_template_kwargs", {X, 0}, TYPE_OWN, 0, 0, 0, 0,
     "an object for the chat template; enable_thinking is true or false",
     NULL},
    {"add_generation_prompt", {X, 0}, TYPE_BOOL, 0, 0, 0, 0, NULL,
     "true; a request that opens no turn is not answered"},
    {"structured_outputs", {X, X}, TYPE_OWN, 0, 0, 0, 0, NO_SHAPE, NULL},
    {"response_format", {H, H}, TYPE_OWN, 0, 0, 0, 0,
     "{\"type\":\"text\"}; JSON is not in this version", "text"},
    {"modalities", {R, 0}, TYPE_OWN, 0, 0, 0, OK_TEXT_LIST,
     "this server answers with text", "[\"text\"]"},
    {"logprobs", {R, R}, TYPE_OWN, 0, 0, 0, OK_FALSE | OK_ZERO,
     "log-probabilities are not in this version", "false"},
    {"top_logprobs", {R, 0}, TYPE_OWN, 0, 0, 0, OK_ZERO,
     "log-probabilities are not in this version", "0"},
    {"tools", {H, 0}, TYPE_OWN, 0, 0, 0, 0,
     "a list of at most 128 functions, 256 KiB in all; strict is accepted, "
     "not enforced", NULL},
    {"tool_choice", {H, 0}, TYPE_OWN, 0, 0, 0, 0,
     "none or auto; required and a named function are not in this version",
     "auto"},
    {"parallel_tool_calls", {H, 0}, TYPE_BOOL, 0, 0, 0, 0, NULL, "true"},
    {"functions", {R, 0}, TYPE_OWN, 0, 0, 0, OK_EMPTY, "use tools", NULL},
    {"function_call", {R, 0}, TYPE_OWN, 0, 0, 0, OK_AUTO, "use tool_choice",
     NULL},
    {"presence_penalty", {R, R}, TYPE_OWN, 0, 0, 0, OK_ZERO,
     "penalties are not in this version", "0"},
    {"frequency_penalty", {R, R}, TYPE_OWN, 0, 0, 0, OK_ZERO,
     "penalties are not in this version", "0"},
    {"repetition_penalty", {R, R}, TYPE_OWN, 0, 0, 0, OK_ONE,
     "penalties are not in this version", "1"},
    {"no_repeat_ngram_size", {R, R}, TYPE_OWN, 0, 0, 0, OK_ZERO,
     "penalties are not in this version", "0"},
    {"logit_bias", {R, R}, TYPE_OWN, 0, 0, 0, OK_EMPTY,
     "biases are not in this version", "{}"},
    {"audio", {R, 0}, TYPE_OWN, 0, 0, 0, 0, "this server answers with text",
     NULL},
    {"web_search_options", {R, 0}, TYPE_OWN, 0, 0, 0, 0,
     "this server does not search", NULL},
    {"verbosity", {R, 0}, TYPE_OWN, 0, 0, 0, 0, "ask for it in the prompt",
     NULL},
    {"best_of", {0, H}, TYPE_OWN, 0, 0, 0, 0, "1, or the value of n", "1"},
    {"echo", {0, R}, TYPE_OWN, 0, 0, 0, OK_FALSE,
     "the prompt is not sent back", "false"},
    {"suffix", {0, R}, TYPE_OWN, 0, 0, 0, OK_EMPTY,
     "insertion is not in this version", NULL},
    {"user", {N, N}, TYPE_OWN, 0, 0, 0, 0, NULL, NULL},
    {"metadata", {N, 0}, TYPE_OWN, 0, 0, 0, 0, NULL, NULL},
    {"store", {N, 0}, TYPE_OWN, 0, 0, 0, 0, NULL, NULL},
    {"service_tier", {N, 0}, TYPE_OWN, 0, 0, 0, 0, NULL, NULL},
    {"prompt_cache_key", {N, 0}, TYPE_OWN, 0, 0, 0, 0, NULL, NULL},
    {"prompt_cache_retention", {N, 0}, TYPE_OWN, 0, 0, 0, 0, NULL, NULL},
    {"safety_identifier", {N, 0}, TYPE_OWN, 0, 0, 0, 0, NULL, NULL},
    {"prediction", {N, 0}, TYPE_OWN, 0, 0, 0, 0, NULL, NULL},
};

const struct compat_field *compat_fields(size_t *n)
{
    *n = sizeof(fields) / sizeof(fields[0]);
    return fields;
}

const struct compat_field *compat_find(const char *name)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (!strcmp(fields[i].name, name))
            return &fields[i];
    return NULL;
}

const char *compat_use_name(enum compat_use u)
{
    static const char *const names[] = {
        [USE_NONE] = "",
        [USE_HONOURED] = "honoured",
        [USE_EXTENSION] = "extension",
        [USE_NEUTRAL] = "neutral",
        [USE_REFUSED] = "refused",
    };

    return names[u];
}

static void add_number(const struct compat_field *f, struct buf *out)
{
    buf_puts(out, f->type == TYPE_INT ? "an integer" : "a number");
    if (isinf(f->min) && isinf(f->max))
        return;
    if (isinf(f->max))
        buf_printf(out, " of at least %g", f->min);
    else
        buf_printf(out, f->above ? " above %g and up to %g" : " from %g to %g",
                   f->min, f->max);
}

static void add_harmless(unsigned ok, struct buf *out)
{
    static const struct {
        unsigned flag;
        const char *word;
    } words[] = {
        {OK_FALSE, "false"},    {OK_ZERO, "0"},
        {OK_ONE, "1"},          {OK_EMPTY, "an empty value"},
        {OK_AUTO, "none or auto"}, {OK_TEXT_LIST, "[\"text\"]"},
    };

    buf_puts(out, "only null");
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (ok & words[i].flag)
            buf_printf(out, " or %s", words[i].word);
}

void compat_accepts(const struct compat_field *f, struct buf *out)
{
    bool refused = f->use[WIRE_CHAT] == USE_REFUSED ||
                   f->use[WIRE_COMPLETION] == USE_REFUSED;

    if (refused) {
        add_harmless(f->harmless, out);
        buf_printf(out, " (%s)", f->accepts);
        return;
    }
    switch (f->type) {
    case TYPE_OWN:
        buf_puts(out, f->accepts ? f->accepts : "anything");
        break;
    case TYPE_BOOL:
        buf_puts(out, "true or false");
        break;
    case TYPE_STR:
        buf_puts(out, "a string");
        break;
    case TYPE_INT:
    case TYPE_NUM:
        add_number(f, out);
        break;
    }
}

static bool is_harmless(unsigned ok, const struct json *v)
{
    switch (v->type) {
    case JSON_NULL:
        return true;
    case JSON_BOOL:
        return (ok & OK_FALSE) && !v->boolean;
    case JSON_NUM:
        return ((ok & OK_ZERO) && v->d == 0.0) ||
               ((ok & OK_ONE) && v->d == 1.0);
    case JSON_STR:
        return ((ok & OK_EMPTY) && !v->str.n) ||
               ((ok & OK_AUTO) && (json_is(v, "none") || json_is(v, "auto")));
    case JSON_ARR:
        return ((ok & OK_EMPTY) && !v->n) ||
               ((ok & OK_TEXT_LIST) && v->n == 1 && json_is(v->child, "text"));
    case JSON_OBJ:
        return (ok & OK_EMPTY) && !v->n;
    }
    return false;
}

static bool is_accepted(const struct compat_field *f, const struct json *v)
{
    switch (f->type) {
    case TYPE_OWN:
        return true;
    case TYPE_BOOL:
        return v->type == JSON_BOOL;
    case TYPE_STR:
        return v->type == JSON_STR;
    case TYPE_INT:
        return v->type == JSON_NUM && v->is_int && (double)v->i >= f->min &&
               (double)v->i <= f->max;
    case TYPE_NUM:
        return v->type == JSON_NUM && v->d >= f->min && v->d <= f->max &&
               !(f->above && v->d == f->min);
    }
    return false;
}

static enum st refuse(const struct compat_field *f, struct err *e)
{
    struct buf b;
    enum st st;

    buf_init(&b, BUF_MESSAGE);
    compat_accepts(f, &b);
    st = err_set(e, ST_INVALID, f->name, "accepted is %s", b.p ? b.p : "");
    buf_release(&b);
    return st;
}

enum st compat_check(enum compat_wire wire, const struct json *body,
                     struct err *e)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const struct compat_field *f = &fields[i];
        const struct json *v = json_get(body, f->name);

        if (!v || v->type == JSON_NULL)
            continue;
        switch (f->use[wire]) {
        case USE_NONE:
        case USE_NEUTRAL:
            break;
        case USE_REFUSED:
            if (!is_harmless(f->harmless, v))
                return refuse(f, e);
            break;
        case USE_HONOURED:
        case USE_EXTENSION:
            if (!is_accepted(f, v))
                return refuse(f, e);
            break;
        }
    }
    return ST_OK;
}
