/* The fields of responses, and of responses/input_tokens. Source: OpenAI's
 * reference, as its npm package declares it (ResponseCreateParamsBase). */
#include "api/compat_rows.h"

#define FOR(use) {[WIRE_RESPONSES] = use}
#define NO_JUDGE "this server judges no content"

static const char *const answers[] = {
    "text", "json_object", "json_schema", NULL,
};
static const char *const cuts[] = {"auto", "disabled", NULL};
static const char *const standard[] = {"standard", NULL};

static const struct compat_field fields[] = {
    {"model", FOR(H), IS(TYPE_STR), "the default model"},
    {"input", FOR(H), OWN("a string, or a list of items: messages, reasoning, "
                          "calls and their outputs; those of hosted tools are "
                          "skipped"), NULL},
    {"instructions", FOR(H), IS(TYPE_STR), NULL},
    {"previous_response_id", FOR(H), IS(TYPE_STR), NULL},
    {"store", FOR(H), IS(TYPE_BOOL),
     "true where the server keeps responses, else false"},
    {"stream", FOR(H), IS(TYPE_BOOL), "false"},
    {"stream_options", FOR(N), ANYTHING, NULL},
    {"max_output_tokens", FOR(H), INT(1, HUGE_VAL),
     "default-max-tokens of the server"},
    {"temperature", FOR(H), NUM(0, 2), "1"},
    {"top_p", FOR(H), ABOVE(0, 1), "1"},
    {"top_k", FOR(X), INT(0, HUGE_VAL), "0 (off)"},
    OUR_SAMPLING(FOR(X)),
    {"stop", FOR(X), OWN("a string or a list of at most 16 strings; empty "
                         "ones are ignored"), NULL},
    {"text", FOR(H), IS(TYPE_OBJ), NULL},
    {"text.format", FOR(H), IS(TYPE_OBJ), "text"},
    {"text.format.type", FOR(H), WORD(answers), NULL},
    {"text.format.name", FOR(H), IS(TYPE_STR), NULL},
    {"text.format.schema", FOR(H), IS(TYPE_OBJ), NULL},
    {"text.format.strict", FOR(H), IS(TYPE_BOOL), "false"},
    {"text.format.description", FOR(N), ANYTHING, NULL},
    {"text.verbosity", FOR(N), ANYTHING, NULL},
    {"reasoning", FOR(H), IS(TYPE_OBJ), NULL},
    {"reasoning.effort", FOR(H), EFFORT, "thinking of the server"},
    {"reasoning.summary", FOR(N), ANYTHING, NULL},
    {"reasoning.generate_summary", FOR(N), ANYTHING, NULL},
    {"reasoning.mode", FOR(H), WORD(standard), "standard"},
    {"reasoning.context", FOR(N), ANYTHING, NULL},
    {"reasoning.enabled", FOR(X), IS(TYPE_BOOL), NULL},
    {"reasoning.max_tokens", FOR(X), BUDGET, NO_CAP},
    {"max_reasoning_tokens", FOR(X), BUDGET, NO_CAP},
    {"enable_thinking", FOR(X), IS(TYPE_BOOL), NULL},
    {"chat_template_kwargs", FOR(X), IS(TYPE_OBJ), NULL},
    {"chat_template_kwargs.enable_thinking", FOR(X), IS(TYPE_BOOL), NULL},
    {"chat_template_kwargs.thinking_budget", FOR(X), BUDGET, NO_CAP},
    {"chat_template_kwargs.reasoning_effort", FOR(X), EFFORT, NULL},
    {"include", FOR(H), OWN("a list of the words of the reference; "
                            "reasoning.encrypted_content and "
                            "message.output_text.logprobs do something here"),
     NULL},
    {"top_logprobs", FOR(H), INT(0, 20),
     "0; they are told with include message.output_text.logprobs"},
    {"tools", FOR(H), OWN("a list with at most 128 functions and custom tools, "
                          "256 KiB in all, those of namespaces too; other "
                          "types are skipped"), NULL},
    {"tool_choice", FOR(H),
     OWN("none, auto, required, {\"type\":\"function\",\"name\":...}, the same "
         "of type custom, or an object of type allowed_tools"), "auto"},
    {"parallel_tool_calls", FOR(H), IS(TYPE_BOOL), "true"},
    {"metadata", FOR(H), OWN("an object of at most 16 strings"), NULL},
    {"truncation", FOR(H), WORD(cuts), "disabled; nothing is ever cut"},
    {"background", FOR(R), NOT(OK_FALSE, "an answer is waited for"), "false"},
    {"conversation", FOR(R), NOT(0, "use previous_response_id"), NULL},
    {"prompt", FOR(R), NOT(0, "no templates are kept here"), NULL},
    {"moderation", FOR(R), NOT(0, NO_JUDGE), NULL},
    {"personality", FOR(R), NOT(OK_EMPTY, "write it into instructions"),
     NULL},
    {"max_tool_calls", FOR(N), ANYTHING, NULL},
    {"context_management", FOR(N), ANYTHING, NULL},
    {"client_metadata", FOR(N), ANYTHING, NULL},
    {"access_programs", FOR(N), ANYTHING, NULL},
    {"background_options", FOR(N), ANYTHING, NULL},
    {"image", FOR(N), ANYTHING, NULL},
    {"user", FOR(N), ANYTHING, NULL},
    {"safety_identifier", FOR(N), ANYTHING, NULL},
    {"service_tier", FOR(N), ANYTHING, NULL},
    {"prompt_cache_key", FOR(N), ANYTHING, NULL},
    {"prompt_cache_retention", FOR(N), ANYTHING, NULL},
    {"prompt_cache_options", FOR(N), ANYTHING, NULL},
    {"prompt_cache_options.prewarm", FOR(R),
     NOT(OK_FALSE, "every request is answered"), "false"},
};

const struct compat_table compat_responses = {
    fields, sizeof(fields) / sizeof(fields[0]),
};
