#include "chat/callread.h"

void callread_init(struct callread *r)
{
    *r = (struct callread){.base = 1};
    jsonscan_init(&r->js);
}

static enum cr_member member_of(const char *s, size_t n)
{
    static const struct {
        const char *key;
        enum cr_member member;
    } keys[] = {
        {"name", CR_M_NAME},   {"arguments", CR_M_ARGS},
        {"id", CR_M_ID},       {"parameters", CR_M_ARGS},
        {"type", CR_M_KNOWN},  {"function", CR_M_KNOWN},
    };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (span_is((struct span){s, n}, keys[i].key))
            return keys[i].member;
    return CR_M_OTHER;
}

static enum cr_event opened(struct callread *r, size_t pos)
{
    if (r->js.depth == 1)
        r->base = r->js.array[0] ? 2 : 1;
    if (r->js.depth == r->base) {
        r->item_at = pos - 1;
        r->member = CR_M_OTHER;
        r->has_name = r->has_id = false;
    }
    return r->js.depth == r->base + 1 && jsonscan_in_object(&r->js) &&
                   r->member == CR_M_ARGS
               ? CR_ARGS
               : CR_MORE;
}

static enum cr_event string_over(struct callread *r, const char *s, size_t n)
{
    bool plain = !memchr(s, '\\', n);

    if (r->js.depth != r->base || r->js.array[r->base - 1])
        return CR_MORE;
    if (r->js.key) {
        r->member = member_of(s, n);
        return r->member == CR_M_OTHER ? CR_KEY : CR_MORE;
    }
    if (r->member == CR_M_NAME) {
        r->has_name = plain && n;
        r->name_at = r->string_at;
        r->name_n = n;
        return CR_NAME;
    }
    if (r->member == CR_M_ID) {
        r->has_id = plain && n;
        r->id_at = r->string_at;
        r->id_n = n;
        return CR_ID;
    }
    return CR_MORE;
}

static enum cr_event on_event(struct callread *r, enum js_event e,
                              const char *s, size_t pos)
{
    switch (e) {
    case JS_OPEN:
        return opened(r, pos);
    case JS_CLOSE:
        if (!r->js.depth)
            return CR_END;
        return r->base == 2 && r->js.depth == 1 ? CR_ITEM : CR_MORE;
    case JS_STRING:
        r->string_at = pos;
        break;
    case JS_STRING_END:
        return string_over(r, s + r->string_at, pos - 1 - r->string_at);
    case JS_BAD:
        return CR_BAD;
    case JS_MORE:
        break;
    }
    /* a call is an object or a list: no value without a container */
    return r->js.depth ? CR_MORE : CR_BAD;
}

enum cr_event callread_step(struct callread *r, const char *s, size_t n,
                            size_t *pos)
{
    while (*pos < n) {
        char c;
        enum cr_event e;

        *pos += jsonscan_plain(&r->js, s + *pos, n - *pos);
        if (*pos == n)
            break;
        c = s[(*pos)++];
        if (!r->js.depth && (c == ' ' || c == '\n' || c == '\t' || c == '\r'))
            continue;
        if (r->js.depth == 1 && r->js.array[0] && !strchr(" \n\t\r,{]", c))
            return CR_BAD; /* an item that is no object */
        e = on_event(r, jsonscan_byte(&r->js, c), s, *pos);
        if (e)
            return e;
    }
    return CR_MORE;
}
