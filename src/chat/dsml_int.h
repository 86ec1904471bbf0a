/*
 * chat/dsml_int.h - tokens of DSML, and what its prompt's two files share.
 *
 * The bars are U+FF5C and the low blocks U+2581, not their ASCII look-alikes.
 */
#ifndef CHAT_DSML_INT_H
#define CHAT_DSML_INT_H

#include "chat/format_int.h"

#define DSML_BAR "\xef\xbd\x9c"
#define DSML_LOW "\xe2\x96\x81"
#define DSML_NAMED(name) "<" DSML_BAR name DSML_BAR ">"

#define DSML_TAG DSML_BAR "DSML" DSML_BAR
#define DSML_BOS DSML_NAMED("begin" DSML_LOW "of" DSML_LOW "sentence")
#define DSML_EOS DSML_NAMED("end" DSML_LOW "of" DSML_LOW "sentence")
#define DSML_USER DSML_NAMED("User")
#define DSML_ASSISTANT DSML_NAMED("Assistant")
#define DSML_SYSTEM DSML_NAMED("System")
#define DSML_THINK "<think>"
#define DSML_THINK_END "</think>"
extern const struct text dsml_image;

/* One prompt on its way. */
struct dsml {
    struct segments *out;
    const struct chat_req *r;
    const struct chat_msg *msgs; /* [r->n_messages] results in order */
    bool think;                  /* the reasoning channel is used */
    bool keep;                   /* on every turn: tools are declared */
    size_t turn;                 /* messages from here belong to the last
                                  * turn: what follows the last user message,
                                  * or system message in the conversation */
    struct err *e;
};

/* Text of a caller, from the request's `field`: refused when it holds the
 * image token. */
enum st dsml_caller(struct dsml *d, const char *field, struct text t)
    MUST_CHECK;
/* The same for what was written into `b`, which is released. */
enum st dsml_caller_buf(struct dsml *d, const char *field, struct buf *b)
    MUST_CHECK;

/* chat/dsml_msgs.c: the conversation after the head. */
enum st dsml_messages(struct dsml *d, size_t from) MUST_CHECK;
/* The text of a system message. */
enum st dsml_system(struct dsml *d, const struct chat_msg *m) MUST_CHECK;
/* What opens an assistant's turn. */
void dsml_open_turn(struct dsml *d, bool think);

#endif
