/*
 * kernels/cpu/body_decode.h - packed quantised weights to a struct cpu_wide:
 * bytes and f32 scales of a stretch of columns of one or two tiles. See
 * isa.h.
 *
 * With WIDE_SIGNED, for a product of signed bytes, the offset is subtracted
 * from the bytes here and shift is -1.
 */
#ifndef KERNELS_CPU_BODY_DECODE_H
#define KERNELS_CPU_BODY_DECODE_H

#include "kernels/cpu/body_quads.h"

#define WIDE_BLOCKS (CPU_WIDE_COLS / 32)
#define WIDE_QUADS ((size_t)CPU_WIDE_COLS * PACK_ROWS) /* bytes of a tile */
#define WIDE_SCALES ((size_t)WIDE_BLOCKS * 2 * PACK_ROWS)

/* Bytes of scratch that a struct cpu_wide takes. */
#define WIDE_BYTES                                                             \
    (CPU_WIDE_TILES * (WIDE_QUADS + 2 * WIDE_SCALES * sizeof(float)))

static void wide_form(enum kern_type t, struct cpu_wide *w)
{
    w->parts = quad_parts(t);
    w->min = quad_has_min(t);
    w->seven = quad_seven(t);
#ifdef WIDE_SIGNED
    w->shift = -1;
#else
    w->shift = quad_shift(t);
#endif
}

INLINE void wide_place(struct cpu_wide *w, uint8_t *scratch)
{
    w->q = scratch;
    w->scale = (float *)(void *)(scratch + CPU_WIDE_TILES * WIDE_QUADS);
    w->mins = w->scale + CPU_WIDE_TILES * WIDE_SCALES;
}

INLINE void wide_quad(enum kern_type t, const uint8_t *q, int v, uint8_t *to)
{
    vb w = quad(t, q, v);

#ifdef WIDE_SIGNED
    if (quad_shift(t) == 7)
        w = vb_xor(w, vb_set(128));
    else if (quad_shift(t) >= 0)
        w = _mm512_sub_epi8(w, vb_set((uint8_t)(1 << quad_shift(t))));
#endif
    vb_store(to, w);
}

/* `cols` columns of a tile, whole records. */
INLINE void wide_tile(enum kern_type t, const uint8_t *rec, int32_t cols,
                      uint8_t *q, float *scale, float *mins)
{
    const int parts = quad_parts(t), groups = pack_groups(t);

    for (int32_t c = 0; c < cols; c += 32 * groups) {
        const uint8_t *from = rec + pack_head_bytes(t);
        struct quad_head h;

        quad_open(t, rec, &h);
        rec += pack_record_bytes(t);
        for (int g = 0; g < groups; g++, from += pack_group_bytes(t)) {
            UNROLL
            for (int v = 0; v < 8; v++, q += 64)
                wide_quad(t, from, v, q);
            UNROLL
            for (int p = 0; p < parts; p++, scale += LANES, mins += LANES) {
                vf_store(scale, quad_scale(t, &h, g, p));
                if (quad_has_min(t))
                    vf_store(mins, quad_min(t, &h, g, p));
            }
        }
    }
}

#define WIDE_TYPE(name, type)                                                  \
    static __attribute__((noinline)) void name(const uint8_t *rec,             \
                                               int32_t cols, uint8_t *q,       \
                                               float *scale, float *mins)      \
    {                                                                          \
        wide_tile(type, rec, cols, q, scale, mins);                            \
    }
WIDE_TYPE(wide_q8_0, KERN_Q8_0)
WIDE_TYPE(wide_q4_0, KERN_Q4_0)
WIDE_TYPE(wide_q4_1, KERN_Q4_1)
WIDE_TYPE(wide_q5_0, KERN_Q5_0)
WIDE_TYPE(wide_q5_1, KERN_Q5_1)
WIDE_TYPE(wide_q2_k, KERN_Q2_K)
WIDE_TYPE(wide_q3_k, KERN_Q3_K)
WIDE_TYPE(wide_q4_k, KERN_Q4_K)
WIDE_TYPE(wide_q5_k, KERN_Q5_K)
WIDE_TYPE(wide_q6_k, KERN_Q6_K)
WIDE_TYPE(wide_iq4_nl, KERN_IQ4_NL)
WIDE_TYPE(wide_iq4_xs, KERN_IQ4_XS)
WIDE_TYPE(wide_mxfp4, KERN_MXFP4)
#undef WIDE_TYPE

typedef void wide_tile_fn(const uint8_t *rec, int32_t cols, uint8_t *q,
                          float *scale, float *mins);

static wide_tile_fn *wide_decoder(enum kern_type t)
{
    switch (t) {
    case KERN_Q8_0:
        return wide_q8_0;
    case KERN_Q4_0:
        return wide_q4_0;
    case KERN_Q4_1:
        return wide_q4_1;
    case KERN_Q5_0:
        return wide_q5_0;
    case KERN_Q5_1:
        return wide_q5_1;
    case KERN_Q2_K:
        return wide_q2_k;
    case KERN_Q3_K:
        return wide_q3_k;
    case KERN_Q4_K:
        return wide_q4_k;
    case KERN_Q5_K:
        return wide_q5_k;
    case KERN_Q6_K:
        return wide_q6_k;
    case KERN_IQ4_NL:
        return wide_iq4_nl;
    case KERN_IQ4_XS:
        return wide_iq4_xs;
    case KERN_MXFP4:
        return wide_mxfp4;
    default:
        BUG_ON("weight type without a decoder");
        return NULL;
    }
}

/*
 * Columns c0 to c0 + w->cols - 1 of w->tiles tiles at `tile`, tile_bytes
 * apart. c0 is a multiple of CPU_WIDE_COLS.
 */
static void wide_decode(enum kern_type type, struct cpu_wide *w,
                        const uint8_t *tile, size_t tile_bytes, int32_t c0)
{
    wide_tile_fn *fn = wide_decoder(type);
    size_t q = (size_t)w->cols * PACK_ROWS;
    size_t scales = (size_t)w->cols / 32 * (size_t)w->parts * PACK_ROWS;

    tile += pack_tile_bytes(type, c0);
    for (size_t t = 0; t < (size_t)w->tiles; t++)
        fn(tile + t * tile_bytes, w->cols, w->q + t * q, w->scale + t * scales,
           w->mins + t * scales);
}

#endif
