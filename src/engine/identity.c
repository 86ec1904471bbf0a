#include "engine/identity.h"

#include "base/sum.h"

#define LOOK 64 /* bytes in the middle of a tensor */

/* FNV-1a, continued from h. */
static uint64_t hash(uint64_t h, const void *p, size_t n)
{
    const unsigned char *s = p;

    for (size_t i = 0; i < n; i++)
        h = (h ^ s[i]) * 0x100000001b3u;
    return h;
}

void identity_print(char out[IDENTITY_PRINT], const struct gguf *g,
                    const struct model *m)
{
    uint64_t h = 0xcbf29ce484222325u, file = gguf_fingerprint(g);

    h = hash(h, &file, sizeof(file));
    h = hash(h, m->kern->name, strlen(m->kern->name));
    h = hash(h, &m->kv_type, sizeof(m->kv_type));
    h = hash(h, PACKAGE_VERSION, sizeof(PACKAGE_VERSION));
    snprintf(out, IDENTITY_PRINT, "fp_%010llx", (unsigned long long)(h >> 24));
}

/* Models of one family and size may have equal heads. */
static uint64_t look_at_weights(const struct gguf *g)
{
    uint64_t h = 1;

    for (size_t i = 0; i < gguf_tensor_count(g); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(g, i);
        uint8_t part[LOOK] = {0};
        size_t n = t->bytes < LOOK ? t->bytes : LOOK;

        memcpy(part, (const uint8_t *)t->data + (t->bytes - n) / 2, n);
        h = sum_step(h, sum64(part, LOOK));
    }
    return h;
}

void identity_words(char out[IDENTITY_WORDS], const struct gguf *g,
                    const struct model *m, bool weights)
{
    snprintf(out, IDENTITY_WORDS, "%.16s %016llx %016llx %.16s kv%d no-adapter",
             PACKAGE_VERSION, (unsigned long long)gguf_fingerprint(g),
             weights ? (unsigned long long)look_at_weights(g) : 0ull,
             m->kern->name, (int)m->kv_type);
}
