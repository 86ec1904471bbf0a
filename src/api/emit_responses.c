/* The events and the object of /v1/responses. */
#include "api/emit.h"

#include "api/run.h"

static bool has_news(const struct run *r, size_t i)
{
    (void)r;
    (void)i;
    return false;
}

static void news(struct run *r, size_t i, struct buf *out)
{
    (void)r;
    (void)i;
    (void)out;
}

static void finish(struct run *r, const struct figures *f,
                   const struct err *e, struct buf *out)
{
    (void)r;
    (void)f;
    (void)e;
    (void)out;
}

static void whole(struct run *r, const struct figures *f, struct buf *out)
{
    (void)r;
    (void)f;
    (void)out;
}

const struct emit emit_responses = {
    .ordered = true,
    .has_news = has_news,
    .news = news,
    .finish = finish,
    .whole = whole,
};
