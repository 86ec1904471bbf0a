#include "base/percent.h"

#include "base/ascii.h"

bool percent_decode(struct span s, char *out, size_t cap, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < s.n; i++) {
        int hi = s.s[i] == '%' && s.n - i > 2 ? ascii_hex(s.s[i + 1]) : -1;
        int lo = hi >= 0 ? ascii_hex(s.s[i + 2]) : -1;

        if (*n == cap)
            return false;
        out[(*n)++] = lo >= 0 ? (char)(hi * 16 + lo) : s.s[i];
        i += lo >= 0 ? 2 : 0;
    }
    return true;
}
