#include "kernels/cpu/pack.h"

static bool is_float(enum kern_type t)
{
    return t == KERN_F32 || t == KERN_F16 || t == KERN_BF16;
}

size_t pack_tile_bytes(enum kern_type t, int32_t cols)
{
    size_t n = (size_t)cols;

    /* bf16 comes in pairs of columns */
    return PACK_ROWS * quant_bytes(t, t == KERN_BF16 ? n + n % 2 : n);
}

size_t pack_bytes(enum kern_type t, int32_t rows, int32_t cols)
{
    size_t tiles = ((size_t)rows + PACK_ROWS - 1) / PACK_ROWS;

    return tiles * pack_tile_bytes(t, cols);
}

/* Where a number of a float tile is, in bytes. */
static size_t float_at(enum kern_type t, int32_t lane, int32_t col)
{
    size_t l = (size_t)lane, c = (size_t)col;

    if (t == KERN_BF16)
        return 2 * (c / 2 * 2 * PACK_ROWS + 2 * l + c % 2);
    return (t == KERN_F32 ? 4 : 2) * (c * PACK_ROWS + l);
}

static void pack_float(enum kern_type t, uint8_t *dst, const uint8_t *src,
                       size_t row_bytes, int32_t rows, int32_t cols)
{
    size_t size = t == KERN_F32 ? 4 : 2;

    if (rows < PACK_ROWS || cols % 2)
        memset(dst, 0, pack_tile_bytes(t, cols));
    for (int32_t c = 0; c < cols; c++)
        for (int32_t l = 0; l < rows; l++) {
            const uint8_t *s = src + (size_t)l * row_bytes + (size_t)c * size;
            uint8_t *d = dst + float_at(t, l, c);

            /* the sizes are constants for the compiler's sake */
            if (t == KERN_F32)
                memcpy(d, s, 4);
            else
                memcpy(d, s, 2);
        }
}

void pack_tile(enum kern_type t, uint8_t *dst, const uint8_t *src,
               size_t row_bytes, int32_t rows, int32_t cols)
{
    BUG_ON(rows < 1 || rows > PACK_ROWS || !is_float(t));
    pack_float(t, dst, src, row_bytes, rows, cols);
}

void pack_row(enum kern_type t, const uint8_t *tile, int32_t cols, int32_t lane,
              float *dst)
{
    BUG_ON(lane < 0 || lane >= PACK_ROWS || !is_float(t));
    for (int32_t c = 0; c < cols; c++)
        kern_dequant(t, tile + float_at(t, lane, c), dst + c, 1);
}
