/*
 * base/log.h - one line per event on standard error: an event word, then
 * key=value. No text of prompts or answers, no keys; see struct text.
 *
 *   2026-11-30T12:00:00.123Z info req id=... model=demo in=12 out=40 ms=310
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/err.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

void log_set_level(enum log_level min);
/* "debug", "info", "warn", "error"; false when it is none of them. */
bool log_level_parse(const char *s, enum log_level *out);

/* `event` is a literal word; one write(2) per line, from any thread. */
void log_line(enum log_level level, const char *event, const char *fmt, ...)
    PRINTF(3, 4);

#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_warn(...) log_line(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)

#endif
