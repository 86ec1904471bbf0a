#include "base/utf8.h"

/* Bytes expected after a lead byte, or -1. */
static int trail_count(unsigned char c)
{
    if (c < 0x80)
        return 0;
    if (c >= 0xc2 && c <= 0xdf)
        return 1;
    if (c >= 0xe0 && c <= 0xef)
        return 2;
    if (c >= 0xf0 && c <= 0xf4)
        return 3;
    return -1;
}

/* May c be the first byte after this lead? (Table 3-7 of Unicode.) */
static bool second_ok(unsigned char lead, unsigned char c)
{
    switch (lead) {
    case 0xe0:
        return c >= 0xa0 && c <= 0xbf;
    case 0xed:
        return c >= 0x80 && c <= 0x9f;
    case 0xf0:
        return c >= 0x90 && c <= 0xbf;
    case 0xf4:
        return c >= 0x80 && c <= 0x8f;
    default:
        return c >= 0x80 && c <= 0xbf;
    }
}

size_t utf8_decode(const char *s, size_t n, uint32_t *cp)
{
    static const unsigned char lead_mask[] = {0x7f, 0x1f, 0x0f, 0x07};
    const unsigned char *u = (const unsigned char *)s;
    uint32_t v;
    int k;

    if (!n)
        return 0;
    k = trail_count(u[0]);
    if (k < 0 || (size_t)k >= n)
        return 0;
    v = u[0] & lead_mask[k];
    for (int i = 1; i <= k; i++) {
        if (i == 1 ? !second_ok(u[0], u[1]) : (u[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (u[i] & 0x3f);
    }
    *cp = v;
    return (size_t)k + 1;
}

size_t utf8_encode(uint32_t cp, char out[4])
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xc0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 0x3f));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xe0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
        out[2] = (char)(0x80 | (cp & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 0x3f));
    out[2] = (char)(0x80 | (cp >> 6 & 0x3f));
    out[3] = (char)(0x80 | (cp & 0x3f));
    return 4;
}

bool utf8_valid(const char *s, size_t n, size_t *bad)
{
    size_t i = 0;

    while (i < n) {
        uint32_t cp;
        size_t k;

        if ((unsigned char)s[i] < 0x80) {
            i++;
            continue;
        }
        k = utf8_decode(s + i, n - i, &cp);
        if (!k) {
            if (bad)
                *bad = i;
            return false;
        }
        i += k;
    }
    return true;
}

size_t utf8_complete_len(const char *s, size_t n)
{
    const unsigned char *u = (const unsigned char *)s;

    for (size_t back = 1; back <= 3 && back <= n; back++) {
        unsigned char c = u[n - back];
        int k;

        if ((c & 0xc0) == 0x80)
            continue; /* a trail byte: look for its lead */
        k = trail_count(c);
        if (k < (int)back)
            return n; /* whole, or not a lead at all */
        if (back > 1 && !second_ok(c, u[n - back + 1]))
            return n;
        return n - back;
    }
    return n;
}
