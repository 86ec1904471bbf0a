#include "fcgi/out.h"

#include <poll.h>

void out_library_init(void)
{
    FCGX_Init();
}

enum st out_open(struct out *o, int fd, struct err *e)
{
    int rc;

    *o = (struct out){0};
    FCGX_InitRequest(&o->r, -1, 0);
    o->r.ipcFd = fd;
    o->r.keepConnection = 1; /* overwritten from the BEGIN record */
    FCGX_Detach(&o->r);
    rc = FCGX_Accept_r(&o->r);
    if (rc < 0) {
        FCGX_Free(&o->r, 0);
        return err_set(e, ST_IO, "", "not a FastCGI request (%d)", rc);
    }
    o->open = true;
    return ST_OK;
}

const char *const *out_params(const struct out *o)
{
    return (const char *const *)o->r.envp;
}

size_t out_read(struct out *o, char *p, size_t n)
{
    int got = FCGX_GetStr(p, (int)n, o->r.in);

    return got > 0 ? (size_t)got : 0;
}

bool out_read_ok(const struct out *o)
{
    return FCGX_GetError(o->r.in) == 0;
}

bool out_put(struct out *o, const char *p, size_t n)
{
    if (o->failed)
        return false;
    if (n && (FCGX_PutStr(p, (int)n, o->r.out) < 0 ||
              FCGX_FFlush(o->r.out) < 0))
        o->failed = true;
    return !o->failed;
}

bool out_ready(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};

    return poll(&p, 1, 0) == 1 && (p.revents & POLLOUT);
}

bool out_finish(struct out *o)
{
    bool keep;

    if (!o->open)
        return false;
    if (FCGX_FClose(o->r.err) < 0 || FCGX_FClose(o->r.out) < 0)
        o->failed = true;
    keep = o->r.keepConnection && !o->failed && out_read_ok(o);
    FCGX_Free(&o->r, 0);
    o->open = false;
    return keep;
}

void out_drop(struct out *o)
{
    if (o->open)
        FCGX_Free(&o->r, 0);
    o->open = false;
}
