/*
 * api/hold.h - the bytes that a request holds up here, in the accounts
 * (internal to api). What it holds in an engine is the engine's to count.
 *
 * While a body is read and understood, its declared length n (the cap, when
 * none was declared) stands for
 *
 *   HOLD_COPIES * n               the body while it grows (2), prompts as
 *                                 text (2) and as ids (4)
 *   HOLD_ARENA + HOLD_TREE * n    what parsing makes of it, at most the
 *                                 arena's own cap: an object of JSON is 80
 *                                 bytes and seldom under 4 of text. The
 *                                 arena's cap is set to this: a body of
 *                                 nothing but digits and commas meets it
 *
 * and is refused before it is read when that would pass the peak. Afterwards
 * a stream holds HOLD_STREAM, its grammar, as if nobody else had the same,
 * what its answer repeats of the request and calls its tools, and for each
 * choice its prompt's ids and as many events as it may make; with the text of
 * their log-probabilities where that is kept to the end (LOGPROBS_ITEM), and
 * HOLD_TEXT bytes each where the text is (emit.ordered): some 4 bytes a token,
 * in a buffer that grows by doubling (t/bench/dialects). What the last events
 * repeat of it is there only while it is written.
 */
#ifndef API_HOLD_H
#define API_HOLD_H

#include "api/exchange.h"

#define HOLD_COPIES 8
#define HOLD_ARENA ((size_t)1 << 20)
#define HOLD_TREE 24
#define HOLD_STREAM ((size_t)32 << 10)
#define HOLD_TEXT 8

/* Before the body. cap: bytes that may be read. ST_NOMEM, with figures. */
enum st hold_body(struct exchange *x, uint64_t cap, struct err *e) MUST_CHECK;
/* Before n more bytes of JSON are parsed, of earlier requests: n times the same
 * as for a body, until that is gone. ST_NOMEM, with figures. */
enum st hold_past(struct exchange *x, size_t n, struct err *e) MUST_CHECK;
/* n bytes of an answer that is no generation's, until the exchange ends.
 * ST_NOMEM, with figures. */
enum st hold_answer(struct exchange *x, size_t n, struct err *e) MUST_CHECK;
/* The jobs are made and not submitted. ST_NOMEM, with figures. */
enum st hold_jobs(struct exchange *x, struct err *e) MUST_CHECK;
/* The body is gone; what its jobs hold stays. */
void hold_drop_body(struct exchange *x);
void hold_drop_all(struct exchange *x);

#endif
