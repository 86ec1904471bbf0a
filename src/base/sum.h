/*
 * base/sum.h - sums of much memory, at the speed of memory.
 *
 * Eight lanes of 64 bits, each a chain of xor, rotate and multiply: every
 * step is one to one, so a changed word always changes its lane. Finds
 * accidents, not enemies.
 */
#ifndef BASE_SUM_H
#define BASE_SUM_H

#include <stddef.h>
#include <stdint.h>

/* h continued with v: sums of sums */
uint64_t sum_step(uint64_t h, uint64_t v);
/* n is a multiple of 64 */
uint64_t sum64(const uint8_t *p, size_t n);

#endif
