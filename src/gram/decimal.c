#include "gram/decimal.h"

#define EXPONENT_MAX 1000000000000

static int64_t read_exponent(const char *s, size_t n)
{
    bool neg = n && s[0] == '-';
    int64_t v = 0;
    size_t i = n && (s[0] == '-' || s[0] == '+');

    for (; i < n; i++)
        if (v < EXPONENT_MAX)
            v = v * 10 + (s[i] - '0');
    return neg ? -v : v;
}

void decimal_read(struct decimal *d, struct text number)
{
    const char *s = number.s;
    size_t n = number.n, i = 0, dot = 0;
    bool frac = false;

    *d = (struct decimal){0};
    if (n && s[0] == '-') {
        d->neg = true;
        i++;
    }
    for (; i < n && s[i] != 'e' && s[i] != 'E'; i++) {
        if (s[i] == '.') {
            frac = true;
            continue;
        }
        dot += !frac;
        if (!d->n && s[i] == '0') { /* leading: only its place counts */
            d->point--;
            continue;
        }
        if (d->n < sizeof d->digits)
            d->digits[d->n++] = s[i];
    }
    d->point += (int64_t)dot;
    if (i < n)
        d->point += read_exponent(s + i + 1, n - i - 1);
    while (d->n && d->digits[d->n - 1] == '0')
        d->n--;
    if (!d->n) {
        d->neg = false;
        d->point = 0;
    }
}

bool decimal_whole(const struct decimal *d)
{
    return d->point >= (int64_t)d->n;
}

bool decimal_long(const struct decimal *d)
{
    return d->point > DECIMAL_PLAIN_MAX || d->point < -DECIMAL_PLAIN_MAX ||
           (int64_t)d->n - d->point > DECIMAL_PLAIN_MAX;
}

uint32_t decimal_digits(const struct decimal *d)
{
    int64_t n = (int64_t)d->n;
    int64_t whole = d->point > 0 ? d->point : 1;

    return (uint32_t)(whole + (n > d->point ? n - d->point : 0));
}

void decimal_write(const struct decimal *d, struct buf *out)
{
    int64_t i, whole = d->point > 0 ? d->point : 0, n = (int64_t)d->n;

    if (d->neg)
        buf_putc(out, '-');
    if (decimal_long(d)) {
        buf_putc(out, d->digits[0]);
        if (n > 1) {
            buf_putc(out, '.');
            buf_add(out, d->digits + 1, d->n - 1);
        }
        buf_printf(out, "e%lld", (long long)(d->point - 1));
        return;
    }
    if (!whole)
        buf_putc(out, '0');
    for (i = 0; i < whole; i++)
        buf_putc(out, i < n ? d->digits[i] : '0');
    if (n <= d->point || !n)
        return;
    buf_putc(out, '.');
    for (i = d->point; i < n; i++)
        buf_putc(out, i < 0 ? '0' : d->digits[i]);
}
