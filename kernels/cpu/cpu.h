/*
 * kernels/cpu/cpu.h - inside the CPU backend: what its operations share.
 *
 * An operation makes jobs of the pool and returns; read_logits waits for
 * them. So whatever a job refers to (weights, activations, the lists of the
 * step) stays as it is until pool_wait, and is freed after pool_quiet only
 * (pool.h: late members). The sharing of work decides nothing about a
 * result: a row and an output feature are computed in one order (isa.h).
 */
#ifndef KERNELS_CPU_CPU_H
#define KERNELS_CPU_CPU_H

#include "kernels/cpu/isa.h"
#include "kernels/cpu/pool.h"

struct kern_buf {
    uint8_t *p;
    size_t bytes;
    enum kern_class cls;
    size_t mapped; /* bytes of the mapping, when p came from mmap */
    void *heap;    /* what to free, when p lies in the heap */
};

/* cos and sin of every row's angles, kept for the step. */
struct cpu_rope {
    const struct kern_buf *inv; /* NULL: empty */
    int32_t dims;
    size_t cap; /* floats */
    float *cs;  /* [n][dims / 2][2] */
};

#define CPU_ROPES 2 /* different rotations in one model */

struct ints {
    int32_t *p;
    size_t cap;
};

/* Rows ready for products, and the memory they lie in. */
struct cpu_ready {
    struct cpu_x x;
    float *normed; /* [rows][cols], where x.f points if there is a norm */
    size_t rows, ldq; /* room */
    void *heap;
    size_t bytes;
};

/* Results of products before they are written: floats of one member. A
 * POOL_REDO chunk has all of its results here. */
#define CPU_RESULTS 65536

struct cpu_member {
    struct cpu_ready own; /* rows that this member made ready for itself */
    uint64_t job;         /* for this job */
    float *y;             /* [CPU_RESULTS] */
    uint8_t *scratch;     /* [CPU_SCRATCH], for the set */
    uint8_t *tile;        /* one packed tile, for matrices that are not */
    size_t tile_bytes;
    void *heap, *tile_heap;
};

/* Neighbouring rows of one sequence, for attention. */
struct cpu_block {
    int32_t row, n;
};

struct cpu {
    struct kern k; /* first: the backend is cast from it */
    const struct cpu_isa *isa;
    struct pool *pool;
    bool owned; /* the owner went to its processor */
    struct cpu_member *members; /* [pool_members] */
    struct cpu_ready shared;    /* rows made ready once for all members */
    /* The rows of the step, copied by begin. */
    int32_t n, n_out, top_page;
    struct ints ids, pos, seq; /* [n] */
    struct ints out;           /* [n_out] */
    struct ints first;         /* [sequences] where its list begins in: */
    struct ints pages;         /* of each sequence, as many as are looked at */
    bool single;               /* no sequence has two rows */
    struct cpu_block *blocks;  /* [n_blocks] of at most block_rows */
    size_t blocks_cap;
    int32_t n_blocks, block_rows; /* 0: not made for this step */
    struct cpu_rope rope[CPU_ROPES];
    int next_rope;
};

/* Smaller work, in multiply-adds or elements, stays with one member: to wake
 * others costs more. */
#define CPU_SMALL 32768

static inline struct cpu *cpu_of(struct kern *k)
{
    return (struct cpu *)k;
}

static inline size_t cpu_zu(int32_t n)
{
    BUG_ON(n < 0);
    return (size_t)n;
}

/* The n floats of a buffer. */
static inline float *cpu_f32(const struct kern_buf *b, size_t n)
{
    BUG_ON(n > b->bytes / sizeof(float));
    return (float *)(void *)b->p;
}

/* The page list of a row's sequence. */
static inline const int32_t *cpu_pages_of(const struct cpu *c, int32_t row)
{
    return c->pages.p + c->first.p[c->seq.p[row]];
}

/* dispatch.c: memory. cpu_room is zeroed, 64-byte aligned, and takes the place
 * of `was` bytes at *heap, which it frees; it aborts when there is none: small
 * sizes that grow with the widest row of a model. */
void cpu_free(struct kern *k);
struct kern_buf *cpu_alloc(struct kern *k, size_t bytes, enum kern_class cls);
struct kern_buf *cpu_weights(struct kern *k, const void *host, size_t bytes);
void cpu_buf_free(struct kern *k, struct kern_buf *b);
void *cpu_room(struct cpu *c, void **heap, size_t was, size_t bytes);

/* The operations (kernels.h). */
extern const struct kern_ops cpu_ops;                      /* ops.c */
void cpu_matmul(struct kern *k, const struct kern_mm *m);  /* ops_mm.c */
void cpu_attention(struct kern *k, const struct kern_attention *a);
void cpu_kv_copy(struct kern *k, const struct kern_kv *kv, int32_t dst,
                 int32_t src);                             /* ops_kv.c */
void cpu_kv_read(struct kern *k, const struct kern_kv *kv, int32_t page,
                 void *dst);
void cpu_kv_write(struct kern *k, const struct kern_kv *kv, int32_t page,
                  const void *src);
void cpu_kv_drop(struct kern *k, const struct kern_kv *kv,
                 const int32_t *pages, int32_t n);
size_t cpu_pack_bytes(struct kern *k, enum kern_type type, int32_t rows,
                      int32_t cols);                       /* ops_pack.c */
void cpu_pack(struct kern *k, void *dst, const void *src, enum kern_type type,
              int32_t rows, int32_t cols);

/* ops_kv.c: bytes from a page to the next, in k and in v; page `top` is
 * checked to be there. */
size_t cpu_kv_run(const struct kern_kv *kv, int32_t top);

/*
 * ops_ready.c: rows normed (w not NULL) and rounded (cols of quantised
 * weights), what a product reads.
 */
enum { CPU_ROUND = 1, CPU_PLAIN = 2 }; /* int8 wanted, f32 wanted */
struct cpu_wish {
    const struct cpu_isa *isa;
    const float *x, *norm; /* [rows][cols], [cols] or NULL */
    float eps;
    int32_t cols;
    uint32_t flags;
};
/* Room for rows, between jobs. */
void cpu_ready_room(struct cpu *c, struct cpu_ready *r, int32_t rows,
                    int32_t cols);
/* Point at the room of so many columns. */
void cpu_ready_shape(struct cpu_ready *r, const struct cpu_wish *w);
/* Make rows row to row + n of it. */
void cpu_ready_make(const struct cpu_x *x, float *normed,
                    const struct cpu_wish *w, int32_t row, int32_t n);

/*
 * Items in chunks that become smaller towards the end, so that members end
 * together: a chunk is what is left over twice the members, from `least` to
 * `most` items. Returns how many chunks there are; the items of one are
 * [*lo, *hi).
 */
int32_t cpu_chunks(int64_t items, int members, int64_t least, int64_t most);
void cpu_chunk(int64_t items, int members, int64_t least, int64_t most,
               int32_t chunk, int64_t *lo, int64_t *hi);

#endif
