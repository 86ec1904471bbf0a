/*
 * api/emit_responses.h - what a client of /v1/responses gets: one object, by
 * itself or inside the events of a stream (internal to api).
 *
 * Ids: the response is the request, "resp_" and 24 hex digits; its items are
 * rs_, msg_, fc_ and ctc_ with the same digits and two more for their place in
 * `output`. Pieces are items, one each, in the model's order. The judge of
 * every member: resources/responses/responses.d.ts of the npm package openai.
 */
#ifndef API_EMIT_RESPONSES_H
#define API_EMIT_RESPONSES_H

#include "api/wire.h"

struct run;
struct figures;

/*
 * The Response object as r is now, without a newline.
 *   f       NULL: neither usage nor timings (it goes on, or nothing is known)
 *   e       what went wrong, for the status failed; NULL otherwise
 *   status  in_progress, completed, incomplete, failed or cancelled; what is
 *           not over has no output yet
 * Also before r has jobs, and after they were dropped: then without output.
 * What does not fit into `out` fails it.
 */
void responses_object(const struct run *r, const struct figures *f,
                      const struct err *e, const char *status,
                      struct buf *out);

/* How a run whose choice is over ended. ST_CANCELLED is cancelled: whoever
 * asked for that is no client that left. */
const char *responses_status(const struct run *r, const struct err *e);

/*
 * wire.keep: what the object repeats of the request, into run.echo (members
 * of an object, defaults of OpenAI's reference where they are absent).
 * Errors: ST_LIMIT, ST_NOMEM.
 */
enum st responses_echo(struct exchange *x, const struct body *b,
                       struct err *e) MUST_CHECK;

#endif
