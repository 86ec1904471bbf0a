#include "base/err.h"

#include "base/utf8.h"

#include <stdarg.h>

/* What had to be cut ends with a whole character: clients get it as JSON. */
static void whole(char *s, size_t size, int wanted)
{
    if (wanted >= 0 && (size_t)wanted >= size)
        s[utf8_complete_len(s, size - 1)] = '\0';
}

enum st err_set(struct err *e, enum st st, const char *where, const char *fmt,
                ...)
{
    va_list ap;

    if (!e)
        return st;
    e->st = st;
    whole(e->where, sizeof(e->where),
          snprintf(e->where, sizeof(e->where), "%s", where ? where : ""));
    va_start(ap, fmt);
    whole(e->text, sizeof(e->text),
          vsnprintf(e->text, sizeof(e->text), fmt, ap));
    va_end(ap);
    return st;
}

const char *err_sys(int errnum)
{
    static _Thread_local char text[96];

    /* The GNU form may return a constant instead of filling the buffer. */
    return strerror_r(errnum, text, sizeof(text));
}

const char *st_name(enum st st)
{
    static const char *const names[] = {
        [ST_OK] = "ok",
        [ST_USAGE] = "usage",
        [ST_INVALID] = "invalid",
        [ST_CONTEXT] = "context",
        [ST_TOO_LARGE] = "too_large",
        [ST_AUTH] = "auth",
        [ST_NOT_FOUND] = "not_found",
        [ST_NO_MODEL] = "no_model",
        [ST_METHOD] = "method",
        [ST_RATE] = "rate",
        [ST_QUEUED] = "queued",
        [ST_BUSY] = "busy",
        [ST_DRAINING] = "draining",
        [ST_LIMIT] = "limit",
        [ST_NOMEM] = "nomem",
        [ST_IO] = "io",
        [ST_FORMAT] = "format",
        [ST_UNSUPPORTED] = "unsupported",
        [ST_CANCELLED] = "cancelled",
        [ST_INTERNAL] = "internal",
    };

    if ((size_t)st >= sizeof(names) / sizeof(names[0]))
        return "unknown";
    return names[st];
}

void bug_at(const char *file, int line, const char *cond)
{
    fprintf(stderr, "penstock: bug at %s:%d: %s\n", file, line, cond);
    abort();
}
