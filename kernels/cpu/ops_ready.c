/* Rows before a product, and how work is cut. */
#include "kernels/cpu/cpu.h"

#include "base/mem.h"

static size_t up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

void cpu_ready_room(struct cpu *c, struct cpu_ready *r, int32_t rows,
                    int32_t cols)
{
    size_t n = cpu_zu(rows), ldq = up(cpu_zu(cols), 64), all = n * ldq;
    size_t sums = all / 32 * CPU_SUMS;
    size_t bytes = all + (all + all / 32 + 2 * sums) * 4 + 4 * 64;

    if (n * ldq <= r->rows * r->ldq)
        return;
    pool_quiet(c->pool);
    r->rows = n;
    r->ldq = ldq;
    r->x.q = cpu_room(c, &r->heap, r->bytes, bytes);
    r->bytes = bytes;
}

void cpu_ready_shape(struct cpu_ready *r, const struct cpu_wish *w)
{
    size_t ldq = up(cpu_zu(w->cols), 64);
    size_t n = r->rows * r->ldq / ldq; /* rows of this width */
    uint8_t *at = (uint8_t *)r->x.q;

    at += n * ldq;
    r->normed = (float *)(void *)at;
    at += n * ldq * sizeof(float);
    r->x.d = (float *)(void *)at;
    at += up(n * (ldq / 32) * sizeof(float), 64);
    r->x.neg = (int32_t *)(void *)at;
    at += up(n * (ldq / 32) * CPU_SUMS * sizeof(float), 64);
    r->x.ds = (float *)(void *)at;
    r->x.cols = w->cols;
    r->x.ldq = ldq;
    r->x.ldf = cpu_zu(w->cols);
    r->x.f = w->norm ? r->normed : w->x;
}

void cpu_ready_make(const struct cpu_x *x, float *normed,
                    const struct cpu_wish *w, int32_t row, int32_t n)
{
    for (size_t r = cpu_zu(row); r < cpu_zu(row) + cpu_zu(n); r++) {
        size_t b = r * (x->ldq / 32);
        const float *f = w->x + r * x->ldf;

        if (w->norm) {
            w->isa->norm(normed + r * x->ldf, f, w->norm, w->cols, w->eps);
            f = normed + r * x->ldf;
        }
        if (w->flags & CPU_ROUND)
            w->isa->round(f, w->cols, x->ldq, x->q + r * x->ldq, x->d + b,
                          x->neg + b * CPU_SUMS, x->ds + b * CPU_SUMS);
    }
}

static int64_t size(int64_t left, int members, int64_t least, int64_t most)
{
    int64_t n = left / (2 * members) / least * least;

    n = n < least ? least : n > most ? most : n;
    return n < left ? n : left;
}

int32_t cpu_chunks(int64_t items, int members, int64_t least, int64_t most)
{
    int32_t n = 0;

    for (; items > 0; n++)
        items -= size(items, members, least, most);
    return n;
}

void cpu_chunk(int64_t items, int members, int64_t least, int64_t most,
               int32_t chunk, int64_t *lo, int64_t *hi)
{
    int64_t at = 0;

    for (; chunk; chunk--)
        at += size(items - at, members, least, most);
    *lo = at;
    *hi = at + size(items - at, members, least, most);
}
