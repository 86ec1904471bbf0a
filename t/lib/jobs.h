/* t/lib/jobs.h - short ways to fill a job in C tests. */
#ifndef T_JOBS_H
#define T_JOBS_H

#include "gen/gen.h"

#define SAMPLING(t, k, p, m, s)                                              \
    {                                                                        \
        .temperature = (t), .top_k = (k), .top_p = (p), .min_p = (m),        \
        .seed = (s),                                                         \
    }

/* A guide that forces exactly these ids. */
static inline struct guide *forced_guide(const int32_t *ids, size_t n)
{
    const struct guide_list one = {ids, n};

    return guide_choice_new(&one, 1, NULL, 0);
}

#endif
