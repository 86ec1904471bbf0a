/*
 * kernels/cpu/lanes.h - sixteen lanes, the words that kernels are written in.
 *
 * Every kernel is one text (body_*.h) over the types and functions of this
 * page; an instruction set is a page of these functions (lanes_*.h) and one
 * file that includes the bodies (x86_avx512.c and so on). A lane is a weight
 * row, a cache position or a component of a head, never a share of one sum
 * but where vf_sum says so: each lane adds in ascending order. All operations
 * are exact or rounded once to nearest even, multiply-add included (vf_fma is
 * never two roundings), so every set computes the same bits; the tests
 * compare them. The one exception is a bf16 product (body_float.h).
 *
 * Types: vf 16 f32, vi 16 i32, vb 64 bytes as 16 groups of 4.
 *
 * The functions, all static inline, in each lanes_*.h:
 *
 *   vf_zero() vf_set(f)            every lane 0, f
 *   vf_dup(p)                      every lane *p, for more than one use
 *   vf_load(p) vf_store(p, v)      f32[16], any alignment
 *   vf_loadn(p, n)                 the first n of 16, the others 0; reads no
 *   vf_storen(p, v, n)             more than n, writes no more than n
 *   vf_add vf_sub vf_mul vf_div    (a, b)
 *   vf_fma(a, b, c)                a * b + c, rounded once
 *   vf_fnma(a, b, c)               c - a * b, rounded once
 *   vf_max vf_min                  (a, b); b where one is a NaN
 *   vf_abs vf_sqrt
 *   vf_round(v)                    to whole numbers, ties to even
 *   vf_keep(a, least, v)           v where a >= least, else 0
 *   vf_pow2(v)                     2^v for whole numbers from -126 to 127
 *   vf_sum(v)                      one float: lanes i and i + 8 are added,
 *                                  then i and i + 4, i + 2, i + 1
 *   vf_top(v)                      one float: the largest
 *   vf_peak(a, b)                  one float: the largest magnitude of both; a
 *                                  NaN where there is one
 *   vf_f16(p) vf_bf16(p)           f32 of 16 f16 or bf16 at p
 *   vf_to_f16(p, v)                16 f16 to p, ties to even
 *   vf_pair0(p) vf_pair1(p)        f32 of the first and the second of each of
 *                                  16 pairs of bf16 at p
 *   vf_u8(p) vf_i8(p)              f32 of 16 bytes at p
 *   vf_of(vi)                      f32 of i32, rounded to nearest even
 *   vi_of(v)                       i32 of f32, ties to even; |v| < 2^31
 *   vi_zero() vi_set(i) vi_add(a, b) vi_sub(a, b) vi_shl(a, n)
 *   vi_load(p) vi_store(p, v)      i32[16]
 *   vi_to_i8(p, v)                 16 int8 to p; v from -128 to 127
 *   vi_dot7(acc, w, x)             acc[i] += sum over j < 4 of
 *                                  w[4i + j] * x[j]: w from 0 to 127,
 *                                  x int8 from -127 to 127
 *   vi_dot8(acc, w, x)             the same, w from 0 to 255
 *   vh_of(acc) vh_dot(h, w, x) vh_into(acc, h)
 *                                  vi_dot7 in a row, for small w:
 *                                  h = vh_of(acc); h = vh_dot(h, w, x) so
 *                                  often that 254 * the largest w * times
 *                                  stays under 2^15; acc = vh_into(acc, h)
 *   vs_begin(neg) vs_dot(acc, w, x)
 *                                  vi_dot8 with w - 128 for w; neg is minus
 *                                  the sum of all x that will come
 *   vb_load(p) vb_store(p, v)      64 bytes
 *   vb_set(u8) vb_and vb_or vb_xor (a, b)
 *   vb_shr(v, n) vb_shl(v, n)      n < 8: each byte, zeros move in
 *   vb_shr_and(v, n, m)            vb_and(vb_shr(v, n), m) and the same with
 *   vb_shl_and(v, n, m)            vb_shl, in fewer instructions
 *   vb_nib(v)                      v & 15
 *   vb_look(t, v)                  t[v[i]]: v from 0 to 15, t 16 bytes
 *   vb_bcast16(p)                  16 bytes at p, four times
 *   vb_fetch(p)                    will be read soon; p need not be valid
 *   LANES_ROWS                     activation rows of a product kept in
 *                                  registers at once
 *   LANES_INT_ROWS                 the same, with a tile that is decoded for
 *                                  them on the way: 1, 2, 4 or 8 (LANES_ROWS)
 *   LANES_FLOAT_ROWS (1, 6 or 8), LANES_FLOAT_TILES (1 or 2)
 *                                  rows and tiles of a float product whose
 *                                  sums are in registers at once
 */
#ifndef KERNELS_CPU_LANES_H
#define KERNELS_CPU_LANES_H

#include <stdint.h>
#include <string.h>

#define LANES 16

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LANES_PLAIN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LANES_PLAIN
#endif
#endif

#if defined(LANES_AVX512) || defined(LANES_AVX2) || defined(LANES_NEON)
#define LANES_VECTORS
#endif

/* Plain C is for reading and for comparing, and compiles soon as loops. */
#if defined(LANES_PLAIN) || !defined(LANES_VECTORS)
#define UNROLL
#elif defined(__clang__)
/* plain "unroll" is a hint that it does not always take */
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/*
 * Bodies are templates: a format, a number of rows are constants where a body
 * is used. Under a sanitizer they are functions like others, or compiling
 * their checks would take minutes; the arithmetic is the same. Lanes of a
 * machine always become its instructions.
 */
#if defined(LANES_PLAIN) && !defined(LANES_VECTORS)
#define INLINE static __attribute__((unused))
#else
#define INLINE static inline __attribute__((always_inline, unused))
#endif

#if defined(LANES_AVX512)
#include "kernels/cpu/lanes_avx512.h"
#elif defined(LANES_AVX2)
#include "kernels/cpu/lanes_avx2.h"
#elif defined(LANES_NEON)
#include "kernels/cpu/lanes_neon.h"
#else
#include "kernels/cpu/lanes_c.h"
#endif

/* Where 16-bit sums or signed numbers give nothing. */
#ifndef LANES_HALVES
typedef vi vh;

INLINE vh vh_of(vi acc)
{
    return acc;
}

INLINE vh vh_dot(vh h, vb w, const int8_t *x)
{
    return vi_dot7(h, w, x);
}

INLINE vi vh_into(vi acc, vh h)
{
    (void)acc;
    return h;
}

INLINE vi vs_begin(int32_t neg)
{
    return vi_shl(vi_set(neg), 7);
}

INLINE vi vs_dot(vi acc, vb w, const int8_t *x)
{
    return vi_dot8(acc, w, x);
}
#endif

#ifndef LANES_INT_ROWS
#define LANES_INT_ROWS LANES_ROWS
#endif

#ifdef LANES_PLAIN
#undef INLINE
#define INLINE static __attribute__((unused))
#endif

/*
 * exp: x = n ln 2 + r with |r| <= ln 2 / 2, a Taylor polynomial of degree 7
 * in r (its remainder is under 6e-9), times 2^n. ln 2 is split so that n
 * times its upper part is exact. Within 1 ulp from -87.3 to 88.3, 0 below,
 * exp(88.3) above.
 */
INLINE vf vf_exp(vf x)
{
    const vf low = vf_set(-87.3f);
    vf y = vf_min(vf_max(x, low), vf_set(88.3f)), n, r, p;

    n = vf_round(vf_mul(y, vf_set(1.44269504f)));
    r = vf_fnma(n, vf_set(0x1.62e4p-1f), y);
    r = vf_fnma(n, vf_set(0x1.7f7d1cp-20f), r);
    p = vf_fma(vf_set(1.0f / 5040), r, vf_set(1.0f / 720));
    p = vf_fma(p, r, vf_set(1.0f / 120));
    p = vf_fma(p, r, vf_set(1.0f / 24));
    p = vf_fma(p, r, vf_set(1.0f / 6));
    p = vf_fma(p, r, vf_set(0.5f));
    p = vf_fma(p, r, vf_set(1.0f));
    p = vf_fma(p, r, vf_set(1.0f));
    return vf_keep(x, low, vf_mul(p, vf_pow2(n)));
}

#endif
