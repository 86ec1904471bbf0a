/*
 * chat/xtml_int.h - what the two files of the XTML prompt share.
 */
#ifndef CHAT_XTML_INT_H
#define CHAT_XTML_INT_H

#include "chat/format_int.h"

/* One prompt on its way. */
struct xtml {
    struct segments *out;
    const struct chat_req *r;
    const struct chat_msg *msgs; /* [r->n_messages] results in order */
    bool think;                  /* the reasoning channel is used */
    bool sized;                  /* images carry their sizes */
    struct err *e;
};

/* <|open|>TAG */
void xtml_open(struct xtml *x, struct text tag);
/* ` key="value"`, four segments; `key` begins with its space. */
void xtml_attr(struct xtml *x, struct text key, struct text value);
/* <|sep|> */
void xtml_sep(struct xtml *x);
/* <|close|>TAG<|sep|> */
void xtml_close(struct xtml *x, struct text tag);
/* <|close|>message<|sep|><|end_of_msg|> */
void xtml_close_message(struct xtml *x);
/*
 * Text, as the model maker's tokenizer takes it: in slices of 400,000
 * characters, and no run of white space or of other characters in them longer
 * than 25,000. Each piece is a segment.
 */
void xtml_text(struct xtml *x, struct text t);
/* What was written into `b`, which is released. */
void xtml_buf(struct xtml *x, struct buf *b);

/* chat/xtml_msgs.c: the conversation. */
enum st xtml_messages(struct xtml *x) MUST_CHECK;
/* A system message that declares tools. */
void xtml_tools(struct xtml *x, const struct json *tools, bool late);

#endif
