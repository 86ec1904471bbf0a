/*
 * api/error.h - the only table from status to HTTP code and JSON error.
 *
 *   {"error":{"message":...,"type":...,"param":...,"code":...}}
 * Four keys always; param and code may be null (settled.md). And as the clients
 * of /v1/messages read it, with their own types:
 *   {"type":"error","error":{"type":...,"message":...},"request_id":...}
 */
#ifndef API_ERROR_H
#define API_ERROR_H

#include "json/write.h"

struct api_error {
    int http;             /* 400 */
    const char *reason;   /* "Bad Request": never empty (fcgi.md section 1) */
    const char *type;     /* invalid_request_error */
    const char *code;     /* NULL: null */
    int retry_after;      /* seconds; 0: no header */
};

const struct api_error *api_error_of(enum st st);
/* The reason phrase of any status we send: those of the table, and 204. */
const char *http_reason(int status);
/* The member "message" of an open object: the field, where there is one, and
 * what was wrong. */
void api_error_message(struct jw *w, const struct err *e);
/* The member "error" of an open object: of an error answer, or of the last
 * chunk of a stream that failed. */
void api_error_member(struct jw *w, const struct err *e);
/* The JSON object of an error, without newline. */
void api_error_json(struct buf *out, const struct err *e);
/* The same of /v1/messages. */
void api_error_messages_json(struct buf *out, const struct err *e,
                             const char *request_id);

#endif
