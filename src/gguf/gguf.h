/*
 * gguf/gguf.h - GGUF v2 and v3 files over mmap.
 *
 * Every count, length, offset, type and dimension is checked against the
 * file in gguf_open, overflow included; afterwards every accessor is safe.
 * A broken or hostile file is one error (ST_FORMAT; ST_UNSUPPORTED for split
 * and big-endian files, other versions and tensor types; `where` = the file,
 * the text names key or tensor and the numbers) and nothing else. Names and
 * keys are printable UTF-8, so an error stays one line.
 * The size is asked for once: a file that is cut while it is mapped kills the
 * process that reads it (SIGBUS). Replace a model by renaming another over
 * it, never by writing into it.
 * Source: the GGUF specification (ggml docs/gguf.md), little-endian only.
 * Threads: immutable after open; any thread may read.
 */
#ifndef GGUF_GGUF_H
#define GGUF_GGUF_H

#include "base/mem.h"

/* Numbers of ggml_type that Penstock reads; others are ST_UNSUPPORTED. */
enum gguf_type {
    GGUF_F32 = 0,
    GGUF_F16 = 1,
    GGUF_Q4_0 = 2,
    GGUF_Q4_1 = 3,
    GGUF_Q5_0 = 6,
    GGUF_Q5_1 = 7,
    GGUF_Q8_0 = 8,
    GGUF_Q2_K = 10,
    GGUF_Q3_K = 11,
    GGUF_Q4_K = 12,
    GGUF_Q5_K = 13,
    GGUF_Q6_K = 14,
    GGUF_IQ4_NL = 20,
    GGUF_IQ4_XS = 23,
    GGUF_BF16 = 30,
    GGUF_MXFP4 = 39,
};

struct gguf; /* opaque; owns the mapping */

struct gguf_tensor {
    struct span name;    /* into the mapping; valid UTF-8, no NUL */
    enum gguf_type type;
    uint32_t n_dims;     /* 1-4 */
    uint64_t dims[4];    /* dims[0] is the fastest; unused ones are 1 */
    const void *data;    /* into the mapping, aligned to general.alignment */
    uint64_t bytes;
};

enum gguf_vtype { /* metadata value types, numbers of the format */
    GGUF_V_U8, GGUF_V_I8, GGUF_V_U16, GGUF_V_I16, GGUF_V_U32, GGUF_V_I32,
    GGUF_V_F32, GGUF_V_BOOL, GGUF_V_STR, GGUF_V_ARR, GGUF_V_U64, GGUF_V_I64,
    GGUF_V_F64,
};

enum st gguf_open(struct gguf **out, const char *path, struct err *e)
    MUST_CHECK;
void gguf_close(struct gguf *g); /* NULL ok; data pointers die with it */

const char *gguf_path(const struct gguf *g);
uint64_t gguf_file_bytes(const struct gguf *g);
/* Size, metadata and tensor directory mixed into 64 bits: equal files have
 * equal values. Not a digest; weights are not read. */
uint64_t gguf_fingerprint(const struct gguf *g);
/* Inode, size and the times of change as they were when the file was opened,
 * mixed: a file that was replaced or written into has another value. */
uint64_t gguf_stamp(const struct gguf *g);

size_t gguf_tensor_count(const struct gguf *g);
const struct gguf_tensor *gguf_tensor_at(const struct gguf *g, size_t i);
/* NULL when there is none of that name. */
const struct gguf_tensor *gguf_tensor_find(const struct gguf *g,
                                           const char *name);

/*
 * Metadata by key. Each returns false when the key is absent; a key that is
 * present with a type that cannot hold the asked-for value also returns
 * false (gguf_has tells the two apart). Integers convert when they fit.
 */
bool gguf_has(const struct gguf *g, const char *key);
bool gguf_u64(const struct gguf *g, const char *key, uint64_t *out);
bool gguf_i64(const struct gguf *g, const char *key, int64_t *out);
bool gguf_f64(const struct gguf *g, const char *key, double *out);
bool gguf_bool(const struct gguf *g, const char *key, bool *out);
bool gguf_str(const struct gguf *g, const char *key, struct span *out);

/* Arrays, under the same rule. Strings: a table of n spans, owned by g; NULL
 * with n = 0 when there is none. Numbers: copied into a caller array whose n
 * must be that of the file. */
bool gguf_arr(const struct gguf *g, const char *key, enum gguf_vtype *elem,
              size_t *n);
const struct span *gguf_arr_str(const struct gguf *g, const char *key,
                                size_t *n);
bool gguf_arr_f32(const struct gguf *g, const char *key, float *out, size_t n);
bool gguf_arr_i64(const struct gguf *g, const char *key, int64_t *out,
                  size_t n);

/* Elements and bytes of one block of a type: 256/144 for Q4_K, 1/4 for F32. */
void gguf_block(enum gguf_type t, uint32_t *elems, uint32_t *bytes);
const char *gguf_type_name(enum gguf_type t); /* "Q4_K" */

#endif
