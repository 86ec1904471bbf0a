/*
 * Penalties and biases over a row of logits. Expected rows:
 * t/data/engine/penalty.tsv (another program's, and OpenAI's formula; see
 * make-penalty.mjs there). Counts are compared with counting.
 */
#include "engine/penalty.h"

#include "t/lib/tap.h"

#include <float.h>
#include <math.h>

#define VECTORS "t/data/engine/penalty.tsv"
#define VOCAB 12
#define COLUMNS 6

static int split(char *line, char *column[COLUMNS])
{
    int n = 0;

    line[strcspn(line, "\n")] = 0;
    for (char *s = line; n < COLUMNS; s++) {
        column[n++] = s;
        s += strcspn(s, "\t");
        if (!*s)
            break;
        *s = 0;
    }
    return n;
}

/* Comma-separated numbers; returns how many. */
static size_t numbers(const char *s, double *out, size_t cap)
{
    char *end;
    size_t n = 0;

    for (; *s && n < cap; s = *end ? end + 1 : end)
        out[n++] = strtod(s, &end);
    return n;
}

static void vector(int line, char *column[COLUMNS], int used[3])
{
    double ids[64], before[VOCAB], want[VOCAB], worst = 0;
    int32_t history[64];
    float row[VOCAB];
    size_t n = numbers(column[0], ids, 64);
    struct sampling how = {
        .repetition = strtof(column[1], NULL),
        .presence = strtof(column[2], NULL),
        .frequency = strtof(column[3], NULL),
    };
    struct penalty *p;

    used[0] += how.repetition != 1;
    used[1] += how.presence != 0;
    used[2] += how.frequency != 0;
    if (numbers(column[4], before, VOCAB) != VOCAB ||
        numbers(column[5], want, VOCAB) != VOCAB) {
        ok(false, "line %d is a row of logits", line);
        return;
    }
    for (size_t i = 0; i < n; i++)
        history[i] = (int32_t)ids[i];
    for (int i = 0; i < VOCAB; i++)
        row[i] = (float)before[i];
    /* the prompt and what came after are one history */
    p = penalty_new(history, n / 2, VOCAB);
    if (!p)
        return;
    for (size_t i = n / 2; i < n; i++)
        penalty_add(p, history[i]);
    penalty_apply(p, &how, row);
    for (int i = 0; i < VOCAB; i++)
        worst = fmax(worst, fabs((double)row[i] - want[i]) /
                                (1 + fabs(want[i])));
    ok(worst < 2e-7, "line %d: the expected row (%.1e)", line, worst);
    penalty_free(p);
}

static void vectors(void)
{
    FILE *in = fopen(VECTORS, "re");
    char line[2048], *column[COLUMNS];
    int n = 0, used[3] = {0};

    if (!ok(in != NULL, VECTORS " is there"))
        return;
    while (fgets(line, sizeof(line), in)) {
        n++;
        if (line[0] == '#')
            continue;
        if (ok(split(line, column) == COLUMNS, "line %d has 6 columns", n))
            vector(n, column, used);
    }
    fclose(in);
    ok(used[0] > 40 && used[1] > 40 && used[2] > 40,
       "rows with every penalty (%d, %d, %d)", used[0], used[1], used[2]);
}

/* Ids that meet in the same slots, and as many as there is room for. */
static void counts(int32_t stride, int32_t distinct)
{
    const struct sampling how = {.frequency = 1};
    size_t vocab = (size_t)stride * (size_t)distinct;
    float *row = calloc(vocab, sizeof(*row));
    float *want = calloc(vocab, sizeof(*want));
    struct penalty *p = penalty_new(NULL, 0, (size_t)distinct);
    uint32_t x = 1;

    if (!row || !want || !p)
        return;
    for (int32_t i = 0; i < 8 * distinct; i++) {
        size_t id = (size_t)stride * (size_t)(i % distinct);

        x = x * 1664525 + 1013904223;
        if (i >= distinct)
            id = (size_t)stride * (x >> 8) % vocab / (size_t)stride *
                 (size_t)stride;
        penalty_add(p, (int32_t)id);
        want[id]--;
    }
    penalty_apply(p, &how, row);
    ok(!memcmp(row, want, vocab * sizeof(*row)),
       "%d ids, %d apart: each as often as it came", distinct, stride);
    penalty_free(p);
    free(row);
    free(want);
}

static void wanted(void)
{
    ok(!penalty_wanted(&(struct sampling){.temperature = 1, .top_p = 1}) &&
           !penalty_wanted(&(struct sampling){.repetition = 1}),
       "no counts without a penalty");
    ok(penalty_wanted(&(struct sampling){.repetition = 0.5f}) &&
           penalty_wanted(&(struct sampling){.presence = -1}) &&
           penalty_wanted(&(struct sampling){.frequency = 0.1f}),
       "but for each of the three");
}

/* Whatever the numbers, what is finite stays finite and the rest as it is. */
static void extremes(void)
{
    static const int32_t ids[] = {0, 1, 2, 3, 4, 5};
    static const float odd[] = {FLT_MAX, -FLT_MAX, 3, NAN, INFINITY, -INFINITY};
    static const float r[] = {FLT_MAX, FLT_TRUE_MIN, 1e-30f, 1};
    struct bias b[6];
    struct penalty *p = penalty_new(ids, 6, 6);
    bool good = true;

    if (!p)
        return;
    for (size_t i = 0; i < 4 * 4; i++) {
        struct sampling how = {.repetition = r[i / 4],
                               .presence = i & 1 ? 2 : -2,
                               .frequency = i & 2 ? 2 : -2};
        float row[6];

        memcpy(row, odd, sizeof(row));
        penalty_apply(p, &how, row);
        for (int k = 0; k < 6; k++)
            b[k] = (struct bias){k, i & 1 ? 100 : -100};
        bias_apply(b, 6, row);
        good = good && isfinite(row[0]) && isfinite(row[1]) &&
               isfinite(row[2]) && isnan(row[3]) && row[4] == odd[4] &&
               row[5] == odd[5];
    }
    ok(good, "penalties and biases make nothing infinite, nor finite again");
    penalty_free(p);
}

static void biases(void)
{
    static const struct bias b[] = {{1, 100}, {3, -2.5f}};
    float row[] = {1, -1, 0, 0.5f};

    bias_apply(b, 2, row);
    ok(row[0] == 1 && row[1] == 99 && row[2] == 0 && row[3] == -2,
       "a bias is added to its id, and to no other");
    bias_apply(NULL, 0, row);
    ok(row[1] == 99, "no bias, no change");
}

int main(void)
{
    wanted();
    vectors();
    counts(1, 1);
    counts(1, 5000);
    counts(8192, 300);
    counts(16384, 64);
    extremes();
    biases();
    return done();
}
