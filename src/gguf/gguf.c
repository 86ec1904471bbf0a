#include "gguf/impl.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "numbers are read as they lie in the file");

/* --- the cursor --------------------------------------------------------- */

bool cur_take(struct cur *c, uint64_t n, const unsigned char **out)
{
    if (n > c->n - c->off)
        return false;
    *out = c->p + c->off;
    c->off += (size_t)n;
    return true;
}

bool cur_u32(struct cur *c, uint32_t *out)
{
    const unsigned char *p;

    if (!cur_take(c, sizeof(*out), &p))
        return false;
    memcpy(out, p, sizeof(*out));
    return true;
}

bool cur_u64(struct cur *c, uint64_t *out)
{
    const unsigned char *p;

    if (!cur_take(c, sizeof(*out), &p))
        return false;
    memcpy(out, p, sizeof(*out));
    return true;
}

bool cur_str(struct cur *c, struct span *out)
{
    size_t start = c->off;
    const unsigned char *p;
    uint64_t n;

    if (!cur_u64(c, &n))
        return false;
    if (!cur_take(c, n, &p)) {
        c->off = start;
        return false;
    }
    *out = (struct span){(const char *)p, (size_t)n};
    return true;
}

bool name_ok(struct span s, size_t max)
{
    if (s.n < 1 || s.n > max || !utf8_valid(s.s, s.n, NULL))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.s[i] < 0x20 || s.s[i] == 0x7f)
            return false;
    return true;
}

int span_cmp(struct span a, struct span b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int d = n ? memcmp(a.s, b.s, n) : 0;

    return d ? d : (a.n > b.n) - (a.n < b.n);
}

/* --- tensors ------------------------------------------------------------ */

#define NAME(t) (int)(t)->name.n, (t)->name.s
#define ULL(v) (unsigned long long)(v)

static enum st tensor_fault(const struct gguf *g, const struct gguf_tensor *t,
                            const char *what, struct err *e)
{
    return err_set(e, ST_FORMAT, g->path,
                   "tensor '%.*s' of %u dimensions [%llu, %llu, %llu, %llu]: "
                   "%s", NAME(t), t->n_dims, ULL(t->dims[0]), ULL(t->dims[1]),
                   ULL(t->dims[2]), ULL(t->dims[3]), what);
}

static enum st dims_read(struct gguf *g, struct cur *c, struct gguf_tensor *t,
                         struct err *e)
{
    if (!cur_u32(c, &t->n_dims))
        return tensor_fault(g, t, "the file ends inside its entry", e);
    if (t->n_dims < 1 || t->n_dims > 4)
        return tensor_fault(g, t, "1 to 4 dimensions are accepted", e);
    for (uint32_t i = 0; i < 4; i++) {
        t->dims[i] = 1;
        if (i < t->n_dims && !cur_u64(c, &t->dims[i]))
            return tensor_fault(g, t, "the file ends inside its entry", e);
        if (t->dims[i] < 1)
            return tensor_fault(g, t, "no dimension may be 0", e);
    }
    return ST_OK;
}

/* t->bytes from dimensions and type; both come from the file. */
static enum st tensor_size(const struct gguf *g, struct gguf_tensor *t,
                           uint32_t type, struct err *e)
{
    const char *name = type_name_any(type);
    uint32_t elems, bytes;

    if (!type_known(type))
        return err_set(e, ST_UNSUPPORTED, g->path,
                       "tensor '%.*s': type %u (%s) is not supported; F32, "
                       "F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K to "
                       "Q6_K, IQ4_NL, IQ4_XS and MXFP4 are",
                       NAME(t), type, name ? name : "unknown");
    t->type = (enum gguf_type)type;
    gguf_block(t->type, &elems, &bytes);
    if (t->dims[0] % elems)
        return err_set(e, ST_FORMAT, g->path,
                       "tensor '%.*s': its rows of %llu are not a multiple of "
                       "the %u elements in a %s block", NAME(t),
                       ULL(t->dims[0]), elems, name);
    t->bytes = t->dims[0] / elems;
    if (__builtin_mul_overflow(t->bytes, bytes, &t->bytes) ||
        __builtin_mul_overflow(t->bytes, t->dims[1], &t->bytes) ||
        __builtin_mul_overflow(t->bytes, t->dims[2], &t->bytes) ||
        __builtin_mul_overflow(t->bytes, t->dims[3], &t->bytes))
        return tensor_fault(g, t, "its size overflows 64 bits", e);
    return ST_OK;
}

/*
 * One directory entry. The offset counts from where the directory ends, which
 * is not known yet: it waits in *offset for tensor_place.
 */
static enum st tensor_read(struct gguf *g, struct cur *c, size_t i,
                           uint64_t *offset, struct err *e)
{
    struct gguf_tensor *t = &g->tensors[i];
    uint32_t type;
    enum st st;

    if (!cur_str(c, &t->name))
        return err_set(e, ST_FORMAT, g->path,
                       "tensor %zu of %zu: its name ends past the file (%zu "
                       "bytes)", i, g->n_tensors, g->size);
    if (!name_ok(t->name, GGUF_MAX_NAME))
        return err_set(e, ST_FORMAT, g->path,
                       "tensor %zu of %zu: its name (%zu bytes) is not 1 to "
                       "%u bytes of printable UTF-8", i, g->n_tensors,
                       t->name.n, GGUF_MAX_NAME);
    st = dims_read(g, c, t, e);
    if (st)
        return st;
    if (!cur_u32(c, &type) || !cur_u64(c, offset))
        return tensor_fault(g, t, "the file ends inside its entry", e);
    return tensor_size(g, t, type, e);
}

static enum st tensor_place(struct gguf *g, struct gguf_tensor *t,
                            uint64_t offset, uint64_t align, struct err *e)
{
    uint64_t start, end;

    if (offset % align)
        return err_set(e, ST_FORMAT, g->path,
                       "tensor '%.*s': offset %llu is not a multiple of the "
                       "alignment %llu", NAME(t), ULL(offset), ULL(align));
    if (__builtin_add_overflow(offset, g->data_start, &start) ||
        __builtin_add_overflow(start, t->bytes, &end) || end > g->size)
        return err_set(e, ST_FORMAT, g->path,
                       "tensor '%.*s': %llu bytes of data at offset %llu end "
                       "past the file (data starts at %zu, the file has %zu "
                       "bytes)", NAME(t), ULL(t->bytes), ULL(offset),
                       g->data_start, g->size);
    t->data = g->map + start;
    return ST_OK;
}

static int by_name(const void *a, const void *b)
{
    return span_cmp((*(const struct gguf_tensor *const *)a)->name,
                    (*(const struct gguf_tensor *const *)b)->name);
}

static int by_data(const void *a, const void *b)
{
    const unsigned char *x = (*(const struct gguf_tensor *const *)a)->data;
    const unsigned char *y = (*(const struct gguf_tensor *const *)b)->data;

    return (x > y) - (x < y);
}

/* No two tensors share a name or a byte. */
static enum st tensors_distinct(struct gguf *g, struct err *e)
{
    const struct gguf_tensor **v = g->by_name;

    for (size_t i = 0; i < g->n_tensors; i++)
        v[i] = &g->tensors[i];
    qsort(v, g->n_tensors, sizeof(*v), by_data);
    for (size_t i = 1; i < g->n_tensors; i++)
        if ((const char *)v[i - 1]->data + v[i - 1]->bytes >
            (const char *)v[i]->data)
            return err_set(e, ST_FORMAT, g->path,
                           "tensor '%.*s' lies inside the data of tensor "
                           "'%.*s'", NAME(v[i]), NAME(v[i - 1]));
    qsort(v, g->n_tensors, sizeof(*v), by_name);
    for (size_t i = 1; i < g->n_tensors; i++)
        if (by_name(&v[i - 1], &v[i]) == 0)
            return err_set(e, ST_FORMAT, g->path,
                           "tensor '%.*s' is there twice", NAME(v[i]));
    return ST_OK;
}

static enum st alignment(const struct gguf *g, uint64_t *align, struct err *e)
{
    const char *key = "general.alignment";

    *align = 32; /* the format's default */
    if (!gguf_has(g, key))
        return ST_OK;
    if (!gguf_u64(g, key, align) || *align < GGUF_MIN_ALIGN ||
        *align > GGUF_MAX_ALIGN || (*align & (*align - 1)))
        return err_set(e, ST_FORMAT, g->path,
                       "key '%s': must be a power of two from %u to %u", key,
                       GGUF_MIN_ALIGN, GGUF_MAX_ALIGN);
    return ST_OK;
}

static enum st tensors_read(struct gguf *g, struct cur *c, struct err *e)
{
    uint64_t *offsets = mem_try_array(g->n_tensors, sizeof(*offsets)), align;
    enum st st = alignment(g, &align, e);

    g->tensors = mem_try_array(g->n_tensors, sizeof(*g->tensors));
    g->by_name = mem_try_array(g->n_tensors, sizeof(*g->by_name));
    if (!offsets || !g->tensors || !g->by_name)
        st = err_set(e, ST_NOMEM, g->path, "no memory for %zu tensors",
                     g->n_tensors);
    for (size_t i = 0; !st && i < g->n_tensors; i++)
        st = tensor_read(g, c, i, &offsets[i], e);
    if (!st) /* off <= the size of a file: rounding up cannot overflow */
        g->data_start = (c->off + (align - 1)) & ~(align - 1);
    for (size_t i = 0; !st && i < g->n_tensors; i++)
        st = tensor_place(g, &g->tensors[i], offsets[i], align, e);
    free(offsets);
    return st ? st : tensors_distinct(g, e);
}

/* --- the file ----------------------------------------------------------- */

static enum st header_read(struct gguf *g, struct cur *c, struct err *e)
{
    const unsigned char *magic;
    uint32_t version;
    uint64_t tensors, kvs;

    if (!cur_take(c, 4, &magic) || memcmp(magic, "GGUF", 4) != 0)
        return err_set(e, ST_FORMAT, g->path,
                       "not a GGUF file: %zu bytes that do not begin with "
                       "GGUF", g->size);
    if (!cur_u32(c, &version))
        return err_set(e, ST_FORMAT, g->path,
                       "the file ends inside the header (%zu bytes)", g->size);
    if (version && !(version & 0xffff))
        return err_set(e, ST_UNSUPPORTED, g->path,
                       "a big-endian GGUF file (version %u); only "
                       "little-endian ones are read", version >> 24);
    if (version != 2 && version != 3)
        return err_set(e, ST_UNSUPPORTED, g->path,
                       "GGUF version %u; 2 and 3 are read", version);
    if (!cur_u64(c, &tensors) || !cur_u64(c, &kvs))
        return err_set(e, ST_FORMAT, g->path,
                       "the file ends inside the header (%zu bytes)", g->size);
    if (tensors > GGUF_MAX_TENSORS || kvs > GGUF_MAX_KV)
        return err_set(e, ST_FORMAT, g->path,
                       "%llu tensors and %llu metadata keys announced; at "
                       "most %u and %u are accepted", ULL(tensors), ULL(kvs),
                       GGUF_MAX_TENSORS, GGUF_MAX_KV);
    g->n_tensors = (size_t)tensors;
    g->n_kv = (size_t)kvs;
    return ST_OK;
}

static enum st split_check(const struct gguf *g, struct err *e)
{
    uint64_t parts, part = 0;

    if (!gguf_u64(g, "split.count", &parts) || parts <= 1)
        return ST_OK;
    gguf_u64(g, "split.no", &part);
    return err_set(e, ST_UNSUPPORTED, g->path,
                   "a split model (split.count %llu, this is split.no %llu); "
                   "join its parts into one file first", ULL(parts),
                   ULL(part));
}

/* Eight bytes at a time: tokenizer tables make this several megabytes. */
static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 32);
}

static uint64_t identity(const struct gguf *g, size_t dir_end)
{
    uint64_t h = mix(0, g->size), v;
    size_t i = 0;

    for (; i + 8 <= dir_end; i += 8) {
        memcpy(&v, g->map + i, 8);
        h = mix(h, v);
    }
    v = 0;
    memcpy(&v, g->map + i, dir_end - i);
    return mix(h, v);
}

static enum st parse(struct gguf *g, struct err *e)
{
    struct cur c = {.p = g->map, .n = g->size};
    enum st st = header_read(g, &c, e);

    if (st)
        return st;
    g->kv = mem_try_array(g->n_kv, sizeof(*g->kv));
    if (!g->kv)
        return err_set(e, ST_NOMEM, g->path, "no memory for %zu keys",
                       g->n_kv);
    st = meta_read(g, &c, e);
    if (!st)
        st = split_check(g, e);
    if (!st)
        st = tensors_read(g, &c, e);
    if (!st)
        g->fingerprint = identity(g, c.off);
    return st;
}

static uint64_t stamp_of(const struct stat *sb)
{
    uint64_t h = mix(0, (uint64_t)sb->st_ino);

    h = mix(h, (uint64_t)sb->st_size);
    h = mix(h, (uint64_t)sb->st_mtim.tv_sec);
    h = mix(h, (uint64_t)sb->st_mtim.tv_nsec);
    h = mix(h, (uint64_t)sb->st_ctim.tv_sec);
    return mix(h, (uint64_t)sb->st_ctim.tv_nsec);
}

static enum st map_fd(struct gguf *g, int fd, struct err *e)
{
    struct stat sb;
    void *p;

    if (fstat(fd, &sb) < 0)
        return err_set(e, ST_IO, g->path, "stat: %s", err_sys(errno));
    if (!S_ISREG(sb.st_mode))
        return err_set(e, ST_IO, g->path, "not a regular file");
    if (sb.st_size == 0)
        return err_set(e, ST_FORMAT, g->path, "the file is empty");
    p = mmap(NULL, (size_t)sb.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return err_set(e, ST_IO, g->path, "map %lld bytes: %s",
                       (long long)sb.st_size, err_sys(errno));
    g->map = p;
    g->size = (size_t)sb.st_size;
    g->stamp = stamp_of(&sb);
    return ST_OK;
}

enum st gguf_open(struct gguf **out, const char *path, struct err *e)
{
    struct gguf *g;
    enum st st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *out = NULL;
    if (fd < 0)
        return err_set(e, ST_IO, path, "open: %s", err_sys(errno));
    g = mem_new(struct gguf);
    g->path = mem_dup(path);
    st = map_fd(g, fd, e);
    close(fd);
    if (!st)
        st = parse(g, e);
    if (st) {
        gguf_close(g);
        return st;
    }
    *out = g;
    return ST_OK;
}

void gguf_close(struct gguf *g)
{
    if (!g)
        return;
    meta_release(g);
    free(g->tensors);
    free(g->by_name);
    if (g->map)
        munmap((void *)g->map, g->size);
    free(g->path);
    free(g);
}

const char *gguf_path(const struct gguf *g)
{
    return g->path;
}

uint64_t gguf_file_bytes(const struct gguf *g)
{
    return g->size;
}

uint64_t gguf_fingerprint(const struct gguf *g)
{
    return g->fingerprint;
}

uint64_t gguf_stamp(const struct gguf *g)
{
    return g->stamp;
}

size_t gguf_tensor_count(const struct gguf *g)
{
    return g->n_tensors;
}

const struct gguf_tensor *gguf_tensor_at(const struct gguf *g, size_t i)
{
    BUG_ON(i >= g->n_tensors);
    return &g->tensors[i];
}

const struct gguf_tensor *gguf_tensor_find(const struct gguf *g,
                                           const char *name)
{
    const struct gguf_tensor want = {.name = {name, strlen(name)}};
    const struct gguf_tensor *key = &want;
    const struct gguf_tensor **hit =
        bsearch(&key, g->by_name, g->n_tensors, sizeof(*g->by_name), by_name);

    return hit ? *hit : NULL;
}
