/* Tokenizer metadata of GGUF files: what opens must encode and list stops. */
#include <sys/mman.h>
#include <unistd.h>

#include "chat/vocab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void use(const struct gguf *g, const struct tok *t)
{
    static const char text[] = "a b<|im_end|> \xc3\xa9\xff 12\n";
    struct ids v;

    ids_init(&v, 256);
    if (vocab_stop_ids(g, t, &v, NULL) == ST_OK)
        for (size_t i = 0; i < v.n; i++)
            BUG_ON(v.p[i] < 0 || (size_t)v.p[i] >= tok_count(t));
    ids_release(&v);
    for (int mode = TOK_MARKUP; mode <= TOK_CONTENT; mode++) {
        ids_init(&v, 256);
        if (tok_encode(t, (enum tok_mode)mode, text, sizeof(text) - 1, &v,
                       NULL) == ST_OK)
            for (size_t i = 0; i < v.n; i++)
                BUG_ON(mode == TOK_CONTENT &&
                       tok_type_of(t, v.p[i]) == TOK_CONTROL);
        ids_release(&v);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[32];
    struct gguf *g;
    struct tok *t;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    if (fd < 0)
        return 0;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (write(fd, data, n) == (ssize_t)n &&
        gguf_open(&g, path, NULL) == ST_OK) {
        if (vocab_open(&t, g, NULL) == ST_OK) {
            use(g, t);
            tok_free(t);
        }
        gguf_close(g);
    }
    close(fd);
    return 0;
}
