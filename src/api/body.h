/*
 * api/body.h - JSON body to a typed request; the first error names its field.
 *
 * The rules per field are the table of api/compat_fields.c: honoured, accepted
 * without effect by its own definition, or refused by name; fields that are
 * not OpenAI's pass. JSON ends here.
 */
#ifndef API_BODY_H
#define API_BODY_H

#include "chat/req.h"
#include "gen/gen.h"

#define STOPS_MAX 16
#define STOP_BYTES_MAX 4096 /* of one stop string */
#define PROMPTS_MAX 16 /* prompts x n of one completion request; a streamed
                        * one has one prompt */
#define TOOLS_MAX 128               /* of a request */
#define TOOL_BYTES_MAX (256 * 1024) /* of their compact JSON */
#define CHOICES_MAX 256              /* strings of structured_outputs.choice */
#define CHOICE_BYTES_MAX (256 * 1024) /* of all of them */
#define BIAS_MAX 1024                 /* entries of logit_bias */
#define TOP_LOGPROBS_MAX 20
#define SKIPPED_MAX 256             /* bytes of body.skipped */
#define TOOL_NAME_MAX 256           /* bytes */
#define SCHEMA_NESTING_MAX 10       /* levels below the root of a schema */

struct prompt { /* one entry of a completion's prompt */
    struct text text;       /* used when ids is NULL */
    const int32_t *ids;     /* [n_ids] or NULL */
    size_t n_ids;
};

/* How reasoning reaches the client (spec tandem.md 14.2, 8). */
enum reason_form {
    REASON_DEFAULT, /* not asked: the server's, by client */
    REASON_TAGS,    /* in content, between <think> and </think> */
    REASON_FIELD,   /* in reasoning_content, apart */
    REASON_BOTH,
};

/* structured_outputs: what the whole answer is. */
enum structured {
    STRUCTURED_NONE,
    STRUCTURED_CHOICE,
    STRUCTURED_REGEX,
    STRUCTURED_JSON,   /* of a schema */
    STRUCTURED_OBJECT, /* any JSON object */
};

/*
 * How much a client lets the model think; on or off is chat.think. The shapes
 * and their order: body_think.c; a number beats a word, and an off form leaves
 * `asked` false and no effort, whatever else was there.
 */
struct think_ask {
    bool asked;      /* a number or a word was there: the answer gets its
                      * reserve */
    int64_t cap;     /* the number that decides, up to 2^31: 0: no cap; -1:
                      * none sent */
    int64_t word_cap;/* of the effort word (chat.effort), for formats without
                      * efforts of their own; 0: no cap */
    bool soft;         /* on or off is only said by default, or where the
                        * model can: one that always reasons does, and one
                        * that cannot does not */
    bool hidden;       /* messages: the client gets no text of it, but a seal
                        * (seal.h) */
    const char *field; /* the field that said on, off or how much, to name it
                        * when the chat format cannot (it only knows
                        * reasoning_effort); static; NULL: none did */
};

struct body { /* everything in the arena */
    struct text model;              /* n = 0: absent or empty */
    struct text task;               /* metadata.task; n = 0: none */
    struct chat_req chat;           /* chat only */
    const struct prompt *prompts;   /* completions only: [n_prompts] >= 1 */
    size_t n_prompts;
    bool prompt_list;               /* they were in a list: errors name
                                     * prompt[i] */
    bool stream;
    enum { USAGE_DEFAULT, USAGE_YES, USAGE_NO } include_usage;
    int32_t max_tokens;             /* 0: not given; at most 2^24 */
    bool seed_given;
    struct sampling sampling;       /* seed 0 when not given */
    const struct text *stops;       /* [n_stops], non-empty strings */
    size_t n_stops;
    int32_t n;                      /* choices, 1..16; stream with n > 1 is
                                     * refused naming `n` */
    const struct chat_tool *offered; /* [n_offered] tools that a call may
                                     * name, those of system messages too;
                                     * none with tool_choice none */
    size_t n_offered;
    bool strict_calls;              /* the model may call or not, and all of
                                     * them are strict functions */
    const char *form_field;         /* what asked for chat.form; static; NULL:
                                     * response_format */
    const char *schema_field;       /* FORM_JSON_SCHEMA: where it is; static;
                                     * NULL: response_format.json_schema.schema
                                     */
    bool strict;                    /* of the schema's form */
    struct text schema_name;        /* n = 0: none was sent */
    enum structured structured;     /* with chat.form FORM_TEXT only */
    const struct text *choice;      /* [n_choice] STRUCTURED_CHOICE: the answer
                                     * is one of these, distinct, none empty */
    size_t n_choice;
    struct text regex;              /* STRUCTURED_REGEX */
    const struct json *json;        /* STRUCTURED_JSON: an object, a schema */
    struct think_ask think;         /* chat only */
    enum reason_form reasoning_format; /* chat only */
    const struct bias *bias;        /* [n_bias] logit_bias: ids ascending and
                                     * distinct, no zeros. The vocabulary's
                                     * size is not known here: admission
                                     * refuses bias[n_bias - 1].id >= size
                                     * naming logit_bias */
    size_t n_bias;
    char skipped[SKIPPED_MAX];      /* types of tools that were left out, see
                                     * body_int.h; "": none */
    char image[96];                 /* the field of the first image part; "":
                                     * there is none */
    const char *list;               /* what the caller calls chat.messages,
                                     * where theirs differ from them: errors
                                     * of the chat format end at list[i];
                                     * static; NULL: messages, as they are */
    const char *before;             /* with `list`: what the caller calls what
                                     * stands before it (SENT_BEFORE);
                                     * static */
    const char *tool_params;        /* tools are no chat's, and this is what
                                     * the caller calls their schemas; static;
                                     * NULL: they are */
    int32_t no_repeat_ngram;        /* 0: off; 2..64 */
    bool logprobs;                  /* asked, also with no alternatives */
    int32_t top_logprobs;           /* alternatives to tell; 0..20, of a
                                     * completion 0..5 */
    const struct json *root;        /* the body's object, of the members that
                                     * its table has: for answers that repeat
                                     * some */

    /* of /v1/responses alone */
    struct text previous;           /* previous_response_id; n = 0: none */
    enum { STORE_DEFAULT, STORE_YES, STORE_NO } store;
    const struct json *input;       /* a list: the items of this request, a
                                     * string as the message that it stands
                                     * for, references resolved; neither the
                                     * instructions nor what came before */
    bool sealed;                    /* reasoning items carry a seal (seal.h) */
};

/*
 * What was stored of earlier answers, as items like those of `input`. NULL for
 * one of them: nothing is stored here.
 * Errors: ST_NOT_FOUND for what is unknown, foreign or expired; others as they
 * are.
 */
struct body_past {
    void *arg;
    /* All that a response continues and its own output: a list, oldest
     * first. */
    enum st (*chain)(void *arg, struct arena *a, struct text id,
                     const struct json **items, struct err *e);
    /* One item of an earlier answer. */
    enum st (*item)(void *arg, struct arena *a, struct text id,
                    const struct json **item, struct err *e);
};

/*
 * Errors: ST_INVALID with `where` = the exact field
 * (messages[2].content[0].type), "" when the body itself is the fault;
 * ST_LIMIT. No message quotes a value.
 */
enum st body_parse_chat(struct body *out, struct arena *a, struct text json,
                        struct err *e) MUST_CHECK;
enum st body_parse_completion(struct body *out, struct arena *a,
                              struct text json, struct err *e) MUST_CHECK;
/* /v1/responses; `past` NULL: nothing is stored here, and who asks for it
 * gets ST_INVALID. */
enum st body_parse_items(struct body *out, struct arena *a, struct text json,
                         const struct body_past *past, struct err *e)
    MUST_CHECK;
enum st body_parse_blocks(struct body *out, struct arena *a,
                          struct text json, struct err *e) MUST_CHECK;
                                                  /* /v1/messages */
enum st body_parse_count(struct body *out, struct arena *a, struct text json,
                         struct err *e) MUST_CHECK;
                                     /* /v1/messages/count_tokens */
/* Is the answer, where it is no call, one of JSON? */
bool body_wants_json(const struct body *b);

#endif
