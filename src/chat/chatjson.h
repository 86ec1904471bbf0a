/*
 * chat/chatjson.h - a format that is a chat.json file (internal; spec
 * waste.md section 3, docs/decisions/0002).
 */
#ifndef CHAT_CHATJSON_H
#define CHAT_CHATJSON_H

#include "chat/format_int.h"

#define CHATJSON_EFFORTS 4

/*
 * A native tool form that rides on a chat.json: what prefixes and suffixes
 * cannot say (spec waste.md section 4). It is used when every marker of its
 * dialect and of `frame` is a special token of the vocabulary, else not.
 * Its functions append segments; errors name the field.
 */
struct tool_form {
    const struct dialect *dialect;
    const char *const *frame;   /* more tokens that it writes; ends with NULL*/
    const char *hint;           /* without a vocabulary: a file whose strings
                                 * hold this means a model with this form */
    bool system_suffix;         /* results are written as system turns */
    /* Before the first message; r->tools is not NULL. */
    enum st (*declare)(const struct chat_req *r, struct segments *out,
                       struct err *e);
    /* The calls of an assistant's message, behind its content. */
    enum st (*calls)(const struct chat_msg *m, struct segments *out,
                     struct err *e);
    /* The tool message list[i] of the sorted list. */
    enum st (*result)(const struct format *f, const struct chat_msg *list,
                      size_t i, struct segments *out, struct err *e);
};

extern const struct tool_form tool_form_kimi; /* chat/kimi.c */
extern const struct tool_form tool_form_glm;  /* chat/glm.c */

struct role_turn {
    bool known;
    struct text prefix, suffix; /* markup */
};

struct chatjson {
    struct role_turn turns[ROLE_TOOL]; /* by enum chat_role */
    struct text open;           /* hands the floor to the model */
    struct text prelude;        /* n = 0: none */
    struct text image;          /* one image; n = 0: no place for images */
    struct text efforts[CHATJSON_EFFORTS]; /* as caps.efforts; n = 0: none */
    struct text think_off;      /* n = 0: reasoning cannot be off */
    enum think_mode think_default; /* THINK_DEFAULT: the model decides */
    bool think_history;         /* reasoning of the current turn goes back */
    const struct tool_form *tools; /* NULL: calls cannot be written */
};

/* chat/chatjson_render.c */
enum st chatjson_render(const struct format *f, const struct chat_req *r,
                        struct segments *out, bool *think_open,
                        struct err *e) MUST_CHECK;
/* What a message says: text parts, image blocks. */
void chatjson_content(const struct format *f, const struct chat_msg *m,
                      struct segments *out);

#endif
