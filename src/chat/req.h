/*
 * chat/req.h - a validated chat or completion request: data only.
 *
 * Made by api/body, immutable afterwards; everything lives in the request's
 * arena. This is what a prompt builder and (later) a hub see. Every text in
 * it was written by a caller: none of it may become structure.
 */
#ifndef CHAT_REQ_H
#define CHAT_REQ_H

#include "json/read.h"

enum chat_role { ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL };

enum part_type { PART_TEXT, PART_IMAGE };

struct chat_part {
    enum part_type type;
    struct text text;           /* PART_TEXT */
    int32_t width, height;      /* PART_IMAGE: pixels; 0: nobody has looked */
};

/* One call of an assistant's message in the history. */
struct chat_call {
    struct text id;             /* n = 0: none was sent */
    struct text name;           /* never empty */
    struct text raw;            /* arguments when they were sent as a string
                                 * that is not a JSON object: as sent */
    const struct json *args;    /* an object; NULL: none, or see raw */
    struct text sent;           /* arguments sent as a string: as sent */
};

#define SENT_BEFORE SIZE_MAX

struct chat_msg {
    enum chat_role role;        /* "developer" arrives as ROLE_SYSTEM */
    bool has_content;           /* the key is there and not null */
    struct text content;        /* text parts joined; n = 0 when absent */
    const struct chat_part *parts; /* [n_parts]; NULL: content was no list */
    size_t n_parts;
    struct text reasoning;      /* assistant: reasoning_content or reasoning */
    struct text name;           /* n = 0: none */
    const struct chat_call *calls; /* [n_calls] assistant */
    size_t n_calls;
    struct text call_id;        /* tool: which call it answers; n = 0: none */
    struct text tool;           /* tool: the key "tool", a name; n = 0: none */
    const struct json *tools;   /* system: tools that are added here (a list,
                                 * not empty); NULL: none */
    size_t sent_i;              /* its index in the request, for errors;
                                 * SENT_BEFORE: it is not in that list */
};

struct chat_tool {
    struct text name;           /* never empty */
    const struct json *item;    /* the whole item of `tools` */
    const struct json *function;/* its function object */
    const struct json *params;  /* an object; NULL: none */
    /* Where tools are not chat's: */
    const char *sent_in;        /* the list that it was sent in, for errors;
                                 * static, or in the arena */
    size_t sent_i;              /* its index there */
    struct text own;            /* what its caller calls it: `name` is that,
                                 * or joined with its namespace */
    struct text space;          /* its namespace; n = 0: none */
    bool custom;                /* it takes a text: params have one string,
                                 * `input` */
};

enum think_mode { THINK_DEFAULT, THINK_ON, THINK_OFF };
enum tool_choice { TOOLS_AUTO, TOOLS_NONE, TOOLS_REQUIRED, TOOLS_NAMED };
enum answer_form { FORM_TEXT, FORM_JSON_OBJECT, FORM_JSON_SCHEMA };

struct chat_req {
    const struct chat_msg *messages;
    size_t n_messages;
    enum think_mode think;
    struct text effort;         /* the word of reasoning_effort that is no off
                                 * form; n = 0: none */
    int32_t effort_n;           /* an effort given as a number 0..INT32_MAX;
                                 * -1: none */
    const struct json *tools;   /* the list as sent; NULL: none or empty */
    const struct chat_tool *tool_list; /* [n_tools] the same, read */
    size_t n_tools;
    enum tool_choice tool_choice;
    struct text tool_named;     /* TOOLS_NAMED: the function */
    bool parallel_calls;        /* parallel_tool_calls; true by default */
    bool parallel_asked;        /* it was sent, and is true */
    enum answer_form form;      /* response_format */
    const struct json *schema;  /* FORM_JSON_SCHEMA: the schema; may be NULL */
    const struct json *kwargs;  /* chat_template_kwargs, an object; or NULL */
    bool no_prompt;             /* add_generation_prompt is false: the
                                 * conversation alone, no opened turn */
};

#endif
