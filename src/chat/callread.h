/*
 * chat/callread.h - calls written as JSON, recognised while they arrive.
 *
 * Follows an object {"name": .., "arguments": {..}} or a list of such, and
 * says when a name, an id or an arguments object has come. Offsets are into
 * the text that the caller keeps; it is not copied here.
 */
#ifndef CHAT_CALLREAD_H
#define CHAT_CALLREAD_H

#include "chat/jsonscan.h"

enum cr_event {
    CR_MORE, /* all of the text is read */
    CR_KEY,  /* a member that no call has */
    CR_NAME, /* name_at, name_n are set */
    CR_ID,
    CR_ARGS, /* the { of an arguments object was read: it is at *pos - 1 */
    CR_ITEM, /* one call of a list is over */
    CR_END,  /* the value is over */
    CR_BAD,  /* no JSON, or neither an object nor a list */
};

enum cr_member { CR_M_OTHER, CR_M_NAME, CR_M_ARGS, CR_M_ID, CR_M_KNOWN };

struct callread {
    struct jsonscan js;
    unsigned base;            /* depth inside one call: 1, in a list 2 */
    size_t string_at;
    size_t item_at;           /* where this call's { is */
    enum cr_member member;    /* of the call, the one being read */
    bool has_name, has_id;    /* of this call, as plain strings */
    size_t name_at, name_n;   /* without quotes; no escapes in it */
    size_t id_at, id_n;
};

void callread_init(struct callread *r);
/* Read s[*pos..n) up to the next event. */
enum cr_event callread_step(struct callread *r, const char *s, size_t n,
                            size_t *pos);

#endif
