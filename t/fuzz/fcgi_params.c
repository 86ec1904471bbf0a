/*
 * Any parameters and any body: whole or refused. The input is a list of
 * NUL-terminated "NAME=value" strings; what follows an empty one is the body.
 */
#include "fcgi/req.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define PARAMS_MAX 1024
#define CAP 4096

struct feed {
    const char *s;
    size_t n;
};

static size_t feed_read(void *arg, char *p, size_t n)
{
    struct feed *f = arg;

    n = n < f->n ? n : f->n;
    memcpy(p, f->s, n);
    f->s += n;
    f->n -= n;
    return n;
}

static bool feed_ended(void *arg)
{
    return ((struct feed *)arg)->n == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *copy = mem_dup_n((const char *)data, n);
    const char *params[PARAMS_MAX + 1];
    struct http_req r = {0};
    struct arena a;
    struct buf body;
    size_t at = 0, count = 0;
    struct feed f;
    const struct req_source from = {feed_read, feed_ended, &f};

    while (at < n && copy[at] && count < PARAMS_MAX) {
        params[count++] = copy + at;
        at += strlen(copy + at) + 1;
    }
    params[count] = NULL;
    at = at < n ? at : n;
    f = (struct feed){copy + at, n - at};
    arena_init(&a, 1u << 20);
    buf_init(&body, CAP);
    if (!req_params(&r, &a, params, NULL)) {
        BUG_ON(!r.method.n || !r.path.n || memchr(r.path.s, '?', r.path.n));
        if (!req_body(&r, &body, CAP, &from, NULL))
            BUG_ON(r.body.n > CAP ||
                   (r.has_length && r.content_length != r.body.n));
    }
    buf_release(&body);
    arena_release(&a);
    free(copy);
    return 0;
}
