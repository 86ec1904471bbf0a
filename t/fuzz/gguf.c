/* GGUF files: whatever opens must be safe to walk. */
#include <sys/mman.h>
#include <unistd.h>

#include "gguf/gguf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static volatile unsigned seen; /* so that no read is optimised away */

static void walk(const struct gguf *g)
{
    static const char *const keys[] = {
        "general.architecture", "general.alignment", "t.u8", "t.i8", "t.u16",
        "t.i16", "t.i32", "t.f32", "t.bool", "t.u64", "t.i64", "t.f64",
        "t.strings", "t.numbers", "t.bools",
    };
    unsigned sum = 0;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        uint64_t u;
        int64_t s, v[16];
        double d;
        float f[16];
        bool b;
        struct span str = {"", 0};
        enum gguf_vtype elem;
        size_t count = 0;
        const struct span *strs = gguf_arr_str(g, keys[i], &count);

        for (size_t j = 0; j < count; j++)
            sum += strs[j].n ? (unsigned char)strs[j].s[strs[j].n - 1] : 0u;
        if (gguf_arr(g, keys[i], &elem, &count) && count <= 16)
            sum += gguf_arr_f32(g, keys[i], f, count) +
                   gguf_arr_i64(g, keys[i], v, count);
        sum += gguf_u64(g, keys[i], &u) + gguf_i64(g, keys[i], &s) +
               gguf_f64(g, keys[i], &d) + gguf_bool(g, keys[i], &b);
        if (gguf_str(g, keys[i], &str) && str.n)
            sum += (unsigned char)str.s[str.n - 1];
    }
    for (size_t i = 0; i < gguf_tensor_count(g); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(g, i);
        const unsigned char *p = t->data;

        sum += p[0] + p[t->bytes - 1];
    }
    seen = sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[32];
    struct gguf *g;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    if (fd < 0)
        return 0;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (write(fd, data, n) == (ssize_t)n &&
        gguf_open(&g, path, NULL) == ST_OK) {
        walk(g);
        gguf_close(g);
    }
    close(fd);
    return 0;
}
