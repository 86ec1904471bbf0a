/*
 * chat/textreply.h - a reply that comes as text, without token ids.
 *
 * For hosts that send no ids (workers, files): markers count by their
 * spelling (chat/scan.h), so a model that wrote a marker as ordinary text is
 * taken at its word. Where somebody knows better, pieces are fed as plain
 * text or as exactly one marker. No stop strings, no vocabulary. Text comes
 * in whole characters, cut anywhere.
 */
#ifndef CHAT_TEXTREPLY_H
#define CHAT_TEXTREPLY_H

#include "chat/turn.h"

struct textreply; /* opaque */

/* Copies `c` (what it borrows stays borrowed). NULL when out of memory. */
struct textreply *textreply_new(const struct turn_config *c) MUST_CHECK;
void textreply_free(struct textreply *r); /* NULL ok */

/* All append to `reasoning`, `content` and the calls. */
void textreply_feed(struct textreply *r, const char *s, size_t n,
                    struct buf *reasoning, struct buf *content);
/* Nothing in s[0..n) is a marker. */
void textreply_plain(struct textreply *r, const char *s, size_t n,
                     struct buf *reasoning, struct buf *content);
/* s[0..n) is one whole marker, else it is plain text. */
void textreply_token(struct textreply *r, const char *s, size_t n,
                     struct buf *reasoning, struct buf *content);
/* `ended`: the model ended its turn (not a limit, a cut or an error). */
void textreply_end(struct textreply *r, bool ended, struct buf *reasoning,
                   struct buf *content);

/* The form's own end came: nothing further is read. */
bool textreply_over(const struct textreply *r);
const struct calls *textreply_calls(const struct textreply *r);

#endif
