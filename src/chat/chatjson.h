/*
 * chat/chatjson.h - a format that is a chat.json file (internal; spec
 * waste.md section 3, docs/decisions/0002).
 */
#ifndef CHAT_CHATJSON_H
#define CHAT_CHATJSON_H

#include "chat/format_int.h"

struct turn {
    bool known;
    struct text prefix, suffix; /* markup */
};

struct chatjson {
    struct turn turns[ROLE_TOOL]; /* by enum chat_role */
    struct text open;           /* hands the floor to the model */
    struct text prelude;        /* n = 0: none */
    struct text think_off;      /* n = 0: reasoning cannot be off */
    enum think_mode think_default; /* THINK_DEFAULT: the model decides */
    bool think_history;         /* reasoning of the current turn goes back */
};

/* chat/chatjson_render.c */
enum st chatjson_render(const struct format *f, const struct chat_req *r,
                        struct segments *out, bool *think_open,
                        struct err *e) MUST_CHECK;

#endif
