#include "base/sum.h"

#include <string.h>

#define LANES 8

uint64_t sum_step(uint64_t h, uint64_t v)
{
    h ^= v;
    return (h << 29 | h >> 35) * 0x9e3779b97f4a7c15u;
}

uint64_t sum64(const uint8_t *p, size_t n)
{
    uint64_t h[LANES], v[LANES], sum = n;

    for (int i = 0; i < LANES; i++)
        h[i] = 0x6a09e667f3bcc908u + (uint64_t)i;
    for (size_t k = 0; k + sizeof(v) <= n; k += sizeof(v)) {
        memcpy(v, p + k, sizeof(v));
        for (int i = 0; i < LANES; i++)
            h[i] = sum_step(h[i], v[i]);
    }
    for (int i = 0; i < LANES; i++)
        sum = sum_step(sum, h[i] ^ h[i] >> 32);
    return sum ^ sum >> 32;
}
