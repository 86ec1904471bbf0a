/*
 * chat/format.h - how one model wants a conversation written.
 *
 * A format is data (chat.json, spec waste.md section 3). Nothing compares a
 * model's name: the format comes from an explicit file, a chat.json beside
 * the model, or is recognised by the special tokens of the vocabulary.
 * Threads: immutable after load.
 */
#ifndef CHAT_FORMAT_H
#define CHAT_FORMAT_H

#include "chat/req.h"
#include "chat/segment.h"

struct format; /* opaque */

/* What a format can say; read by validation and by replies. */
struct format_caps {
    bool system;        /* has a system turn */
    bool think;         /* has a reasoning channel */
    bool think_forced;  /* always opens it: THINK_OFF is refused */
};

/*
 * Parse a chat.json text. Every marker in it must be one token of `t`; the
 * keys are listed in docs/decisions/0002.
 *   name  for messages
 *   t     NULL: no vocabulary; markers are not checked and all ids are -1
 * Errors: ST_FORMAT naming the key, and what is accepted.
 */
enum st format_parse(struct format **out, const char *json, size_t n,
                     const char *name, const struct tok *t, struct err *e)
    MUST_CHECK;

/*
 * Find the format of a model: `explicit_path` when not NULL, else a
 * chat.json beside `model_path`, else the built-in ChatML data when the
 * vocabulary has <|im_start|> and <|im_end|> (with its reasoning channel when
 * it has <think> and </think>).
 * Errors: ST_UNSUPPORTED with each reason, when there is none.
 */
enum st format_find(struct format **out, const char *explicit_path,
                    const char *model_path, const struct tok *t,
                    struct err *e) MUST_CHECK;
void format_free(struct format *f);

const struct format_caps *format_caps(const struct format *f);
const char *format_source(const struct format *f); /* for the start line */

/*
 * The prompt of a request, up to and including the opening of the
 * assistant's turn.
 *   think_open  set when the prompt already opened the reasoning channel
 * Errors: ST_INVALID with the field (messages[i].role, thinking, ...).
 */
enum st format_render(const struct format *f, const struct chat_req *r,
                      struct segments *out, bool *think_open, struct err *e)
    MUST_CHECK;

/* Ids that end the model's turn (the format's stop marker). [*n] */
const int32_t *format_stop_ids(const struct format *f, size_t *n);
/* Ids that open and close reasoning, -1 without a channel. */
int32_t format_think_open_id(const struct format *f);
int32_t format_think_close_id(const struct format *f);

#endif
