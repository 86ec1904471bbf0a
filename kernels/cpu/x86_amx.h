/*
 * kernels/cpu/x86_amx.h - quantised products on AMX tiles (amx-tile,
 * amx-int8), for many activation rows. Its integers are as exact as every
 * other set's, so the bits are those of struct cpu_isa.product and the AVX-512
 * set uses it where the machine has it, under the same name.
 *
 * Threads: any. Tile registers are configured and released inside a call.
 */
#ifndef KERNELS_CPU_X86_AMX_H
#define KERNELS_CPU_X86_AMX_H

#include "kernels/cpu/isa.h"

/* Whether CPU, kernel and this process have it. Asks once, which is when the
 * process gets the kernel's permission (arch_prctl); only on a CPU that has
 * the AVX-512 set. */
bool cpu_amx_ready(void);

/* For tests: as if the machine had none (false), or ask again (true). */
void cpu_amx_allow(bool yes);

/* struct cpu_isa.product for quantised types, any number of rows. */
void cpu_amx_product(enum kern_type type, const uint8_t *w, int32_t tiles,
                     const struct cpu_x *x, int32_t r0, int32_t rows, float *y,
                     size_t ldy, void *scratch);

#endif
