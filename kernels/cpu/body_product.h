/* kernels/cpu/body_product.h - which product computes what. See isa.h. */
#ifndef KERNELS_CPU_BODY_PRODUCT_H
#define KERNELS_CPU_BODY_PRODUCT_H

#include "kernels/cpu/body_float.h"
#include "kernels/cpu/body_int.h"
#include "kernels/cpu/body_wide.h"

static void product(enum kern_type t, const uint8_t *w, int32_t tiles,
                    const struct cpu_x *x, int32_t r0, int32_t rows, float *y,
                    size_t ldy, void *scratch)
{
    if (pack_float(t))
        float_product(t, w, tiles, x, r0, rows, y, ldy, scratch);
    else if (rows < WIDE_ROWS)
        int_product(t, w, tiles, x, r0, rows, y, ldy);
    else
        wide_product(t, w, tiles, x, r0, rows, y, ldy, scratch);
}

#endif
