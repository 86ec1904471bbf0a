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
/* ST_INVALID at `where` when a schema nests more than SCHEMA_NESTING_MAX
 * levels below its root. */
enum st body_schema_levels(struct body_parse *p, const struct json *schema,
                           const char *where) MUST_CHECK;
/* body_shape.c: the shape that the answer must have. */
enum st body_format(struct body_parse *p) MUST_CHECK;
enum st body_structured(struct body_parse *p) MUST_CHECK;
/* body_think.c: every way to ask for reasoning; compat_check has been there. */
void body_think(struct body_parse *p);
/* body_bias.c: logit_bias. */
enum st body_bias(struct body_parse *p) MUST_CHECK;
/* body_prompt.c: `prompt` into out->prompts. */
enum st body_prompts(struct body_parse *p) MUST_CHECK;

#endif
