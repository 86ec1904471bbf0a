/* Upper and lower case by simple mappings: Latin (basic, supplement,
 * extended A, additional), Greek, Cyrillic, Armenian, full width. Other
 * scripts and the mappings that depend on context stay as they are; one
 * letter has two capitals (sharp s). */
#include "chat/jinja_lib.h"

#include "base/utf8.h"
#include "text/uni.h"

/* Letters [from, to]: capital and small differ by `by`, or alternate when
 * `by` is 1 (capital first, at an even or odd number as `from` is). */
static const struct {
    uint32_t from, to, by; /* of the capitals */
} pairs[] = {
    {0x41, 0x5a, 32},      {0xc0, 0xd6, 32},      {0xd8, 0xde, 32},
    {0x100, 0x12e, 1},     {0x132, 0x136, 1},     {0x139, 0x147, 1},
    {0x14a, 0x176, 1},     {0x179, 0x17d, 1},     {0x386, 0x386, 38},
    {0x388, 0x38a, 37},    {0x38c, 0x38c, 64},    {0x38e, 0x38f, 63},
    {0x391, 0x3a1, 32},    {0x3a3, 0x3ab, 32},    {0x400, 0x40f, 80},
    {0x410, 0x42f, 32},    {0x460, 0x480, 1},     {0x48a, 0x4be, 1},
    {0x4c0, 0x4c0, 15},    {0x4c1, 0x4cd, 1},     {0x4d0, 0x52e, 1},
    {0x531, 0x556, 48},    {0x1e00, 0x1e94, 1},   {0x1ea0, 0x1efe, 1},
    {0xff21, 0xff3a, 32},
};
#define N_PAIRS (sizeof(pairs) / sizeof(pairs[0]))

static const struct {
    uint32_t lower, upper;
} odd_upper[] = {
    {0xb5, 0x39c}, {0xff, 0x178}, {0x131, 0x49}, {0x17f, 0x53},
    {0x3c2, 0x3a3}, {0x1e9b, 0x1e60},
};

uint32_t jchar_upper(uint32_t cp)
{
    for (size_t i = 0; i < sizeof(odd_upper) / sizeof(odd_upper[0]); i++)
        if (odd_upper[i].lower == cp)
            return odd_upper[i].upper;
    for (size_t i = 0; i < N_PAIRS; i++) {
        uint32_t by = pairs[i].by, up = cp - by;

        if (cp < by || up < pairs[i].from || up > pairs[i].to)
            continue;
        if (by != 1 || !((up - pairs[i].from) & 1))
            return up;
    }
    return cp;
}

uint32_t jchar_lower(uint32_t cp)
{
    if (cp == 0x178)
        return 0xff;
    if (cp == 0x1e9e)
        return 0xdf;
    for (size_t i = 0; i < N_PAIRS; i++) {
        if (cp < pairs[i].from || cp > pairs[i].to)
            continue;
        if (pairs[i].by != 1 || !((cp - pairs[i].from) & 1))
            return cp + pairs[i].by;
    }
    return cp;
}

bool jchar_space(uint32_t cp)
{
    if (cp < 0x80)
        return cp == ' ' || (cp >= 9 && cp <= 13) || (cp >= 28 && cp <= 31);
    return uni_class(cp) == UNI_SPACE;
}

bool jchar_breaks(uint32_t cp)
{
    return (cp >= 10 && cp <= 13) || (cp >= 28 && cp <= 30) || cp == 0x85 ||
           cp == 0x2028 || cp == 0x2029;
}

static bool cased(uint32_t cp)
{
    return jchar_upper(cp) != cp || jchar_lower(cp) != cp || cp == 0xdf;
}

/* --- strings -------------------------------------------------------------- */

static enum st put_char(struct jbuild *b, uint32_t cp, bool markup)
{
    char out[4];

    return jbuild_add(b, out, utf8_encode(cp, out), markup);
}

/* Of what a word of the title filter begins after. */
static bool splits_words(uint32_t cp)
{
    return jchar_space(cp) || (cp < 0x80 && cp && strchr("-({[<", (int)cp));
}

static enum st put_mapped(struct jbuild *b, const struct jv *v, size_t at,
                          size_t len, uint32_t cp, bool up, const char *ss)
{
    uint32_t to = up ? jchar_upper(cp) : jchar_lower(cp);

    if (up && cp == 0xdf)
        return jbuild_lit(b, ss, jv_markup_at(v, at));
    if (to == cp)
        return jbuild_part(b, v, at, len);
    return put_char(b, to, jv_markup_at(v, at));
}

enum st jcase_map(struct jx *x, const struct jv *str, enum jcase how,
                  struct jv *out)
{
    const char *s = str->u.str.s;
    size_t n = str->u.str.n;
    struct jbuild b;
    enum st st = jx_pay(x, 1 + n / 4);
    bool up = how != JCASE_LOWER;
    uint32_t cp;

    jbuild_init(&b, x);
    for (size_t at = 0; at < n && !st;) {
        size_t len = jchar(s + at, n - at, &cp);

        st = put_mapped(&b, str, at, len, cp, up,
                        how == JCASE_UPPER || how == JCASE_WORDS ? "SS"
                                                                : "Ss");
        at += len;
        if (how == JCASE_CAPITAL)
            up = false;
        else if (how == JCASE_TITLE)
            up = !cased(cp);
        else if (how == JCASE_WORDS)
            up = splits_words(cp);
    }
    if (!n && !st)
        st = jbuild_str(&b, str);
    *out = jbuild_done(&b);
    return st;
}

enum st jcase_is(struct jx *x, const struct jv *str, enum jcase how,
                 struct jv *out)
{
    const char *s = str->u.str.s;
    size_t n = str->u.str.n;
    bool any = false, other = false;
    enum st st = jx_pay(x, n / 4);
    uint32_t cp;

    for (size_t at = 0; at < n && !other && !st;) {
        at += jchar(s + at, n - at, &cp);
        if (!cased(cp))
            continue;
        any = true;
        other = (jchar_lower(cp) == cp) == (how == JCASE_UPPER);
    }
    *out = jv_bool(any && !other, jv_is_markup(str));
    return st;
}
