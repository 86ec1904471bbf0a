/* AVX2 with FMA and F16C. Entered only after a look at the CPU. */
#define LANES_AVX2
#include "kernels/cpu/body_all.h"

const struct cpu_isa cpu_isa_avx2 = {
    .name = "cpu-avx2",
    CPU_ISA_BODIES
};
