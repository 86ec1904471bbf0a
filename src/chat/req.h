/*
 * chat/req.h - a validated chat or completion request: data only.
 *
 * Made by api/body, immutable afterwards; everything lives in the request's
 * arena. This is what a prompt builder and (later) a hub see.
 */
#ifndef CHAT_REQ_H
#define CHAT_REQ_H

#include "base/mem.h"

enum chat_role { ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL };

struct chat_msg {
    enum chat_role role;        /* "developer" arrives as ROLE_SYSTEM */
    struct text content;        /* text parts joined; n = 0 when absent */
    struct text reasoning;      /* assistant's reasoning_content, history */
};

enum think_mode { THINK_DEFAULT, THINK_ON, THINK_OFF };

struct chat_req {
    const struct chat_msg *messages;
    size_t n_messages;
    enum think_mode think;
};

#endif
