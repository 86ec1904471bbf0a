/* t/lib/said.h - everything that a request to an engine tells, bit for bit. */
#ifndef T_SAID_H
#define T_SAID_H

#include "t/lib/model.h"

#include <string.h>

enum { ANSWER = 40, TOP = 5 };

struct said {
    int32_t ids[ANSWER];
    float chosen[ANSWER];
    struct logprob top[ANSWER][TOP];
    struct end_info end;
};

/* To its end; drops the job. */
static inline void hear(struct job *j, struct said *out)
{
    memset(out, 0, sizeof(*out));
    demo_wait(j, NULL, 0, &out->end);
    (void)ring_take(j->ring, out->ids, NULL, out->chosen, out->top[0], ANSWER);
    job_unref(j);
}

static inline void ask(struct gen *g, struct job *j, struct said *out)
{
    demo_submit(g, j);
    hear(j, out);
}

static inline bool same(const struct said *a, const struct said *b)
{
    return a->end.completion_tokens == ANSWER &&
           !memcmp(a->ids, b->ids, sizeof(a->ids)) &&
           !memcmp(a->chosen, b->chosen, sizeof(a->chosen)) &&
           !memcmp(a->top, b->top, sizeof(a->top));
}

#endif
