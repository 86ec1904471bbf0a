/*
 * gguf_open FILE...: what a program that loads a model does with a GGUF file.
 * Not a test by itself: t/1010-gguf-broken.t and others feed it files. Prints
 * one line for each, a summary or (stderr) the error; exits 1 when any failed.
 */
#include "gguf/gguf.h"

#include <inttypes.h>

/* Touch the first and the last byte of every tensor: they must be mapped. */
static unsigned touch(const struct gguf *g)
{
    unsigned sum = 0;

    for (size_t i = 0; i < gguf_tensor_count(g); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(g, i);
        const unsigned char *p = t->data;

        sum += p[0] + p[t->bytes - 1];
    }
    return sum;
}

static bool show(const char *path)
{
    struct gguf *g;
    struct err e;
    struct span arch = {"", 0};

    if (gguf_open(&g, path, &e)) {
        fprintf(stderr, "%s: %s\n", e.where, e.text);
        return false;
    }
    gguf_str(g, "general.architecture", &arch);
    printf("arch=%.*s tensors=%zu bytes=%" PRIu64 " fingerprint=%016" PRIx64
           " touched=%u\n", (int)arch.n, arch.s, gguf_tensor_count(g),
           gguf_file_bytes(g), gguf_fingerprint(g), touch(g));
    gguf_close(g);
    return true;
}

int main(int argc, char **argv)
{
    int status = argc < 2 ? 2 : 0;

    for (int i = 1; i < argc; i++)
        if (!show(argv[i]))
            status = 1;
    return status;
}
