/*
 * Packed tiles: every row comes back as kern_dequant decodes it from the
 * file's blocks, whatever the bytes are; a tile has the size of its rows.
 */
#include "base/mem.h"
#include "t/lib/blocks.h"
#include "t/lib/tap.h"

#define COLS 768

static float want[COLS], got[COLS];

/* One tile of so many rows, which lie `gap` bytes apart. */
static bool tile_is_right(const struct block_type *b, int32_t rows,
                          int32_t cols, size_t gap)
{
    size_t row = quant_bytes(b->type, (size_t)cols), apart = row + gap;
    size_t bytes = pack_tile_bytes(b->type, cols);
    uint8_t *file = mem_zalloc(apart * (size_t)rows);
    uint8_t *tile = mem_zalloc(bytes);
    bool right = true;
    int32_t elems, size;

    BUG_ON(!kern_type_block(b->type, &elems, &size));
    memset(tile, 0xa5, bytes);
    for (int32_t r = 0; r < rows; r++)
        block_fill(b, file + (size_t)r * apart, (size_t)(cols / elems), true);
    pack_tile(b->type, tile, file, apart, rows, cols);
    for (int32_t r = 0; r < PACK_ROWS; r++) {
        memset(want, 0, sizeof(want));
        if (r < rows)
            kern_dequant(b->type, file + (size_t)r * apart, want, (size_t)cols);
        pack_row(b->type, tile, cols, r, got);
        for (int32_t c = 0; r >= rows && c < cols; c++)
            got[c] += 0.0f; /* -0 is zero, too */
        right = right && same_floats(got, want, (size_t)cols);
    }
    free(file);
    free(tile);
    return right;
}

static void test_type(const struct block_type *b)
{
    int32_t elems, bytes;
    int bad = 0;

    BUG_ON(!kern_type_block(b->type, &elems, &bytes));
    is_int(pack_record_bytes(b->type), PACK_ROWS * bytes,
           "%s: a record has the bytes of sixteen blocks", b->name);
    is_int(pack_groups(b->type) * 32, elems, "%s: and their columns", b->name);
    is_int(pack_bytes(b->type, 33, COLS), 48 * (long)quant_bytes(b->type, COLS),
           "%s: 33 rows take three tiles", b->name);
    for (int32_t rows = 1; rows <= PACK_ROWS; rows++)
        for (int32_t cols = elems; cols <= COLS; cols += elems * 2)
            bad += !tile_is_right(b, rows, cols, (size_t)rows % 3);
    is_int(bad, 0, "%s: rows come back bit for bit", b->name);
}

int main(void)
{
    for (size_t i = 0; i < BLOCK_TYPES; i++)
        test_type(&block_types[i]);
    return done();
}
