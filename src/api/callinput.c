#include "api/callinput.h"

#include "base/ascii.h"
#include "base/utf8.h"

#define NO_CHARACTER 0xfffd

/* --- how they begin ------------------------------------------------------- */

enum begins { BEGINS_CUT, BEGINS_OTHER, BEGINS_SO };

/* White space, and then `want`. */
static enum begins skip(struct text t, const char *want, size_t *i)
{
    while (*i < t.n && json_space(t.s[*i]))
        ++*i;
    for (; *want; want++, ++*i) {
        if (*i == t.n)
            return BEGINS_CUT;
        if (t.s[*i] != *want)
            return BEGINS_OTHER;
    }
    return BEGINS_SO;
}

/* Sets the state as soon as it is clear, and `at` where the string begins. */
static void begin(struct call_input *c, struct text args)
{
    static const char *const want[] = {"{", "\"input\"", ":", "\"", NULL};
    enum begins begins = BEGINS_SO;
    size_t i = 0, end;

    for (size_t k = 0; want[k] && begins == BEGINS_SO; k++) {
        end = i;
        if (k == 1 && skip(args, "}", &end) == BEGINS_SO) {
            c->state = INPUT_DONE;
            return;
        }
        begins = skip(args, want[k], &i);
    }
    if (begins == BEGINS_OTHER)
        c->state = INPUT_AS_IS;
    if (begins != BEGINS_SO)
        return;
    c->state = INPUT_STRING;
    c->at = i;
}

/* --- the string ----------------------------------------------------------- */

enum escape { ESCAPE_CUT, ESCAPE_BAD, ESCAPE_GOOD };

/* \uXXXX at t.s[i]. */
static enum escape read_unit(struct text t, size_t i, uint32_t *unit)
{
    *unit = 0;
    if (i < t.n && t.s[i] != '\\')
        return ESCAPE_BAD;
    if (i + 1 < t.n && t.s[i + 1] != 'u')
        return ESCAPE_BAD;
    for (size_t k = i + 2; k < i + 6; k++) {
        int digit = k < t.n ? ascii_hex(t.s[k]) : 0;

        if (digit < 0)
            return ESCAPE_BAD;
        *unit = *unit * 16 + (uint32_t)digit;
    }
    return i + 6 <= t.n ? ESCAPE_GOOD : ESCAPE_CUT;
}

static size_t put_character(struct buf *out, uint32_t cp, size_t used)
{
    char s[4];

    buf_add(out, s, utf8_encode(cp, s));
    return used;
}

/* The same with its other half, where it has one. Returns the bytes that it
 * took; 0: there may come more of it. */
static size_t read_unicode(struct text t, size_t i, struct buf *out)
{
    uint32_t high, low;
    enum escape first = read_unit(t, i, &high), second;

    if (first == ESCAPE_CUT)
        return 0;
    if (first == ESCAPE_BAD) {
        buf_putc(out, '\\');
        return 1;
    }
    if (high < 0xd800 || high > 0xdfff)
        return put_character(out, high, 6);
    if (high > 0xdbff)
        return put_character(out, NO_CHARACTER, 6);
    second = read_unit(t, i + 6, &low);
    if (second == ESCAPE_CUT)
        return 0;
    if (second == ESCAPE_BAD || low < 0xdc00 || low > 0xdfff)
        return put_character(out, NO_CHARACTER, 6);
    return put_character(out, 0x10000 + ((high - 0xd800) << 10) +
                                  (low - 0xdc00), 12);
}

static size_t read_escape(struct text t, size_t i, struct buf *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *known;

    if (i + 1 >= t.n)
        return 0;
    if (t.s[i + 1] == 'u')
        return read_unicode(t, i, out);
    known = t.s[i + 1] ? strchr(from, t.s[i + 1]) : NULL;
    buf_putc(out, known ? to[known - from] : '\\');
    return known ? 2 : 1;
}

static void read_string(struct call_input *c, struct text t, struct buf *out)
{
    while (c->at < t.n) {
        size_t i = c->at, used;

        while (i < t.n && t.s[i] != '"' && t.s[i] != '\\')
            i++;
        buf_add(out, t.s + c->at, i - c->at);
        c->at = i;
        if (i == t.n)
            return;
        if (t.s[i] == '"') {
            c->state = INPUT_DONE;
            return;
        }
        used = read_escape(t, i, out);
        if (!used)
            return;
        c->at += used;
    }
}

void call_input_read(struct call_input *c, struct text args, bool over,
                     struct buf *out)
{
    args.n = utf8_complete_len(args.s, args.n);
    if (c->state == INPUT_OPEN)
        begin(c, args);
    if (c->state == INPUT_OPEN && over)
        c->state = INPUT_AS_IS;
    if (c->state == INPUT_STRING)
        read_string(c, args, out);
    if (c->state == INPUT_AS_IS) {
        buf_add(out, args.s + c->at, args.n - c->at);
        c->at = args.n;
    }
}
