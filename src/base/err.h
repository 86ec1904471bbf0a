/*
 * base/err.h - one status enum and one error object for the whole project.
 *
 * A function that can fail returns enum st and takes `struct err *e` last.
 * The message is written once, where the cause is known, and passed up
 * unchanged: what was wrong, where, and what is accepted. `e` may be NULL
 * when the caller only wants the status. Libraries never print and never
 * exit. Text of a prompt or an answer never enters a message: name the field.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))

enum st {
    ST_OK = 0,
    ST_USAGE,       /* command line or configuration is wrong */
    ST_INVALID,     /* the caller's request is wrong; `where` names the field */
    ST_CONTEXT,     /* the prompt does not fit the context */
    ST_TOO_LARGE,   /* a body or a value is over its byte cap */
    ST_AUTH,        /* no key, or a wrong one */
    ST_NOT_FOUND,   /* no such route or object */
    ST_NO_MODEL,    /* a model name that is not served */
    ST_METHOD,      /* the route exists, the method does not */
    ST_RATE,        /* the caller asked too often */
    ST_QUEUED,      /* it waited too long for its turn */
    ST_BUSY,        /* queue or memory is full; try again later */
    ST_DRAINING,    /* the process is going down */
    ST_LIMIT,       /* one of our own caps was hit */
    ST_NOMEM,       /* an allocation of foreign size failed */
    ST_IO,          /* the operating system said no */
    ST_FORMAT,      /* a file is broken or hostile */
    ST_UNSUPPORTED, /* well-formed, but not something we can do */
    ST_CANCELLED,   /* the client left */
    ST_INTERNAL,    /* our mistake */
};

struct err {
    enum st st;
    char where[160]; /* file, key or field, e.g. messages[2].content[0].type */
    char text[640];  /* one sentence, no newline */
};

/* Fill `e` (when not NULL) and return `st`, so that callers can return it. */
enum st err_set(struct err *e, enum st st, const char *where, const char *fmt,
                ...) PRINTF(4, 5);

/* Readable text of an errno value; valid until the thread's next call. */
const char *err_sys(int errnum);

/* The word for a status, for logs and ledger rows: "invalid", "io", ... */
const char *st_name(enum st st);

/* A broken invariant of ours; input can never reach one. Aborts. */
void bug_at(const char *file, int line, const char *cond)
    __attribute__((noreturn));
#define BUG_ON(cond)                                                           \
    do {                                                                       \
        if (__builtin_expect(!!(cond), 0))                                     \
            bug_at(__FILE__, __LINE__, #cond);                                 \
    } while (0)

#include "base/banned.h"
#endif
