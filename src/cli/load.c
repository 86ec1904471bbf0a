#include "cli/load.h"

#include "base/utf8.h"
#include "chat/vocab.h"

#include <unistd.h>

#define STOP_MAX 64

/* Packing takes seconds: who watches is told, files and pipes are not. */
static void tell(void *arg, const struct packs_note *n)
{
    (void)arg;
    if (n->event == PACKS_START)
        fprintf(stderr, "packing %.0f MB of weights (to %s)\n",
                (double)n->total / 1e6, n->path ? n->path : "memory");
    else if (n->event == PACKS_STEP)
        fprintf(stderr, "  %.0f %%\n",
                100.0 * (double)n->done / (double)n->total);
    else if (n->why)
        fprintf(stderr, "%s: %s\n", n->path, n->why);
}

enum st load_open(struct load *l, const char *path,
                  const struct engine_config *c, struct err *e)
{
    struct engine_config told = *c;
    enum st st;

    if (isatty(STDERR_FILENO))
        told.packs.tell = tell;
    *l = (struct load){0};
    ids_init(&l->stop, STOP_MAX);
    st = gguf_open(&l->gguf, path, e);
    if (!st && gguf_has(l->gguf, "tokenizer.ggml.model")) {
        st = vocab_open(&l->tok, l->gguf, e);
        if (!st)
            st = vocab_stop_ids(l->gguf, l->tok, &l->stop, e);
    }
    if (!st)
        st = engine_open(&l->gen, l->gguf, &told, e);
    return st;
}

void load_release(struct load *l)
{
    gen_free(l->gen);
    tok_free(l->tok);
    ids_release(&l->stop);
    gguf_close(l->gguf);
    *l = (struct load){0};
}

const char *load_kernels(const char *name, enum kern_cpu_set *out)
{
    static const char *const names[] = {
        [KERN_CPU_AUTO] = "auto",     [KERN_CPU_REF] = "ref",
        [KERN_CPU_AVX2] = "avx2",     [KERN_CPU_AVX512] = "avx512",
        [KERN_CPU_NEON] = "neon",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(name, names[i])) {
            *out = (enum kern_cpu_set)i;
            return NULL;
        }
    return "--kernels takes auto, ref, avx2, avx512 or neon";
}

const char *load_kv_type(const char *name, enum kern_type *out)
{
    if (!strcmp(name, "f16"))
        *out = KERN_F16;
    else if (!strcmp(name, "q8_0"))
        *out = KERN_Q8_0;
    else
        return "--kv-type takes f16 or q8_0";
    return NULL;
}

const char *load_repack(const char *value, bool *out)
{
    *out = !strcmp(value, "on");
    return *out || !strcmp(value, "off") ? NULL : "--repack takes on or off";
}

const char *load_backend(const char *name)
{
    if (!strcmp(name, "cpu"))
        return NULL;
    if (!strcmp(name, "cuda"))
        return "this build has no CUDA backend; --backend takes cpu";
    return "--backend takes cpu or cuda";
}

void load_utf8(struct buf *b, const char *s, size_t n)
{
    uint32_t cp;

    while (n) {
        size_t k = utf8_decode(s, n, &cp);

        if (k)
            buf_add(b, s, k);
        else
            buf_puts(b, "\xef\xbf\xbd");
        k = k ? k : 1;
        s += k;
        n -= k;
    }
}
