/*
 * api/body_int.h - what the files of the body parser share.
 */
#ifndef API_BODY_INT_H
#define API_BODY_INT_H

#include "api/body.h"
#include "api/compat.h"
#include "json/read.h"

/* One body on its way from JSON to struct body. */
struct body_parse {
    struct body *out;
    struct arena *a;
    const struct json *root; /* an object */
    struct chat_tool *tools; /* [TOOLS_MAX] in the arena; NULL: none yet */
    size_t n_tools;          /* of the whole request */
    size_t tool_bytes;       /* their compact JSON */
    struct err *e;
};

/* Every parser begins so: `out` is empty, p->root the body's object with the
 * members that the wire's table knows. */
enum st body_open(struct body_parse *p, struct body *out, struct arena *a,
                  enum compat_wire wire, struct text json, struct err *e)
    MUST_CHECK;
/* A member that is there and not null; NULL otherwise. */
const struct json *body_get(const struct json *o, const char *key);
/* A row's whole number that compat_check has accepted. */
int64_t body_int(const struct body_parse *p, const char *name, int64_t dflt);
/* ST_LIMIT: the arena of the request is full. */
enum st body_full(struct err *e);
/* ST_INVALID at messages[i]<field>; `field` is "" or begins with a dot. */
enum st body_bad_msg(struct body_parse *p, size_t i, const char *field,
                     const char *text);

/*
 * body_tree.c: JSON in the arena, member by member. `failed` sticks; look at
 * it once at the end.
 */
struct body_tree {
    struct json *v;     /* an object or a list; NULL when failed */
    struct json **link; /* where the next child goes */
    bool failed;
};

void body_tree(struct body_parse *p, struct body_tree *t, enum json_type type);
/* A copy of v, its children shared; NULL: nothing is put. `key` is a literal;
 * NULL in a list. */
void body_put(struct body_parse *p, struct body_tree *t, const char *key,
              const struct json *v);
void body_put_text(struct body_parse *p, struct body_tree *t, const char *key,
                   struct text text);
void body_put_word(struct body_parse *p, struct body_tree *t, const char *key,
                   const char *word); /* a literal */

/* body.c: the fields that go by one name everywhere, where the table of the
 * wire has them; compat_check has been there. */
void body_sampling(struct body_parse *p);
void body_model(struct body_parse *p); /* and metadata.task */
/* A limit of tokens, as struct body has it; 0: absent. */
int32_t body_tokens(const struct body_parse *p, const char *field);
/* Stop strings: a string or a list of them, at p->root's `field`. */
enum st body_stops(struct body_parse *p, const char *field) MUST_CHECK;
/* body_msgs.c: list[0..n) becomes out->chat's: leading system messages are
 * merged, and somebody must have asked something (else ST_INVALID at `field`).
 * Where a system message may stand, the chat format knows. */
enum st body_list(struct body_parse *p, struct chat_msg *list, size_t n,
                  const char *field) MUST_CHECK;
/* There is an image part, whose type is at `where`: until vision exists, that
 * is refused (api/prompts.c). */
void body_image(struct body_parse *p, const char *where);
/* body_history.c: arguments that are a string. OpenAI's way is one that holds
 * JSON; what a model wrote need not. */
void body_arguments(struct body_parse *p, struct text s,
                    struct chat_call *out);
/* body_shape.c: FORM_JSON_SCHEMA. The values' types are checked, or NULL where
 * absent; `where` is the schema's field. The caller sets form_field and
 * schema_field. */
enum st body_schema_form(struct body_parse *p, const struct json *schema,
                         const struct json *name, const struct json *strict,
                         const char *where) MUST_CHECK;

/* body_msgs.c: `messages` into out->chat. */
enum st body_messages(struct body_parse *p) MUST_CHECK;
/* body_history.c: what only assistant and tool messages carry. */
enum st body_assistant(struct body_parse *p, const struct json *m, size_t i,
                       struct chat_msg *out) MUST_CHECK;
enum st body_tool_result(struct body_parse *p, const struct json *m, size_t i,
                         struct chat_msg *out) MUST_CHECK;
/* body_tools.c: one list of tools, at `where`, behind p->tools. */
enum st body_tool_list(struct body_parse *p, const struct json *list,
                       const char *where) MUST_CHECK;
/* body_tools.c: tools, tool_choice, parallel_tool_calls. */
enum st body_tools(struct body_parse *p) MUST_CHECK;
enum body_strict {
    STRICT_OPENAI, /* `strict` asks for OpenAI's rules of structure */
    STRICT_ANY,    /* it binds the calls to whatever the schema says */
};
/* A list of functions that are written another way than chat's. */
struct function_list {
    const char *where;  /* what it is called; static, or in the arena */
    const char *params; /* the key of their schemas; a literal */
    enum body_strict strict;
    size_t first;       /* p->n_tools where the list began: names before it
                         * may come again, and the later tool counts */
    struct text space;  /* the namespace of all of them; n = 0: none */
    bool custom;        /* see struct chat_tool */
};
/*
 * body_tools.c, one after the other: l->where[i] is the object `item` with the
 * members name, description, strict and l->params. Others are left out.
 * p->tools gets it in chat's shape. Errors name <where>[i].<member>.
 */
enum st body_function(struct body_parse *p, const struct json *item, size_t i,
                      const struct function_list *l) MUST_CHECK;
/* body_tools.c: how the model knows what its caller calls `own` in `space`:
 * both with "__" between, which a namespace that ends so brings itself. n = 0:
 * the arena is full. */
struct text body_joined(struct body_parse *p, struct text space,
                        struct text own);
/* body_tools.c: what is wrong with a name; NULL: nothing. */
const char *body_bad_name(const struct json *v);
/* Behind the last one: they are chat.tools. */
enum st body_functions_end(struct body_parse *p) MUST_CHECK;
/* OpenAI's words for a choice that names no function; absent is auto. False:
 * `v` is none of them. */
bool body_choice_word(const struct json *v, enum tool_choice *out);
/* body_tools.c: how the tools read so far may be chosen, and which are
 * offered; for every body, once. `name`: TOOLS_NAMED. Errors are at
 * tool_choice. */
enum st body_choice(struct body_parse *p, enum tool_choice kind,
                    struct text name) MUST_CHECK;
/* body_tools.c: a tool or item of this type is left out: out->skipped. What
 * is no plain word of at most 64 bytes is called `other`; each once, as many
 * as there is room for. */
void body_skip(struct body_parse *p, struct text type);
/* ST_INVALID at `where` when a schema nests more than SCHEMA_NESTING_MAX
 * levels below its root. */
enum st body_schema_levels(struct body_parse *p, const struct json *schema,
                           const char *where) MUST_CHECK;
/* body_shape.c: the shape that the answer must have. */
enum st body_format(struct body_parse *p) MUST_CHECK;
enum st body_structured(struct body_parse *p) MUST_CHECK;
/* body_think.c: every way to ask for reasoning; compat_check has been there. */
void body_think(struct body_parse *p);
/* body_think.c: the effort that a row says, a word of compat_efforts or a
 * number. */
void body_effort(struct body_parse *p, const char *field);
/* body_bias.c: logit_bias. */
enum st body_bias(struct body_parse *p) MUST_CHECK;
/* body_prompt.c: `prompt` into out->prompts. */
enum st body_prompts(struct body_parse *p) MUST_CHECK;

#endif
