#include "chat/jsonscan.h"

enum want {
    WANT_VALUE,
    WANT_FIRST_VALUE, /* or the end of an array */
    WANT_KEY,
    WANT_FIRST_KEY,   /* or the end of an object */
    WANT_COLON,
    WANT_COMMA,       /* or the end: a value is over */
    WANT_SCALAR,      /* more of a number or word */
};

void jsonscan_init(struct jsonscan *s)
{
    *s = (struct jsonscan){.want = WANT_VALUE};
}

size_t jsonscan_plain(const struct jsonscan *s, const char *p, size_t n)
{
    size_t i = 0;

    if (!s->in_string || s->escaped)
        return 0;
    while (i < n && p[i] != '"' && p[i] != '\\' && (unsigned char)p[i] >= 0x20)
        i++;
    return i;
}

static enum js_event in_string(struct jsonscan *s, char c)
{
    if ((unsigned char)c < 0x20)
        return JS_BAD;
    if (s->escaped) {
        s->escaped = false;
        return JS_MORE;
    }
    s->escaped = c == '\\';
    if (c != '"')
        return JS_MORE;
    s->in_string = false;
    s->want = s->key ? WANT_COLON : WANT_COMMA;
    return JS_STRING_END;
}

static enum js_event begin_string(struct jsonscan *s, bool key)
{
    s->in_string = true;
    s->key = key;
    return JS_STRING;
}

static bool is_scalar(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == 'E' ||
           c == '-' || c == '+' || c == '.';
}

static enum js_event begin_value(struct jsonscan *s, char c)
{
    if (c == '"')
        return begin_string(s, false);
    if (c == '{' || c == '[') {
        if (s->depth == JSON_DEPTH_MAX)
            return JS_BAD;
        s->array[s->depth++] = c == '[';
        s->want = c == '[' ? WANT_FIRST_VALUE : WANT_FIRST_KEY;
        return JS_OPEN;
    }
    s->want = WANT_SCALAR;
    return is_scalar(c) ? JS_MORE : JS_BAD;
}

static enum js_event end_container(struct jsonscan *s, char c)
{
    if (!s->depth || c != (s->array[s->depth - 1] ? ']' : '}'))
        return JS_BAD;
    s->depth--;
    s->want = WANT_COMMA;
    return JS_CLOSE;
}

enum js_event jsonscan_byte(struct jsonscan *s, char c)
{
    if (s->in_string)
        return in_string(s, c);
    if (s->want == WANT_SCALAR) {
        if (is_scalar(c))
            return JS_MORE;
        s->want = WANT_COMMA;
    }
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r')
        return JS_MORE;
    switch (s->want) {
    case WANT_FIRST_VALUE:
        return c == ']' ? end_container(s, c) : begin_value(s, c);
    case WANT_VALUE:
        return begin_value(s, c);
    case WANT_FIRST_KEY:
    case WANT_KEY:
        if (c == '"')
            return begin_string(s, true);
        return s->want == WANT_FIRST_KEY ? end_container(s, c) : JS_BAD;
    case WANT_COLON:
        s->want = WANT_VALUE;
        return c == ':' ? JS_MORE : JS_BAD;
    case WANT_COMMA:
        if (c != ',' || !s->depth)
            return end_container(s, c);
        s->want = jsonscan_in_object(s) ? WANT_KEY : WANT_VALUE;
        return JS_MORE;
    }
    return JS_BAD;
}

void jsonscan_until(struct jsonscan *s, const char *p, size_t n, char c,
                    size_t *at)
{
    while (*at < n) {
        if (p[*at] == c && !s->in_string)
            return;
        if (!s->bad && jsonscan_byte(s, p[*at]) == JS_BAD) {
            s->bad = true;
            s->in_string = false;
        }
        ++*at;
    }
}
