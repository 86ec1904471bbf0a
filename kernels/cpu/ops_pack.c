/* Weights into the interleaved layout, with all threads. */
#include "kernels/cpu/cpu.h"

struct pack_job {
    uint8_t *dst;
    const uint8_t *src;
    size_t row_bytes, tile_bytes;
    enum kern_type type;
    int32_t rows, cols, tiles; /* tiles of a chunk */
};

#define PACK_CHUNK ((size_t)256 << 10)

size_t cpu_pack_bytes(struct kern *k, enum kern_type type, int32_t rows,
                      int32_t cols)
{
    (void)k;
    return pack_bytes(type, rows, cols);
}

static bool pack_chunk(const struct pool_at *at, const void *args)
{
    const struct pack_job *j = args;
    int32_t t = at->chunk * j->tiles, end = t + j->tiles;

    for (; t < end && t * PACK_ROWS < j->rows; t++) {
        int32_t row = t * PACK_ROWS, n = j->rows - row;

        pack_tile(j->type, j->dst + cpu_zu(t) * j->tile_bytes,
                  j->src + cpu_zu(row) * j->row_bytes, j->row_bytes,
                  n < PACK_ROWS ? n : PACK_ROWS, j->cols);
    }
    return true;
}

void cpu_pack(struct kern *k, void *dst, const void *src, enum kern_type type,
              int32_t rows, int32_t cols)
{
    struct cpu *c = cpu_of(k);
    struct pack_job j = {
        .dst = dst,
        .src = src,
        .row_bytes = quant_bytes(type, cpu_zu(cols)),
        .tile_bytes = pack_tile_bytes(type, cols),
        .type = type,
        .rows = rows,
        .cols = cols,
    };
    int32_t tiles = (rows + PACK_ROWS - 1) / PACK_ROWS;

    j.tiles = (int32_t)(PACK_CHUNK / j.tile_bytes);
    j.tiles = j.tiles ? j.tiles : 1;
    if (tiles)
        pool_add(c->pool, POOL_OWN, pack_chunk, &j, sizeof(j),
                 (tiles + j.tiles - 1) / j.tiles);
    pool_wait(c->pool);
}
