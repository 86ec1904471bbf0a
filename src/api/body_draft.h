/*
 * api/body_draft.h - chat messages put together piece by piece, for bodies
 * whose messages are lists of blocks (internal to api).
 *
 * A draft is the message that is being written. Its texts follow each other
 * directly but where a gap was asked for, its thoughts do always. Everything
 * lives in the request's arena; texts are borrowed from the tree.
 */
#ifndef API_BODY_DRAFT_H
#define API_BODY_DRAFT_H

#include "api/body_int.h"

struct draft_texts {
    struct chat_part *of; /* [n] */
    size_t n, cap;
};

struct draft {
    struct arena *a;
    struct chat_msg *list;  /* [n] the messages that are finished */
    size_t n, cap;
    struct chat_msg m;      /* the one being written, while `open` */
    size_t i;               /* where its newest piece was sent */
    bool open;
    bool gap;               /* an empty line before the next text */
    bool image;             /* it has one: its parts are kept */
    struct draft_texts said, thought;
    struct chat_call *calls; /* [n_calls] of it */
    size_t n_calls, cap_calls;
    bool failed;            /* sticks: the arena is full */
};

void draft_init(struct draft *d, struct arena *a);
/*
 * From here on the message is one of `role`. A user's or an assistant's that
 * is open already goes on: neighbours are one turn, as Anthropic's reference
 * has it. Else a new one begins, sent as messages[i].
 */
void draft_begin(struct draft *d, enum chat_role role, size_t i);
/* The next text of the open message stands behind an empty line. */
void draft_gap(struct draft *d);
void draft_text(struct draft *d, struct text t);
void draft_image(struct draft *d);
void draft_thought(struct draft *d, struct text t);
void draft_call(struct draft *d, const struct chat_call *call);
/* The open message, if any, goes to the list. */
void draft_end(struct draft *d);

#endif
