/*
 * gguf/impl.h - what the files of this folder share. Nobody else includes it.
 */
#ifndef GGUF_IMPL_H
#define GGUF_IMPL_H

#include "gguf/gguf.h"

/* Caps on what a file may announce. */
#define GGUF_MAX_TENSORS 65536u
#define GGUF_MAX_KV 65536u
#define GGUF_MAX_KEY 65535u      /* bytes; the specification's limit */
#define GGUF_MAX_NAME 64u        /* bytes; the specification's limit */
#define GGUF_MAX_ARRAY (1u << 24) /* elements of one metadata array */
#define GGUF_MIN_ALIGN 8u
#define GGUF_MAX_ALIGN (1u << 20)

struct kv {
    struct span key;
    enum gguf_vtype type;
    enum gguf_vtype elem;      /* arrays only */
    uint64_t n;                /* elements; 1 for a single value */
    const unsigned char *p;    /* numbers and bools, unaligned */
    struct span str;           /* GGUF_V_STR */
    struct span *strs;         /* [n], owned; arrays of strings only */
};

struct gguf {
    char *path;
    const unsigned char *map; /* [size] */
    size_t size;
    size_t data_start;        /* where tensor offsets count from */
    uint64_t fingerprint, stamp;
    struct kv *kv;            /* [n_kv], sorted by key after meta_read */
    size_t n_kv;
    struct gguf_tensor *tensors;            /* [n_tensors], file order */
    const struct gguf_tensor **by_name;     /* [n_tensors] */
    size_t n_tensors;
};

/* Where the reader stands in the mapping; off never passes n. */
struct cur {
    const unsigned char *p;
    size_t n, off;
};

/* Each returns false, and moves nothing, when the file ends before. */
bool cur_u32(struct cur *c, uint32_t *out) MUST_CHECK;
bool cur_u64(struct cur *c, uint64_t *out) MUST_CHECK;
bool cur_take(struct cur *c, uint64_t n, const unsigned char **out) MUST_CHECK;
/* A length and its bytes. */
bool cur_str(struct cur *c, struct span *out) MUST_CHECK;

/* A name that may stand in a message: UTF-8, 1..max bytes, no controls. */
bool name_ok(struct span s, size_t max);
int span_cmp(struct span a, struct span b);

/*
 * Read g->n_kv pairs at `c` into g->kv (allocated by the caller, zeroed) and
 * sort them. On failure the pairs read so far stay for meta_release.
 */
enum st meta_read(struct gguf *g, struct cur *c, struct err *e) MUST_CHECK;
void meta_release(struct gguf *g);

/* Name of any ggml_type number, also of those we do not read; or NULL. */
const char *type_name_any(uint32_t t);
bool type_known(uint32_t t);

#endif
