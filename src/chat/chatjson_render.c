#include "chat/chatjson.h"

/* What the opened turn says about reasoning. */
static void add_think(const struct format *f, enum think_mode mode,
                      struct segments *out, bool *open)
{
    const struct chatjson *c = f->data;

    if (!f->caps.think)
        return;
    if (mode == THINK_DEFAULT)
        mode = c->think_default;
    if (mode == THINK_ON)
        add_markup(out, f->think[0]);
    else if (mode == THINK_OFF)
        add_markup(out, c->think_off);
    *open = mode == THINK_ON;
}

enum st chatjson_render(const struct format *f, const struct chat_req *r,
                        struct segments *out, bool *think_open, struct err *e)
{
    const struct chatjson *c = f->data;
    size_t current = format_current_turn(r);

    *think_open = false;
    add_markup(out, c->prelude);
    for (size_t i = 0; i < r->n_messages; i++) {
        const struct chat_msg *m = &r->messages[i];
        char where[48];

        if (m->role >= ROLE_TOOL || !c->turns[m->role].known) {
            snprintf(where, sizeof(where), "messages[%zu].role", m->sent_i);
            return err_set(e, ST_INVALID, where,
                           "this model's chat format has no such turn");
        }
        add_markup(out, c->turns[m->role].prefix);
        if (m->reasoning.n && c->think_history && i >= current) {
            add_markup(out, f->think[0]);
            add_text(out, m->reasoning);
            add_markup(out, f->think[1]);
        }
        add_text(out, m->content);
        add_markup(out, c->turns[m->role].suffix);
    }
    if (r->no_prompt)
        return ST_OK;
    add_markup(out, c->open);
    add_think(f, r->think, out, think_open);
    return ST_OK;
}
