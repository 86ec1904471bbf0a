/*
 * api/answer.h - heads and short answers (internal to api).
 */
#ifndef API_ANSWER_H
#define API_ANSWER_H

#include "api/exchange.h"
#include "json/write.h"

#define JSON_TYPE "application/json"

/*
 * Append a complete head to `out`: Status with its reason, CORS, request id,
 * content type (NULL: none), length (< 0: none), `more` (whole lines or
 * NULL), the empty line.
 */
void answer_head(const struct exchange *x, struct buf *out, int status,
                 const char *type, int64_t length, const char *more);
/* x->body is complete: make x->head and x->status. */
void answer_body(struct exchange *x, int status, const char *type,
                 const char *more);
/* The same with JSON that ends here; 503 with Retry-After. */
void answer_written(struct exchange *x, struct jw *w, int status);
/* The error object in this route's style, with its status and headers. */
void answer_error(struct exchange *x, const struct err *e);
/* OPTIONS: 204 with what this route allows; to a page whose origin may read
 * our answers also in the words of a preflight. */
void answer_options(struct exchange *x);

#endif
