/* Every way to ask for reasoning, or for none. */
#include "api/body_int.h"

/* Keeps what is there when the field is absent. A word (or a number) is kept
 * for formats that have efforts of their own. */
static enum st effort_of(struct body_parse *p, const char *key)
{
    static const char *const off[] = {"none", "minimal", "off"};
    static const char *const on[] = {"low", "medium", "high", "xhigh", "max"};
    const struct json *v = body_get(p->root, key);
    struct chat_req *r = &p->out->chat;

    if (!v)
        return ST_OK;
    r->effort = (struct text){NULL, 0};
    r->effort_n = -1;
    for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
        if (json_is(v, off[i])) {
            r->think = THINK_OFF;
            return ST_OK;
        }
    r->think = THINK_ON;
    for (size_t i = 0; i < sizeof(on) / sizeof(on[0]); i++)
        if (json_is(v, on[i])) {
            r->effort = v->str;
            return ST_OK;
        }
    if (v->type == JSON_NUM && v->is_int && v->i >= 0 && v->i <= INT32_MAX) {
        r->effort_n = (int32_t)v->i;
        return ST_OK;
    }
    return err_set(p->e, ST_INVALID, key,
                   "accepted is none, minimal, off, low, medium, high, xhigh, "
                   "max or a whole number");
}

static void flag_of(const struct json *v, enum think_mode *mode)
{
    if (v)
        *mode = v->boolean ? THINK_ON : THINK_OFF;
}

/*
 * Every shape is checked; when several are there, the later of this order
 * decides: thinking_effort, reasoning_effort, thinking, enable_thinking,
 * chat_template_kwargs. A plain yes or no says more than a word.
 */
enum st body_think(struct body_parse *p)
{
    struct chat_req *r = &p->out->chat;
    const struct json *kw = body_get(p->root, "chat_template_kwargs");
    const struct json *v;
    enum st st;

    r->think = THINK_DEFAULT;
    st = effort_of(p, "thinking_effort");
    if (!st)
        st = effort_of(p, "reasoning_effort");
    if (st)
        return st;
    flag_of(body_get(p->root, "thinking"), &r->think);
    flag_of(body_get(p->root, "enable_thinking"), &r->think);
    if (!kw)
        return ST_OK;
    if (kw->type != JSON_OBJ)
        return err_set(p->e, ST_INVALID, "chat_template_kwargs",
                       "must be an object, not %s", json_type_name(kw));
    v = body_get(kw, "enable_thinking");
    if (v && v->type != JSON_BOOL)
        return err_set(p->e, ST_INVALID,
                       "chat_template_kwargs.enable_thinking",
                       "must be true or false, not %s", json_type_name(v));
    flag_of(v, &r->think);
    r->kwargs = kw;
    return ST_OK;
}
