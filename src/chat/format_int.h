/*
 * chat/format_int.h - a loaded format, for the files that read and render.
 */
#ifndef CHAT_FORMAT_INT_H
#define CHAT_FORMAT_INT_H

#include "chat/format.h"

struct turn {
    bool known;
    struct text prefix, suffix; /* markup */
};

struct format {
    struct arena arena;         /* owns every text below */
    char *source;
    struct format_caps caps;
    struct turn turns[ROLE_TOOL]; /* by enum chat_role */
    struct text open;           /* hands the floor to the model */
    struct text prelude;        /* n = 0: none */
    struct text think[2];       /* what opens and closes reasoning */
    struct text think_off;      /* n = 0: reasoning cannot be off */
    enum think_mode think_default; /* THINK_DEFAULT: the model decides */
    bool think_history;         /* reasoning of the current turn goes back */
    int32_t stop_id;            /* -1 without a vocabulary */
    int32_t think_id[2];        /* open, close; -1 without a channel */
};

#endif
