/*
 * engine/packsum.h - sums of much memory, at the speed of memory.
 *
 * Eight lanes of 64 bits, each a chain of xor, rotate and multiply: every
 * step is one to one, so a changed word always changes its lane.
 */
#ifndef ENGINE_PACKSUM_H
#define ENGINE_PACKSUM_H

#include <stddef.h>
#include <stdint.h>

/* n is a multiple of 64 */
uint64_t packsum_block(const uint8_t *p, size_t n);

#endif
