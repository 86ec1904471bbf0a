/*
 * api/reason.h - how reasoning reaches a client: apart, in tags, or both
 * (internal to api).
 *
 * A string state machine between the reply and the wire, the same for streams
 * and whole answers. `tags` writes the block as the model's own form has it:
 *
 *   <think>\n REASONING \n</think>\n\n ANSWER
 *
 * with nothing at all when there was no reasoning, and without the closing
 * part when it never closed. Sources: spec tandem.md 8 and checks 55-59, seed
 * 000 14.2 and 14.5.
 */
#ifndef API_REASON_H
#define API_REASON_H

#include "api/body.h"
#include "base/buf.h"

#define REASON_KINDS_MAX 16

/* Which form a kind of client (api/who.h) gets that names none. */
struct reason_map {
    struct {
        char kind[16];          /* "*": every kind not named */
        enum reason_form form;
    } of[REASON_KINDS_MAX];
    size_t n;
};

/* The setting reasoning-format: FORM, or a list of KIND=FORM with commas
 * between; FORM is tags, reasoning_content or both. */
#define REASON_MAP_DEFAULT "*=reasoning_content,hermes=tags"
enum st reason_map_parse(struct reason_map *out, const char *s,
                         struct err *e) MUST_CHECK;

/* What one request gets: its own word, else reasoning_content when the answer
 * is JSON (its client parses `content` whole), else the map's. */
enum reason_form reason_form_of(const struct body *b,
                                const struct reason_map *m, const char *kind);

struct reason {
    enum reason_form form;
    bool expected;    /* thinking is on: without any text at all the tags still
                       * show the opener */
    bool blank_line;  /* streams of REASON_FIELD: an empty line ends the
                       * reasoning in content, for clients that time it */
    bool silent;      /* nothing was fed yet */
    bool opened, closed; /* the block in content */
};

/* `form` and the rest, before anything is fed. */
void reason_init(struct reason *r, enum reason_form form, bool expected,
                 bool blank_line);

/* Is reasoning a part of what `content` carries? */
bool reason_in_content(const struct reason *r);

/* Was a thought the last that came? */
bool reason_open(const struct reason *r);

/*
 * What the reply gave since the last call: `thought`, then `said`; `closed`
 * (reply_closed_reasoning) is about the state after both. Appends to the two
 * outputs what the client gets in its fields.
 */
void reason_feed(struct reason *r, struct text thought, struct text said,
                 bool closed, struct buf *reasoning, struct buf *content);
/* The reply is over, and has no calls. */
void reason_end(struct reason *r, struct buf *content);

#endif
