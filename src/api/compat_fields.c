/* The table itself. Ranges: OpenAI's reference; spec tandem.md 3 and 4. */
#include "api/compat.h"

#include <math.h>

#define H USE_HONOURED
#define X USE_EXTENSION
#define N USE_NEUTRAL
#define R USE_REFUSED

#define OWN(text) 0, 0, 0, 0, NULL, 0, text
#define IS(types) types, 0, 0, 0, NULL, 0, NULL
#define INT(min, max) TYPE_INT, min, max, false, NULL, 0, NULL
#define NUM(min, max) TYPE_NUM, min, max, false, NULL, 0, NULL
#define ABOVE(min, max) TYPE_NUM, min, max, true, NULL, 0, NULL
#define WORD(words) TYPE_WORD, 0, 0, 0, words, 0, NULL
#define ANYTHING 0, 0, 0, 0, NULL, 0, NULL
#define NOT(harmless, text) 0, 0, 0, 0, NULL, harmless, text

#define EFFORT TYPE_WORD | TYPE_INT, 0, INT32_MAX, false, compat_efforts, 0, \
               NULL
/* Tokens of reasoning; 0 is no cap. */
#define BUDGET INT(0, 2147483648.0)
#define NO_CAP "no cap"
#define INSTEAD "write it as regex, json or choice"

const char *const compat_efforts[] = {
    "none", "minimal", "off", "low", "medium", "high", "xhigh", "max", NULL,
};
static const char *const kinds[] = {
    "enabled", "disabled", "adaptive", "auto", NULL,
};
static const char *const forms[] = {
    "auto",     "tags", "none",            "raw",  "reasoning_content",
    "deepseek", "parsed", "both", "deepseek-legacy", NULL,
};
static const char *const answers[] = {
    "text", "json_object", "json_schema", NULL,
};
static const char *const texts[] = {"text", NULL};

static const struct compat_field fields[] = {
    {"messages", {H, 0}, OWN("a list with a user message; text content, tool "
                             "calls and results"), NULL},
    {"prompt", {0, H}, OWN("a string, a list of strings, token ids, or a list "
                           "of lists of them"), NULL},
    {"model", {H, H}, IS(TYPE_STR), "the default model"},
    {"stream", {H, H}, IS(TYPE_BOOL), "false"},
    {"stream_options", {H, H}, IS(TYPE_OBJ), NULL},
    {"stream_options.include_usage", {H, H}, IS(TYPE_BOOL),
     "usage-default of the server"},
    {"stream_options.include_obfuscation", {N, N}, ANYTHING, NULL},
    {"max_tokens", {H, H}, INT(1, HUGE_VAL),
     "default-max-tokens of the server"},
    {"max_completion_tokens", {H, X}, INT(1, HUGE_VAL),
     "max_tokens; both with different values are refused"},
    {"stop", {H, H}, OWN("a string or a list of at most 16 strings; empty "
                         "ones are ignored"), NULL},
    {"temperature", {H, H}, NUM(0, 2), "1"},
    {"top_p", {H, H}, ABOVE(0, 1), "1"},
    {"top_k", {X, X}, INT(0, HUGE_VAL), "0 (off)"},
    {"min_p", {X, X}, NUM(0, 1), "0 (off)"},
    {"seed", {H, H}, TYPE_INT, -HUGE_VAL, HUGE_VAL, false, NULL, 0,
     "an integer from -2^63 to 2^63 - 1", "a new one per request"},
    {"n", {H, H}, INT(1, 16), "1; with stream only 1"},
    {"presence_penalty", {H, H}, NUM(-2, 2), "0"},
    {"frequency_penalty", {H, H}, NUM(-2, 2), "0"},
    {"repetition_penalty", {X, X}, ABOVE(0, 100), "1 (off)"},
    {"no_repeat_ngram_size", {X, X}, TYPE_INT, 0, 64, false, NULL, 0,
     "0 or an integer from 2 to 64; it acts while reasoning is open",
     "0 (off)"},
    {"logit_bias", {H, H}, OWN("an object of at most 1024 token ids with "
                               "numbers from -100 to 100"), "{}"},
    {"draft_temperature", {X, X}, NUM(0, 2),
     "temperature; without a drafter it changes nothing"},
    {"logprobs", {H, 0}, IS(TYPE_BOOL), "false"},
    {"logprobs", {0, H}, INT(0, 5), "no log-probabilities"},
    {"top_logprobs", {H, 0}, INT(0, 20),
     "0; more only with logprobs true"},
    {"reasoning_effort", {H, 0}, EFFORT, "thinking of the server"},
    {"thinking_effort", {X, 0}, EFFORT, NULL},
    {"reasoning_format", {X, 0}, WORD(forms),
     "reasoning-format of the server"},
    {"max_reasoning_tokens", {X, 0}, BUDGET, NO_CAP},
    {"thinking_budget", {X, 0}, BUDGET, NO_CAP},
    {"thinking_token_budget", {X, 0}, BUDGET, NO_CAP},
    {"thinking", {X, 0}, IS(TYPE_BOOL | TYPE_OBJ), NULL},
    {"thinking.type", {X, 0}, WORD(kinds), NULL},
    {"thinking.budget_tokens", {X, 0}, BUDGET, NO_CAP},
    {"reasoning", {X, 0}, IS(TYPE_OBJ), NULL},
    {"reasoning.enabled", {X, 0}, IS(TYPE_BOOL), NULL},
    {"reasoning.max_tokens", {X, 0}, BUDGET, NO_CAP},
    {"reasoning.effort", {X, 0}, EFFORT, NULL},
    {"enable_thinking", {X, 0}, IS(TYPE_BOOL), NULL},
    {"chat_template_kwargs", {X, 0}, IS(TYPE_OBJ), NULL},
    {"chat_template_kwargs.enable_thinking", {X, 0}, IS(TYPE_BOOL), NULL},
    {"chat_template_kwargs.thinking_budget", {X, 0}, BUDGET, NO_CAP},
    {"chat_template_kwargs.reasoning_effort", {X, 0}, EFFORT, NULL},
    {"reasoning_budget", {X, 0}, BUDGET, NO_CAP},
    {"reasoning_budget_tokens", {X, 0}, BUDGET, NO_CAP},
    {"generation_config", {X, 0}, IS(TYPE_OBJ), NULL},
    {"generation_config.thinking_config", {X, 0}, IS(TYPE_OBJ), NULL},
    {"generation_config.thinking_config.thinking_budget", {X, 0}, BUDGET,
     NO_CAP},
    {"extra_body", {X, 0}, IS(TYPE_OBJ), NULL},
    {"extra_body.google", {X, 0}, IS(TYPE_OBJ), NULL},
    {"extra_body.google.thinking_config", {X, 0}, IS(TYPE_OBJ), NULL},
    {"extra_body.google.thinking_config.thinking_budget", {X, 0}, BUDGET,
     NO_CAP},
    {"think", {X, 0}, TYPE_BOOL | TYPE_WORD, 0, 0, false, compat_efforts, 0,
     NULL, NULL},
    {"add_generation_prompt", {X, 0}, IS(TYPE_BOOL),
     "true; a request that opens no turn is not answered"},
    {"response_format", {H, H}, IS(TYPE_OBJ), "text"},
    {"response_format.type", {H, 0}, WORD(answers), NULL},
    {"response_format.type", {0, H}, WORD(texts), NULL},
    {"response_format.json_schema", {H, 0}, IS(TYPE_OBJ), NULL},
    {"response_format.json_schema.name", {H, 0}, IS(TYPE_STR), NULL},
    {"response_format.json_schema.schema", {H, 0}, IS(TYPE_OBJ), NULL},
    {"response_format.json_schema.strict", {H, 0}, IS(TYPE_BOOL), "false"},
    {"structured_outputs", {X, X}, IS(TYPE_OBJ), NULL},
    {"structured_outputs.choice", {X, X},
     OWN("a list of at most 256 strings: the answer is one of them"), NULL},
    {"structured_outputs.regex", {X, X}, IS(TYPE_STR), NULL},
    {"structured_outputs.json", {X, X}, IS(TYPE_OBJ), NULL},
    {"structured_outputs.json_object", {X, X}, IS(TYPE_BOOL), "false"},
    {"structured_outputs.grammar", {R, R}, NOT(0, INSTEAD), NULL},
    {"structured_outputs.structural_tag", {R, R}, NOT(0, INSTEAD), NULL},
    {"modalities", {R, 0},
     NOT(OK_TEXT_LIST, "this server answers with text"), "[\"text\"]"},
    {"tools", {H, 0},
     OWN("a list of at most 128 functions, 256 KiB in all; those that are "
         "strict by OpenAI's rules"), NULL},
    {"tool_choice", {H, 0},
     OWN("none, auto, required or the name of a function"), "auto"},
    {"parallel_tool_calls", {H, 0}, IS(TYPE_BOOL), "true"},
    {"functions", {R, 0}, NOT(OK_EMPTY, "use tools"), NULL},
    {"function_call", {R, 0}, NOT(OK_AUTO, "use tool_choice"), NULL},
    {"audio", {R, 0}, NOT(0, "this server answers with text"), NULL},
    {"web_search_options", {R, 0}, NOT(0, "this server does not search"),
     NULL},
    {"moderation", {R, 0}, NOT(0, "this server judges no content"), NULL},
    {"verbosity", {R, 0}, NOT(0, "ask for it in the prompt"), NULL},
    {"best_of", {0, H}, TYPE_INT, 1, 16, false, NULL, 0,
     "1, or the value of n", "1"},
    {"echo", {0, R}, NOT(OK_FALSE, "the prompt is not sent back"), "false"},
    {"suffix", {0, R}, NOT(OK_EMPTY, "insertion is not in this version"),
     NULL},
    {"user", {N, N}, ANYTHING, NULL},
    {"metadata", {N, 0}, ANYTHING, NULL},
    {"store", {N, 0}, ANYTHING, NULL},
    {"service_tier", {N, 0}, ANYTHING, NULL},
    {"prompt_cache_key", {N, 0}, ANYTHING, NULL},
    {"prompt_cache_retention", {N, 0}, ANYTHING, NULL},
    {"prompt_cache_options", {N, 0}, ANYTHING, NULL},
    {"safety_identifier", {N, 0}, ANYTHING, NULL},
    {"prediction", {N, 0}, ANYTHING, NULL},
};

const struct compat_field *compat_fields(size_t *n)
{
    *n = sizeof(fields) / sizeof(fields[0]);
    return fields;
}
