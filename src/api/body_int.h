/*
 * api/body_int.h - what the files of the body parser share.
 */
#ifndef API_BODY_INT_H
#define API_BODY_INT_H

#include "api/body.h"
#include "json/read.h"

/* One body on its way from JSON to struct body. */
struct body_parse {
    struct body *out;
    struct arena *a;
    const struct json *root; /* an object */
    struct err *e;
};

/* A member that is there and not null; NULL otherwise. */
const struct json *body_get(const struct json *o, const char *key);
/* ST_LIMIT: the arena of the request is full. */
enum st body_full(struct err *e);

/* body_msgs.c: `messages` into out->chat. */
enum st body_messages(struct body_parse *p) MUST_CHECK;
/* body_prompt.c: `prompt` into out->prompts. */
enum st body_prompts(struct body_parse *p) MUST_CHECK;

#endif
