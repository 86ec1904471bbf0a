/* AVX-512 F, BW, DQ, VL and VNNI. Entered only after a look at the CPU. */
#define LANES_AVX512
#include "kernels/cpu/body_all.h"

const struct cpu_isa cpu_isa_avx512 = {
    .name = "cpu-avx512",
    CPU_ISA_BODIES
};
