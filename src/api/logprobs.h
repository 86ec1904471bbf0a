/*
 * api/logprobs.h - log-probabilities of one choice, from its ring to the wire
 * (internal to api).
 *
 * An entry belongs to a token of what `content` carries: the answer and its
 * calls, and the reasoning too when it is written there. It is decided once
 * some of its text is out. One whose whole text a stop string took, or the
 * end of the answer inside a character, never is: the joined bytes of all
 * entries are the text that the client got, but for bytes that are no
 * character, the space that SentencePiece puts before a text, and the marks
 * and blank lines around reasoning. A token of a call is decided when nothing
 * waits. End tokens have no entry.
 *
 * Values are natural logarithms; what could not come (-inf) is -9999. A token
 * that is no whole number of characters is written "bytes:\xe6\xbc", as
 * OpenAI does: its bytes, those that are ASCII as they are; never U+FFFD.
 * Sources: spec tandem.md section 4, OpenAI's reference.
 */
#ifndef API_LOGPROBS_H
#define API_LOGPROBS_H

#include "chat/reply.h"
#include "gen/ring.h"
#include "json/write.h"
#include "text/tok.h"

#define LOGPROBS_TAKE 32 /* ids of one take */

enum logprobs_shape {
    LOGPROBS_CHAT, /* {content: [{token, logprob, bytes, top_logprobs}],
                    * refusal: null} */
    LOGPROBS_TEXT, /* {tokens, token_logprobs, top_logprobs, text_offset}:
                    * alternatives as an object each, the chosen one always
                    * among them (so one more than asked for, and that one
                    * when 0 were); offsets are characters of the text */
    LOGPROBS_ITEM, /* entries as chat's, of tokens that gave text: none of
                    * calls. All are kept, as text, and may be told of in
                    * ranges as often as needed (logprobs_range) */
};

struct logprobs_config {
    const struct tok *tok;    /* borrowed */
    enum logprobs_shape shape;
    int32_t top;              /* alternatives to tell */
    bool reasoning;           /* is it a part of content? */
    bool whole;               /* told once, at the end: JSON answers. Entries
                               * become text as they are decided, so that the
                               * end of a long answer is no long work. Not of
                               * LOGPROBS_ITEM */
    size_t max_tokens;        /* of the job */
};

struct logprobs; /* opaque */

/* Of the ring of a job: what job_new needs to tell `top` of them. */
int32_t logprobs_of_job(int32_t top);
/* NULL when out of memory. */
struct logprobs *logprobs_new(const struct logprobs_config *c) MUST_CHECK;
void logprobs_free(struct logprobs *l); /* NULL ok */

/* ring_take of at most LOGPROBS_TAKE ids that keeps what came with them. */
size_t logprobs_take(struct logprobs *l, struct ring *ring, int32_t *ids);
/* Before the i-th id of this take is fed to `r`, and after it. */
void logprobs_before(struct logprobs *l, const struct reply *r);
void logprobs_after(struct logprobs *l, const struct reply *r, size_t i,
                    int32_t id);
/* After reply_end: what is still open is decided or dropped. */
void logprobs_end(struct logprobs *l, const struct reply *r);

/* Are there decided entries that were not told? */
bool logprobs_news(const struct logprobs *l);
/* The value of the member "logprobs": those entries, which are told then;
 * once only when `whole`. */
void logprobs_write(struct logprobs *l, struct jw *w);

/* --- LOGPROBS_ITEM ------------------------------------------------------- */

/* How many decided entries are of tokens whose text began before this byte of
 * what the reply gave (reasoning and content, as reply_told counts). */
size_t logprobs_before_byte(const struct logprobs *l, size_t at);
enum logprobs_form {
    LOGPROBS_FULL,  /* as chat's */
    LOGPROBS_BRIEF, /* without bytes, which events do not declare */
    LOGPROBS_FORMS,
};
/* Those from `from` to before `to`, as a list. */
void logprobs_range(const struct logprobs *l, struct jw *w,
                    enum logprobs_form form, size_t from, size_t to);
/* The most bytes that what is kept should take, for the accounts; 0 for the
 * other shapes. */
size_t logprobs_kept(const struct logprobs *l);

#endif
