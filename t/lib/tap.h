/*
 * t/lib/tap.h - TAP for C tests: ok(), is_int(), is_str(), done().
 *
 * A test is a program that prints TAP and returns done(). No test sleeps to
 * be right; no test depends on speed.
 */
#ifndef T_TAP_H
#define T_TAP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int tap_n, tap_failed;

__attribute__((format(printf, 4, 5), unused)) static bool
tap_ok(bool pass, const char *file, int line, const char *fmt, ...)
{
    va_list ap;

    printf("%sok %d - ", pass ? "" : "not ", ++tap_n);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    if (!pass) {
        tap_failed++;
        printf("#   failed at %s line %d\n", file, line);
    }
    fflush(stdout);
    return pass;
}

#define ok(cond, ...) tap_ok(!!(cond), __FILE__, __LINE__, __VA_ARGS__)

#define is_int(got, want, ...)                                                 \
    do {                                                                       \
        intmax_t tap_g = (intmax_t)(got), tap_w = (intmax_t)(want);            \
        if (!ok(tap_g == tap_w, __VA_ARGS__))                                  \
            printf("#   got %" PRIdMAX ", expected %" PRIdMAX "\n", tap_g,     \
                   tap_w);                                                     \
    } while (0)

#define is_str(got, want, ...)                                                 \
    do {                                                                       \
        const char *tap_g = (got), *tap_w = (want);                            \
        if (!ok(tap_g && tap_w && strcmp(tap_g, tap_w) == 0, __VA_ARGS__))     \
            printf("#   got '%s', expected '%s'\n", tap_g ? tap_g : "(null)",  \
                   tap_w ? tap_w : "(null)");                                  \
    } while (0)

#define skip_all(why)                                                          \
    do {                                                                       \
        printf("1..0 # SKIP %s\n", (why));                                     \
        return 0;                                                              \
    } while (0)

static inline int done(void)
{
    printf("1..%d\n", tap_n);
    return tap_failed ? 1 : 0;
}

#endif
