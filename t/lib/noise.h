/* t/lib/noise.h - random numbers that are the same in each run. */
#ifndef T_NOISE_H
#define T_NOISE_H

#include <stdint.h>

/* Uniform in [-1, 1); *state is any number. Steele, Lea, Flood: splitmix64. */
static inline float noise_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (float)((double)(z >> 11) * 0x1p-52 - 1.0);
}

#endif
