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

/*
 * The turn that asks for an effort. The level is one of our words, found by
 * its name: nothing of the caller's goes into markup. Without efforts of its
 * own a format with a channel leaves the word to thinking budgets.
 */
static enum st add_effort(const struct format *f, const struct chat_req *r,
                          struct segments *out, struct err *e)
{
    const struct chatjson *c = f->data;
    const char *const *words = f->caps.efforts;

    if (r->think == THINK_OFF || (!r->effort.n && r->effort_n <= 0))
        return ST_OK;
    if (!words && f->caps.think)
        return ST_OK;
    if (!words)
        return err_set(e, ST_INVALID, "reasoning_effort",
                       "the chat format in use has no efforts");
    for (size_t i = 0; i < CHATJSON_EFFORTS && r->effort.n; i++)
        if (text_is(r->effort, words[i])) {
            add_markup(out, c->efforts[i]);
            return ST_OK;
        }
    return err_set(e, ST_INVALID, "reasoning_effort",
                   "the chat format in use has efforts in words: low, "
                   "medium, high and max");
}

/* Parts are segments of their own, so that no two make a word together. */
void chatjson_content(const struct format *f, const struct chat_msg *m,
                      struct segments *out)
{
    const struct chatjson *c = f->data;

    if (!m->parts)
        add_text(out, m->content);
    for (size_t j = 0; m->parts && j < m->n_parts; j++) {
        if (m->parts[j].type == PART_IMAGE)
            add_markup(out, c->image);
        else
            add_text(out, m->parts[j].text);
    }
}

static enum st no_turn(const struct chat_msg *m, const char *text,
                       struct err *e)
{
    char where[48];

    snprintf(where, sizeof(where), "messages[%zu].role", m->sent_i);
    return err_set(e, ST_INVALID, where, "the chat format in use has no %s",
                   text);
}

static enum st add_result(const struct format *f, const struct chat_msg *list,
                          size_t i, struct segments *out, struct err *e)
{
    const struct chatjson *c = f->data;

    if (!c->tools)
        return no_turn(&list[i], "tools", e);
    if (c->tools->system_suffix && !c->turns[ROLE_SYSTEM].known)
        return no_turn(&list[i], "system turn, in which it would write the "
                                 "results of tools", e);
    return c->tools->result(f, list, i, out, e);
}

static enum st add_turn(const struct format *f, const struct chat_msg *m,
                        bool current, struct segments *out, struct err *e)
{
    const struct chatjson *c = f->data;
    const struct role_turn *t = &c->turns[m->role];

    if (!t->known)
        return no_turn(m, "such turn", e);
    add_markup(out, t->prefix);
    if (m->reasoning.n && c->think_history && current) {
        add_markup(out, f->think[0]);
        add_text(out, m->reasoning);
        add_markup(out, f->think[1]);
    }
    chatjson_content(f, m, out);
    if (m->n_calls) {
        enum st st;

        if (!c->tools || m->role != ROLE_ASSISTANT) {
            char where[48];

            snprintf(where, sizeof(where), "messages[%zu].tool_calls",
                     m->sent_i);
            return err_set(e, ST_INVALID, where,
                           "the chat format in use has no calls there");
        }
        st = c->tools->calls(m, out, e);
        if (st)
            return st;
    }
    add_markup(out, t->suffix);
    return ST_OK;
}

enum st chatjson_render(const struct format *f, const struct chat_req *r,
                        struct segments *out, bool *think_open, struct err *e)
{
    const struct chatjson *c = f->data;
    const struct chat_msg *list = r->messages;
    size_t current = format_current_turn(r);
    enum st st = format_sort_results(&list, r, out->arena, e);

    *think_open = false;
    if (st)
        return st;
    add_markup(out, c->prelude);
    if (c->tools && r->tools && r->tool_choice != TOOLS_NONE)
        st = c->tools->declare(r, out, e);
    if (!st)
        st = add_effort(f, r, out, e);
    for (size_t i = 0; i < r->n_messages && !st; i++)
        st = list[i].role == ROLE_TOOL
                 ? add_result(f, list, i, out, e)
                 : add_turn(f, &list[i], i >= current, out, e);
    if (st || r->no_prompt)
        return st;
    add_markup(out, c->open);
    add_think(f, r->think, out, think_open);
    return ST_OK;
}
