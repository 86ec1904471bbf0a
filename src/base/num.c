#include "base/num.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>

bool num_parse_u64(const char *s, size_t n, uint64_t max, uint64_t *out)
{
    uint64_t v = 0;

    if (!n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v))
            return false;
    }
    if (v > max)
        return false;
    *out = v;
    return true;
}

bool num_parse_i64(const char *s, size_t n, int64_t min, int64_t max,
                   int64_t *out)
{
    bool neg = n && s[0] == '-';
    uint64_t v;
    int64_t r;

    if (!num_parse_u64(s + neg, n - neg, (uint64_t)INT64_MAX + neg, &v))
        return false;
    r = neg ? (int64_t)(0 - v) : (int64_t)v;
    if (r < min || r > max)
        return false;
    *out = r;
    return true;
}

static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

bool num_parse_list(const char *s, int max, int *out, int room, int *n)
{
    *n = 0;
    for (;;) {
        size_t len = strcspn(s, ","), first = strcspn(s, ",-");
        int64_t lo, hi;

        if (!num_parse_i64(s, first, 0, max, &lo))
            return false;
        hi = lo;
        if (first < len &&
            !num_parse_i64(s + first + 1, len - first - 1, lo, max, &hi))
            return false;
        for (; lo <= hi; lo++) {
            if (*n == room)
                return false;
            out[(*n)++] = (int)lo;
        }
        if (!s[len])
            return true;
        s += len + 1;
    }
}

bool num_parse_double(const char *s, size_t n, double *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char tmp[400];
    char *end;
    double v;

    pthread_once(&once, make_c_locale);
    if (!n || n >= sizeof(tmp) || !c_locale)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!memchr("0123456789+-.eE", s[i], 15))
            return false; /* keeps out inf, nan, hex and spaces */
    memcpy(tmp, s, n);
    tmp[n] = '\0';
    v = strtod_l(tmp, &end, c_locale);
    if (end != tmp + n || !isfinite(v))
        return false;
    *out = v;
    return true;
}
