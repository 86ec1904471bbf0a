/* The fields of messages and count_tokens: every one that Anthropic's own
 * package declares, of its beta interface too, and what Claude Code sends. */
#include "api/compat_rows.h"

#define FOR(use) {[WIRE_MESSAGES] = use}

static const char *const choices[] = {"auto", "any", "tool", "none", NULL};
static const char *const kinds[] = {"enabled", "disabled", "adaptive", NULL};
static const char *const displays[] = {"summarized", "omitted", NULL};
static const char *const efforts[] = {
    "low", "medium", "high", "xhigh", "max", NULL,
};
static const char *const forms[] = {"json_schema", NULL};

static const struct compat_field fields[] = {
    {"model", FOR(H), IS(TYPE_STR), "the default model"},
    {"messages", FOR(H), OWN("a list with a user message, the last one no "
                             "assistant's; a string or blocks each"), NULL},
    {"system", FOR(H), OWN("a string or a list of text blocks"), NULL},
    {"max_tokens", FOR(H), INT(1, HUGE_VAL),
     "must be sent; count_tokens needs none"},
    {"stream", FOR(H), IS(TYPE_BOOL), "false"},
    {"stop_sequences", FOR(H), OWN("a list of at most 16 strings; empty ones "
                                   "are ignored"), NULL},
    {"temperature", FOR(H), NUM(0, 1), "1"},
    {"top_p", FOR(H), ABOVE(0, 1), "1"},
    {"top_k", FOR(H), INT(0, HUGE_VAL), "0 (off)"},
    OUR_SAMPLING(FOR(X)),
    {"tools", FOR(H), OWN("a list; at most 128 functions, 256 KiB in all; "
                          "those of other types than custom are left out"),
     NULL},
    {"tool_choice", FOR(H), IS(TYPE_OBJ), "auto"},
    {"tool_choice.type", FOR(H), WORD(choices), NULL},
    {"tool_choice.name", FOR(H), IS(TYPE_STR), NULL},
    {"tool_choice.disable_parallel_tool_use", FOR(H), IS(TYPE_BOOL), "false"},
    {"thinking", FOR(H), IS(TYPE_OBJ),
     "no reasoning, unless the model always does"},
    {"thinking.type", FOR(H), WORD(kinds), NULL},
    {"thinking.budget_tokens", FOR(H), INT(1, 2147483648.0), NO_CAP},
    {"thinking.display", FOR(H), WORD(displays), "summarized"},
    {"output_config", FOR(H), IS(TYPE_OBJ), NULL},
    {"output_config.effort", FOR(H), WORD(efforts), NO_CAP},
    {"output_config.format", FOR(H), IS(TYPE_OBJ), "text"},
    {"output_config.format.type", FOR(H), WORD(forms), NULL},
    {"output_config.format.schema", FOR(H), IS(TYPE_OBJ), NULL},
    {"output_config.task_budget", FOR(R),
     NOT(0, "this server keeps no count across requests"), NULL},
    {"output_format", FOR(H), IS(TYPE_OBJ), "output_config.format"},
    {"output_format.type", FOR(H), WORD(forms), NULL},
    {"output_format.schema", FOR(H), IS(TYPE_OBJ), NULL},
    {"container", FOR(R), NOT(OK_EMPTY, "this server runs no code"), NULL},
    {"mcp_servers", FOR(R),
     NOT(OK_EMPTY, "this server calls no tools itself"), NULL},
    {"compaction", FOR(R), NOT(0, "this server sums nothing up"), NULL},
    {"thread", FOR(R), NOT(0, "send the whole conversation"), NULL},
    {"metadata", FOR(N), ANYTHING, NULL},
    {"metadata.user_id", FOR(N), ANYTHING, NULL},
    {"cache_control", FOR(N), ANYTHING, NULL},
    {"context_management", FOR(N), ANYTHING, NULL},
    {"service_tier", FOR(N), ANYTHING, NULL},
    {"speed", FOR(N), ANYTHING, NULL},
    {"inference_geo", FOR(N), ANYTHING, NULL},
    {"diagnostics", FOR(N), ANYTHING, NULL},
    {"billing_policy", FOR(N), ANYTHING, NULL},
    {"fallback_credit_token", FOR(N), ANYTHING, NULL},
    {"fallbacks", FOR(N), ANYTHING, NULL},
    {"betas", FOR(N), ANYTHING, NULL},
    {"user_profile_id", FOR(N), ANYTHING, NULL},
    {"workspace_id", FOR(N), ANYTHING, NULL},
};

const struct compat_table compat_messages = {
    fields, sizeof(fields) / sizeof(fields[0]),
};
