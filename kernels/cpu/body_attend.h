/*
 * kernels/cpu/body_attend.h - the cache and attention over it. See isa.h.
 *
 * A query goes through its pages in ascending order. Of a page:
 *   scores   a lane per position: from 0, multiply-add of q[d] and k[d] in
 *            ascending d. Q8_0: so for 32 components each, then score =
 *            scale * that + score. At the end times the scores' scale.
 *   max      of the scores up to here, page by page; what was summed before
 *            is multiplied by keep = exp(old max - new max)
 *   weights  p = exp(score - max); their sum is sixteen lanes, lane l taking
 *            positions l, l + 16, ..., then vf_sum, added to sum * keep
 *   values   a lane per component: out = out * keep, then multiply-add of p
 *            and v in ascending positions. Q8_0: of p * scale and v.
 * Last out * (1 / sum). Nothing of that depends on the other queries.
 *
 * Few queries read the cache as it is. Many (ATTEND_GROUP and up, in blocks
 * of ATTEND_BLOCK) share one decoding of each page: f32 of the same numbers,
 * so the same bits.
 *
 * Positions that a query does not see may hold anything. Their scores are
 * replaced before use, their values are never read.
 */
#ifndef KERNELS_CPU_BODY_ATTEND_H
#define KERNELS_CPU_BODY_ATTEND_H

#include "kernels/cpu/isa.h"
#include "kernels/cpu/lanes.h"

#include <math.h>

#define ATTEND_GROUP 6   /* queries that share a loaded vector, at most */
#define ATTEND_BLOCK 128 /* queries that share a decoded page, at most */
#define KV_BLOCK 32      /* components that share a Q8_0 scale */
#define KV_DIM_MAX 512

/* Sums kept in registers. */
#ifdef LANES_AVX512
#define ATTEND_SUMS 24
#else
#define ATTEND_SUMS 6
#endif

/* --- writing the cache -------------------------------------------------- */

static void kv_put_f16(uint8_t *k, uint8_t *v, int32_t dim, int32_t at,
                       const float *key, const float *val)
{
    uint16_t *kd = (uint16_t *)(void *)k + at;
    uint16_t *vd = (uint16_t *)(void *)v + (size_t)at * (size_t)dim;
    uint16_t h[LANES];

    for (int32_t d = 0; d < dim; d += LANES) {
        int n = dim - d < LANES ? dim - d : LANES;

        vf_to_f16(h, vf_loadn(key + d, n));
        for (int i = 0; i < n; i++)
            kd[(d + i) * KV_PAGE] = h[i];
        vf_to_f16(h, vf_loadn(val + d, n));
        memcpy(vd + d, h, (size_t)n * sizeof(*h));
    }
}

/*
 * n <= 32 components to int8, `step` apart; returns the f16 scale. With the
 * largest magnitude a: scale = f16 of min(a / 127, 65504), q = x / scale
 * rounded to even and clamped to -127..127; 0 where the scale is.
 */
INLINE uint16_t kv_round(const float *x, int n, int8_t *q, size_t step)
{
    int low = n < LANES ? n : LANES;
    vf part[2] = {vf_loadn(x, low), vf_zero()};
    const vf least = vf_set(-127.0f), most = vf_set(127.0f);
    int32_t whole[2 * LANES];
    uint16_t h[LANES];
    float scale;

    if (n > LANES)
        part[1] = vf_loadn(x + LANES, n - LANES);
    scale = vf_top(vf_max(vf_abs(part[0]), vf_abs(part[1]))) / 127.0f;
    vf_to_f16(h, vf_min(vf_set(scale), vf_set(65504.0f)));
    scale = quant_f16_f32(h[0]);
    for (int i = 0; i < 2; i++) {
        vf v = vf_round(vf_div(part[i], vf_set(scale)));

        vi_store(whole + i * LANES, vi_of(vf_min(vf_max(v, least), most)));
    }
    for (int i = 0; i < n; i++)
        q[(size_t)i * step] = scale > 0 ? (int8_t)whole[i] : 0;
    return h[0];
}

static void kv_put_q8(uint8_t *k, uint8_t *v, int32_t dim, int32_t at,
                      const float *key, const float *val)
{
    size_t all = (size_t)dim * KV_PAGE;
    int32_t blocks = (dim + KV_BLOCK - 1) / KV_BLOCK;
    uint16_t *ks = (uint16_t *)(void *)(k + all) + at;
    uint16_t *vs = (uint16_t *)(void *)(v + all) + at * blocks;
    int8_t *kq = (int8_t *)k + at;
    int8_t *vq = (int8_t *)v + (size_t)at * (size_t)dim;

    for (int32_t b = 0; b < blocks; b++) {
        int32_t d = b * KV_BLOCK;
        int n = dim - d < KV_BLOCK ? dim - d : KV_BLOCK;

        ks[b * KV_PAGE] =
            kv_round(key + d, n, kq + (size_t)d * KV_PAGE, KV_PAGE);
        vs[b] = kv_round(val + d, n, vq + d, 1);
    }
}

static void kv_put(enum kern_type type, uint8_t *k, uint8_t *v, int32_t dim,
                   int32_t at, const float *key, const float *val)
{
    if (type == KERN_Q8_0)
        kv_put_q8(k, v, dim, at, key, val);
    else
        kv_put_f16(k, v, dim, at, key, val);
}

/* --- one page ------------------------------------------------------------ */

enum attend_from { ATTEND_F32, ATTEND_F16, ATTEND_I8 };

/* A page as it is read, either in the cache or decoded. */
struct attend_page {
    enum attend_from from;
    const void *k;      /* [dim][KV_PAGE] */
    const void *v;      /* [KV_PAGE][ldv] */
    size_t ldv;         /* multiple of LANES */
    const uint16_t *ks; /* f16 [blocks][KV_PAGE]; NULL: no scales */
    const float *vs;    /* [blocks][KV_PAGE] */
    int32_t dim;
    const void *next_k; /* of the page that follows; NULL: none */
};

/* Bytes that a row of n numbers of the cache takes. */
INLINE int attend_bytes(const enum attend_from from, int n)
{
    return from == ATTEND_F16 ? 2 * n : n;
}

/* Part i of an array: a share of the next one is fetched while a share of
 * this one is worked on, so that memory is never idle. */
INLINE void attend_fetch(const void *p, int32_t i, int32_t bytes)
{
    const uint8_t *b = (const uint8_t *)p + i * bytes;

    for (int32_t at = 0; at < bytes; at += 64)
        vb_fetch(b + at);
}

INLINE vf attend_take(const enum attend_from from, const void *p, size_t i)
{
    if (from == ATTEND_F32)
        return vf_load((const float *)p + i);
    if (from == ATTEND_F16)
        return vf_f16((const uint16_t *)p + i);
    return vf_i8((const int8_t *)p + i);
}

/* Vectors side by side for nq queries. */
INLINE int attend_wide(const int nq)
{
    return 4 * nq <= ATTEND_SUMS ? 4 : 2 * nq <= ATTEND_SUMS ? 2 : 1;
}

/* Scores of components d0 to d1 at positions from `at`; with scales they are
 * added to those of the components before. */
INLINE void score_tile(const enum attend_from from, const int wide,
                       const int nq, const struct attend_page *g, int32_t at,
                       int32_t d0, int32_t d1, const float *const *q, float *s)
{
    vf sum[ATTEND_GROUP][4], kv[4];

    UNROLL
    for (int r = 0; r < nq; r++)
        UNROLL
    for (int i = 0; i < wide; i++)
        sum[r][i] = vf_zero();
    for (int32_t d = d0; d < d1; d++) {
        UNROLL
        for (int i = 0; i < wide; i++)
            kv[i] =
                attend_take(from, g->k, (size_t)(d * KV_PAGE + at + LANES * i));
        UNROLL
        for (int r = 0; r < nq; r++) {
            vf x = vf_set(q[r][d]);

            UNROLL
            for (int i = 0; i < wide; i++)
                sum[r][i] = vf_fma(x, kv[i], sum[r][i]);
        }
    }
    UNROLL
    for (int r = 0; r < nq; r++)
        UNROLL
    for (int i = 0; i < wide; i++) {
        float *y = s + r * KV_PAGE + at + LANES * i;

        if (g->ks)
            sum[r][i] =
                vf_fma(vf_f16(g->ks + d0 / KV_BLOCK * KV_PAGE + at + LANES * i),
                       sum[r][i], d0 ? vf_load(y) : vf_zero());
        vf_store(y, sum[r][i]);
    }
}

INLINE void score_group(const enum attend_from from, const int nq,
                        const struct attend_page *g, const float *const *q,
                        float *s)
{
    const int wide = attend_wide(nq);
    int32_t step = g->ks ? KV_BLOCK : g->dim;

    for (int32_t at = 0; at < KV_PAGE; at += LANES * wide)
        for (int32_t d = 0; d < g->dim; d += step) {
            int32_t end = d + step < g->dim ? d + step : g->dim;

            score_tile(from, wide, nq, g, at, d, end, q, s);
        }
}

/* Components d to d + 16 * wide of one query each: times keep (NULL: are 0),
 * plus the values of positions j0 to j1 with weights p. */
INLINE void value_tile(const enum attend_from from, const int wide,
                       const int nq, const struct attend_page *g, int32_t j0,
                       int32_t j1, const float *p, const float *keep,
                       float *const *out, int32_t d)
{
    const bool fetch = from != ATTEND_F32 && d == 0 && g->next_k;
    vf sum[ATTEND_GROUP][4], vv[4];

    UNROLL
    for (int r = 0; r < nq; r++)
        UNROLL
    for (int i = 0; i < wide; i++)
        sum[r][i] =
            keep ? vf_mul(vf_load(out[r] + d + LANES * i), vf_set(keep[r]))
                 : vf_zero();
    for (int32_t j = j0; j < j1; j++) {
        if (fetch)
            attend_fetch(g->next_k, j, attend_bytes(from, g->dim));
        UNROLL
        for (int i = 0; i < wide; i++)
            vv[i] = attend_take(from, g->v,
                                (size_t)j * g->ldv + (size_t)(d + LANES * i));
        UNROLL
        for (int r = 0; r < nq; r++) {
            vf x = vf_set(p[r * KV_PAGE + j]);

            UNROLL
            for (int i = 0; i < wide; i++)
                sum[r][i] = vf_fma(x, vv[i], sum[r][i]);
        }
    }
    UNROLL
    for (int r = 0; r < nq; r++)
        UNROLL
    for (int i = 0; i < wide; i++)
        vf_store(out[r] + d + LANES * i, sum[r][i]);
}

/* The last components of a head that is no multiple of 16. */
INLINE void value_tail(const int nq, const struct attend_page *g, int32_t j0,
                       int32_t j1, const float *p, const float *keep,
                       float *const *out, int32_t d)
{
    float room[ATTEND_GROUP][LANES] = {{0}}, *to[ATTEND_GROUP];
    size_t bytes = (size_t)(g->dim - d) * sizeof(float);
    struct attend_page t = *g;

    t.v = (const float *)g->v + d;
    for (int r = 0; r < nq; r++) {
        to[r] = room[r];
        if (keep)
            memcpy(room[r], out[r] + d, bytes);
    }
    value_tile(ATTEND_F32, 1, nq, &t, j0, j1, p, keep, to, 0);
    for (int r = 0; r < nq; r++)
        memcpy(out[r] + d, room[r], bytes);
}

INLINE void value_span(const enum attend_from from, const int wide,
                       const int nq, const struct attend_page *g, int32_t j0,
                       int32_t j1, const float *p, const float *keep,
                       float *const *out, int32_t d, int32_t end)
{
    for (; d + LANES * wide <= end; d += LANES * wide)
        value_tile(from, wide, nq, g, j0, j1, p, keep, out, d);
    for (; wide > 1 && d + LANES <= end; d += LANES)
        value_tile(from, 1, nq, g, j0, j1, p, keep, out, d);
    if (from == ATTEND_F32 && d < end)
        value_tail(nq, g, j0, j1, p, keep, out, d);
}

INLINE void value_group(const enum attend_from from, const int nq,
                        const struct attend_page *g, int32_t j0, int32_t j1,
                        const float *p, const float *keep, float *const *out)
{
    const int wide = attend_wide(nq);
    float scaled[ATTEND_GROUP * KV_PAGE];

    if (!g->vs) {
        value_span(from, wide, nq, g, j0, j1, p, keep, out, 0, g->dim);
        return;
    }
    for (int32_t d = 0; d < g->dim; d += KV_BLOCK) {
        const float *vs = g->vs + d / KV_BLOCK * KV_PAGE;
        int32_t end = d + KV_BLOCK < g->dim ? d + KV_BLOCK : g->dim;

        for (int i = 0; i < nq * KV_PAGE; i += LANES)
            vf_store(scaled + i,
                     vf_mul(vf_load(p + i), vf_load(vs + i % KV_PAGE)));
        value_span(from, wide < 2 ? wide : 2, nq, g, j0, j1, scaled, keep, out,
                   d, end);
    }
}

/* Groups of 6, 4, 2 and 1 queries have code. */
INLINE int attend_group(int32_t left)
{
    return left >= 6 ? 6 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

/* Where speed is not the point one code for all of them compiles sooner. */
#if defined(LANES_PLAIN) || !defined(LANES_VECTORS)
#define ATTEND_SIZES(fn, from, nq, ...) fn(from, nq, __VA_ARGS__);
#else
#define ATTEND_SIZES(fn, from, nq, ...)                                        \
    switch (nq) {                                                              \
    case 6:                                                                    \
        fn(from, 6, __VA_ARGS__);                                              \
        break;                                                                 \
    case 4:                                                                    \
        fn(from, 4, __VA_ARGS__);                                              \
        break;                                                                 \
    case 2:                                                                    \
        fn(from, 2, __VA_ARGS__);                                              \
        break;                                                                 \
    default:                                                                   \
        fn(from, 1, __VA_ARGS__);                                              \
    }
#endif

static void attend_scores(int nq, const struct attend_page *g,
                          const float *const *q, float *s)
{
    if (g->from == ATTEND_F32) {
        ATTEND_SIZES(score_group, ATTEND_F32, nq, g, q, s)
    } else if (g->from == ATTEND_F16) {
        ATTEND_SIZES(score_group, ATTEND_F16, nq, g, q, s)
    } else {
        ATTEND_SIZES(score_group, ATTEND_I8, nq, g, q, s)
    }
}

static void attend_values(int nq, const struct attend_page *g, int32_t j0,
                          int32_t j1, const float *p, const float *keep,
                          float *const *out)
{
    if (g->from == ATTEND_F32) {
        ATTEND_SIZES(value_group, ATTEND_F32, nq, g, j0, j1, p, keep, out)
    } else if (g->from == ATTEND_F16) {
        ATTEND_SIZES(value_group, ATTEND_F16, nq, g, j0, j1, p, keep, out)
    } else {
        ATTEND_SIZES(value_group, ATTEND_I8, nq, g, j0, j1, p, keep, out)
    }
}

/* The first `see` scores of a page become weights, the others 0. Returns
 * what sums up to here are to be multiplied by. */
INLINE float attend_softmax(float *s, int32_t see, float scale, float *max,
                            float *sum)
{
    static const float lane[LANES] = {0, 1, 2,  3,  4,  5,  6,  7,
                                      8, 9, 10, 11, 12, 13, 14, 15};
    vf x[4], top, total = vf_zero();
    float old = *max, keep = 1, got;

    for (int i = 0; i < 4; i++) {
        x[i] = vf_mul(vf_load(s + LANES * i), vf_set(scale));
        if (see < KV_PAGE) {
            /* whatever is there becomes 0, then minus infinity */
            vf last = vf_set((float)(see - 1 - LANES * i));
            vf at = vf_load(lane);

            x[i] =
                vf_sub(vf_keep(last, at, x[i]),
                       vf_keep(at, vf_add(last, vf_set(1)), vf_set(INFINITY)));
        }
    }
    top = vf_max(vf_max(x[0], x[1]), vf_max(x[2], x[3]));
    got = vf_top(top);
    *max = got > old ? got : old;
    for (int i = 0; i < 4; i++) {
        vf p = vf_exp(vf_sub(x[i], vf_set(*max)));

        vf_store(s + LANES * i, p);
        total = vf_add(total, p);
    }
    /* exp(0) is 1 */
    if (*max != old)
        keep = vf_top(vf_exp(vf_set(old - *max)));
    *sum = *sum * keep + vf_sum(total);
    return keep;
}

/* --- many pages --------------------------------------------------------- */

/* The parts of a thread's scratch. */
struct attend_room {
    float k[KV_DIM_MAX * KV_PAGE]; /* decoded page */
    float v[KV_PAGE * KV_DIM_MAX];
    float vs[KV_DIM_MAX / KV_BLOCK * KV_PAGE];
    float row[KV_DIM_MAX / KV_BLOCK * KV_PAGE];
    float p[ATTEND_BLOCK * KV_PAGE]; /* scores, then weights */
    float max[ATTEND_BLOCK], sum[ATTEND_BLOCK], keep[ATTEND_BLOCK];
};

_Static_assert(sizeof(struct attend_room) <= CPU_SCRATCH, "too much scratch");

INLINE void attend_decode_all(const enum attend_from from, float *dst,
                              const void *src, size_t n)
{
    for (size_t i = 0; i < n; i += LANES)
        vf_store(dst + i, attend_take(from, src, i));
}

/* Rows of values whose length is no multiple of 16. */
INLINE void attend_decode_rows(const enum attend_from from, float *dst,
                               size_t ldv, const uint8_t *src, size_t dim,
                               size_t rows)
{
    size_t size = from == ATTEND_F16 ? 2 : 1, body = dim / LANES * LANES;
    float tail[LANES] = {0}; /* bytes of any type */

    for (size_t j = 0; j < rows; j++, dst += ldv, src += dim * size) {
        attend_decode_all(from, dst, src, body);
        memcpy(tail, src + body * size, (dim - body) * size);
        vf_store(dst + body, attend_take(from, tail, 0));
    }
}

/* The first `see` positions of a page, decoded into the scratch. */
INLINE void attend_decode(const enum attend_from from, struct attend_page *g,
                          struct attend_room *room, int32_t see)
{
    size_t dim = (size_t)g->dim, rows = (size_t)see;

    attend_decode_all(from, room->k, g->k, dim * KV_PAGE);
    g->ldv = (dim + LANES - 1) / LANES * LANES;
    if (g->ldv == dim)
        attend_decode_all(from, room->v, g->v, dim * rows);
    else
        attend_decode_rows(from, room->v, g->ldv, g->v, dim, rows);
    g->k = room->k;
    g->v = room->v;
    g->from = ATTEND_F32;
}

/* Scales of values, turned so that positions are neighbours. */
static void attend_scales(struct attend_room *room, const uint16_t *src,
                          size_t blocks)
{
    attend_decode_all(ATTEND_F16, room->row, src, blocks * KV_PAGE);
    for (size_t b = 0; b < blocks; b++)
        for (size_t j = 0; j < KV_PAGE; j++)
            room->vs[b * KV_PAGE + j] = room->row[j * blocks + b];
}

/* Positions of page i that a query sees. */
INLINE int32_t attend_sees(int32_t pos, int32_t i)
{
    int32_t n = pos - i * KV_PAGE + 1;

    return n < 0 ? 0 : n > KV_PAGE ? KV_PAGE : n;
}

/* Page i of a sequence that is looked at up to position `last`. */
static void attend_open(struct attend_page *g, const struct cpu_attend *a,
                        int32_t i, int32_t last, bool many,
                        struct attend_room *room)
{
    size_t off = (size_t)a->pages[i] * a->page, dim = (size_t)a->head_dim;
    size_t blocks = (dim + KV_BLOCK - 1) / KV_BLOCK;
    int32_t see = attend_sees(last, i);

    *g = (struct attend_page){.from = ATTEND_F16,
                              .k = a->k + off,
                              .v = a->v + off,
                              .ldv = dim,
                              .dim = a->head_dim};
    if (i < last / KV_PAGE)
        g->next_k = a->k + (size_t)a->pages[i + 1] * a->page;
    if (a->type == KERN_Q8_0) {
        g->from = ATTEND_I8;
        g->ks = (const void *)(a->k + off + dim * KV_PAGE);
        g->vs = room->vs;
        attend_scales(room, (const void *)(a->v + off + dim * KV_PAGE), blocks);
    }
    if (many && g->from == ATTEND_F16)
        attend_decode(ATTEND_F16, g, room, see);
    else if (many)
        attend_decode(ATTEND_I8, g, room, see);
}

/* What all of a group see is added for them together, the rest for each. */
static void attend_add(const struct attend_page *g, int nq, int32_t page,
                       const int32_t *pos, const float *p, const float *keep,
                       float *const *out)
{
    const float one = 1;
    int32_t all = KV_PAGE;

    for (int r = 0; r < nq; r++) {
        int32_t n = attend_sees(pos[r], page);

        all = n < all ? n : all;
    }
    if (all)
        attend_values(nq, g, 0, all, p, page ? keep : NULL, out);
    for (int r = 0; r < nq; r++) {
        int32_t n = attend_sees(pos[r], page);

        if (n > all)
            attend_values(1, g, all, n, p + r * KV_PAGE,
                          all    ? &one
                          : page ? keep + r
                                 : NULL,
                          out + r);
    }
}

static void attend_block(const struct cpu_attend *a, int32_t first, int32_t n,
                         struct attend_room *room)
{
    const float *const *q = a->q + first;
    float *const *out = a->out + first;
    const int32_t *pos = a->pos + first;
    bool many = n > ATTEND_GROUP || a->head_dim % LANES;
    int32_t last = 0;

    for (int32_t i = 0; i < n; i++) {
        last = pos[i] > last ? pos[i] : last;
        room->max[i] = -INFINITY;
        room->sum[i] = 0;
    }
    for (int32_t page = 0; page <= last / KV_PAGE; page++) {
        struct attend_page g;
        int nq;

        attend_open(&g, a, page, last, many, room);
        for (int32_t i = 0; i < n; i += nq) {
            bool seen = false;

            nq = attend_group(n - i);
            for (int r = 0; r < nq; r++)
                seen |= pos[i + r] >= page * KV_PAGE;
            if (seen)
                attend_scores(nq, &g, q + i, room->p + i * KV_PAGE);
        }
        for (int32_t i = 0; i < n; i++)
            if (pos[i] >= page * KV_PAGE)
                room->keep[i] = attend_softmax(
                    room->p + i * KV_PAGE, attend_sees(pos[i], page), a->scale,
                    &room->max[i], &room->sum[i]);
        for (int32_t i = 0; i < n; i += nq) {
            nq = attend_group(n - i);
            attend_add(&g, nq, page, pos + i, room->p + i * KV_PAGE,
                       room->keep + i, out + i);
        }
    }
}

static void attend(const struct cpu_attend *a, void *scratch)
{
    struct attend_room *room = scratch;

    for (int32_t i = 0; i < a->n; i += ATTEND_BLOCK) {
        int32_t n = a->n - i < ATTEND_BLOCK ? a->n - i : ATTEND_BLOCK;

        attend_block(a, i, n, room);
        for (int32_t r = 0; r < n; r++) {
            vf f = vf_set(1.0f / room->sum[r]);
            float *y = a->out[i + r];

            for (int32_t d = 0; d < a->head_dim; d += LANES) {
                int w = a->head_dim - d < LANES ? a->head_dim - d : LANES;

                vf_storen(y + d, vf_mul(vf_loadn(y + d, w), f), w);
            }
        }
    }
}

#endif
