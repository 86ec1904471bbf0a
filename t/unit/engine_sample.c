/*
 * Sampling: which ids may come, how often, and from what. Expected shares
 * are the definitions themselves, computed here in another way: softmax over
 * a sorted table.
 */
#include "engine/sample.h"

#include "t/lib/jobs.h"
#include "t/lib/tap.h"

#include <math.h>

#define VOCAB 12
#define DRAWS 40000

static const float logits[VOCAB] = {1.0f,  3.0f,  -2.0f, 3.0f, 0.5f, 2.0f,
                                    -9.0f, -0.5f, 2.5f,  0.0f, 1.5f, -1.0f};

struct share {
    double p;
    int id;
};

static int by_share(const void *a, const void *b)
{
    const struct share *x = a, *y = b;

    if (x->p != y->p)
        return x->p < y->p ? 1 : -1;
    return x->id - y->id;
}

/* The definition: sort, cut three times, renormalise. */
static void expected(const struct sampling *p, const uint32_t *mask,
                     double out[VOCAB])
{
    struct share s[VOCAB];
    int n = 0, k;
    double sum = 0, mass = 0;

    for (int i = 0; i < VOCAB; i++)
        if (!mask || mask[0] >> i & 1)
            s[n++] = (struct share){
                exp((double)logits[i] / (double)p->temperature), i};
    qsort(s, (size_t)n, sizeof(*s), by_share);
    if (p->top_k > 0 && p->top_k < n)
        n = p->top_k;
    for (int i = 0; i < n; i++)
        sum += s[i].p;
    for (k = 0; k < n && mass < (double)p->top_p * sum; k++)
        mass += s[k].p;
    while (k > 1 && s[k - 1].p < (double)p->min_p * s[0].p)
        k--;
    sum = 0;
    for (int i = 0; i < k; i++)
        sum += s[i].p;
    memset(out, 0, VOCAB * sizeof(*out));
    for (int i = 0; i < k; i++)
        out[s[i].id] = s[i].p / sum;
}

static void distribution(struct sampler *s, const struct sampling *p,
                         const uint32_t *mask, const char *what)
{
    double want[VOCAB], worst = 0;
    int count[VOCAB] = {0};
    bool outside = false;

    expected(p, mask, want);
    for (int i = 0; i < DRAWS; i++) {
        struct sample_at at = {p->seed, 0, i};
        struct sample_out out;

        if (sample(s, logits, mask, p, &at, 0, &out))
            count[out.id]++;
    }
    for (int i = 0; i < VOCAB; i++) {
        /* in standard deviations of a binomial count */
        double sd = sqrt(DRAWS * want[i] * (1 - want[i])) + 1e-9;
        double off = fabs(count[i] - DRAWS * want[i]) / (sd + 0.5);

        outside = outside || (want[i] == 0 && count[i]);
        worst = off > worst ? off : worst;
    }
    ok(!outside && worst < 4.5, "%s: shares as defined (%.1f sd)", what,
       worst);
}

static void uniform(void)
{
    double sum = 0, lag = 0, last = 0.5;
    struct sample_at a = {1, 0, 5}, b = {1, 1, 5}, c = {2, 0, 5};

    for (int i = 0; i < DRAWS; i++) {
        struct sample_at at = {42, i % 3, i / 3};
        double u = sample_uniform(&at);

        if (u < 0 || u >= 1)
            break;
        sum += u;
        lag += (u - 0.5) * (last - 0.5);
        last = u;
    }
    ok(fabs(sum / DRAWS - 0.5) < 0.006, "uniform numbers have mean one half");
    ok(fabs(lag / DRAWS) < 0.002, "and do not follow each other");
    ok(sample_uniform(&a) == sample_uniform(&a), "the same draw twice");
    ok(sample_uniform(&a) != sample_uniform(&b), "another choice differs");
    ok(sample_uniform(&a) != sample_uniform(&c), "another seed differs");
}

static void greedy_and_logprobs(struct sampler *s)
{
    const struct sampling p = SAMPLING(0, 0, 1, 0, 0);
    const struct sample_at at = {0, 0, 0};
    const uint32_t only = 1u << 2 | 1u << 6, none = 0;
    struct logprob top[4];
    struct sample_out out = {.top = top};
    float bad[VOCAB], z = 0;
    double sum = 0;

    for (int i = 0; i < VOCAB; i++)
        sum += exp((double)logits[i]);
    ok(sample(s, logits, NULL, &p, &at, 4, &out) && out.id == 1,
       "greedy: the lower id of two equal ones");
    ok(top[0].id == 1 && top[1].id == 3 && top[2].id == 8 && top[3].id == 5,
       "alternatives in descending order, lower id first");
    ok(fabs((double)out.chosen - (3 - log(sum))) < 1e-6 &&
           fabs((double)top[3].logprob - (2 - log(sum))) < 1e-6,
       "log-probabilities of the full softmax");
    ok(sample(s, logits, &only, &p, &at, 4, &out) && out.id == 2,
       "a mask leaves the best of the rest");
    ok(top[1].id == 6 && top[2].id == -1 && isinf(top[3].logprob),
       "and no more alternatives than there are");
    ok(fabs((double)out.chosen + log(1 + exp(-7.0))) < 1e-6,
       "renormalised over what is allowed");
    ok(!sample(s, logits, &none, &p, &at, 0, &out), "nothing allowed: nothing");
    for (int i = 0; i < VOCAB; i++)
        bad[i] = NAN;
    ok(!sample(s, bad, NULL, &p, &at, 0, &out), "no finite logit: nothing");
    bad[7] = z;
    ok(sample(s, bad, NULL, &p, &at, 0, &out) && out.id == 7,
       "one finite logit: that one");
}

/* Equal weights have exact sums: which ids come at a cut's very edge? */
static void edge(struct sampler *s, float top_p, float min_p, uint32_t want,
                 const char *what)
{
    static const float equal[VOCAB];
    const struct sampling p = SAMPLING(1, 0, top_p, min_p, 3);
    uint32_t seen = 0;

    for (int i = 0; i < 2000; i++) {
        struct sample_at at = {p.seed, 0, i};
        struct sample_out out;

        if (sample(s, equal, NULL, &p, &at, 0, &out))
            seen |= 1u << out.id;
    }
    is_int(seen, want, "twelve equal ids, %s", what);
}

int main(void)
{
    struct sampler *s = sampler_new(VOCAB);
    const uint32_t mask = 0xfd3;

    uniform();
    greedy_and_logprobs(s);
    distribution(s, &(struct sampling)SAMPLING(1, 0, 1, 0, 1),
                 NULL, "plain");
    distribution(s, &(struct sampling)SAMPLING(0.3f, 0, 1, 0, 2),
                 NULL, "cold");
    distribution(s, &(struct sampling)SAMPLING(5, 0, 1, 0, 3),
                 NULL, "hot");
    distribution(s, &(struct sampling)SAMPLING(1, 4, 1, 0, 4),
                 NULL, "top_k");
    distribution(s, &(struct sampling)SAMPLING(1, 1, 1, 0, 4),
                 NULL, "top_k 1");
    distribution(s, &(struct sampling)SAMPLING(1, 0, 0.8f, 0, 5),
                 NULL, "top_p");
    distribution(s, &(struct sampling)SAMPLING(1, 0, 1, 0.2f, 6),
                 NULL, "min_p");
    distribution(s, &(struct sampling)SAMPLING(2, 7, 0.9f, 0.3f, 7),
                 NULL, "all");
    distribution(s, &(struct sampling)SAMPLING(1, 5, 0.9f, 0, 8),
                 &mask, "masked");
    distribution(s, &(struct sampling)SAMPLING(1, 0, 1e-6f, 0, 9),
                 NULL, "tiny top_p");
    edge(s, 0.5f, 0, 0x3f, "top_p 0.5: six reach it");
    edge(s, 0.86f, 0, 0x7ff, "top_p 0.86: the eleventh passes it");
    edge(s, 1, 1, 0xfff, "min_p 1: none is below the best");
    sampler_free(s);
    return done();
}
