/*
 * engine/eta.h - how long somebody who waits will wait. Arithmetic only.
 *
 * What a running request still holds its slot for: its prompt rows left over
 * the rate of prefill now, plus the tokens it will still write over its own
 * rate. How many those are: the third quartile (nearest rank) of what earlier
 * requests of its kind wrote beyond what it has written, never more than its
 * limit. With fewer than ETA_FEW of them: the median time that requests which
 * ran as long as it still had to run; with fewer than ETA_FEW of those too,
 * nothing is known and only positions are told.
 * With n running at once, which comes free j-th (by their medians) is told by
 * the quantile (j - 1/4) / n of its lengths in place of the quartile, and by
 * two thirds of that in place of the median: the first of four comes free long
 * before three of four times would.
 * A waiter gets the slot that comes free first, in queue order; each one
 * before it then holds that slot for its own prompt and the median of what
 * its kind writes (spec tandem.md 5.1).
 *
 * Engine thread only; times in microseconds, handed in. An estimate sorts a
 * few hundred numbers twice for every running request: once a second, say,
 * not in every step.
 */
#ifndef ENGINE_ETA_H
#define ENGINE_ETA_H

#include <stdbool.h>
#include <stdint.h>

#define ETA_KINDS 2      /* thinking or not */
#define ETA_KEPT 256     /* finished requests remembered, of each kind */
#define ETA_FEW 5

struct eta_done { int32_t wrote; int64_t held_us; };

struct eta { /* zero at the start */
    struct eta_done done[ETA_KINDS][ETA_KEPT];
    uint32_t n[ETA_KINDS];   /* ever */
    double prefill_us;       /* of one row, smoothed; 0: not known */
    double decode_us;        /* from token to token, smoothed; 0: not known */
};

struct eta_run { /* one that holds a slot */
    int32_t kind;
    int32_t prompt_left;     /* rows */
    int32_t wrote, limit;    /* tokens */
    double token_us;         /* its own rate; 0: that of everybody */
    int64_t held_us;         /* so far */
};

struct eta_wait { /* one that waits, in queue order */
    int32_t kind;
    int32_t prompt, limit;   /* rows not known yet; tokens */
    int64_t eta_us;          /* out: until it starts; -1: not known */
};

void eta_finished(struct eta *e, int32_t kind, int32_t wrote,
                  int64_t held_us);
void eta_prefill(struct eta *e, int32_t rows, int64_t took_us);
void eta_decode(struct eta *e, int64_t took_us);

/* kind: 0 and up to ETA_KINDS - 1. slots: that may run together, at least 1;
 * those that are free count as free now, who runs beyond them (side lane,
 * last in run) counts for nothing. scratch: [2 * slots] */
void eta_estimate(const struct eta *e, const struct eta_run *run, int32_t n_run,
                  struct eta_wait *wait, int32_t n_wait, int32_t slots,
                  int64_t *scratch);

#endif
