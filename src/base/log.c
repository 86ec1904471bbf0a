#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <unistd.h>

static const char *const level_names[] = {"debug", "info", "warn", "error"};
static _Atomic int min_level = LOG_INFO;

void log_set_level(enum log_level min)
{
    atomic_store_explicit(&min_level, (int)min, memory_order_relaxed);
}

bool log_level_parse(const char *s, enum log_level *out)
{
    for (int i = 0; i <= LOG_ERROR; i++) {
        if (strcmp(s, level_names[i]) == 0) {
            *out = (enum log_level)i;
            return true;
        }
    }
    return false;
}

void log_line(enum log_level level, const char *event, const char *fmt, ...)
{
    char line[1024];
    struct timespec ts;
    struct tm tm;
    size_t n;
    int k;
    va_list ap;

    if ((int)level < atomic_load_explicit(&min_level, memory_order_relaxed))
        return;
    clock_gettime(CLOCK_REALTIME, &ts);
    gmtime_r(&ts.tv_sec, &tm);
    n = strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%S", &tm);
    k = snprintf(line + n, sizeof(line) - n, ".%03ldZ %s %s ",
                 ts.tv_nsec / 1000000, level_names[level], event);
    n += k > 0 ? (size_t)k : 0;
    va_start(ap, fmt);
    k = vsnprintf(line + n, sizeof(line) - n, fmt, ap);
    va_end(ap);
    if (k > 0)
        n += (size_t)k < sizeof(line) - n ? (size_t)k : sizeof(line) - n - 1;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)line[i] < ' ')
            line[i] = ' '; /* one event stays one line */
    line[n] = '\n';
    while (write(STDERR_FILENO, line, n + 1) < 0) /* a full pipe loses a line */
        break;
}
