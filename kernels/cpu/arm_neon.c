/* NEON with the dot product. Entered only after a look at the CPU. */
#define LANES_NEON
#include "kernels/cpu/body_all.h"

const struct cpu_isa cpu_isa_neon = {
    .name = "cpu-neon",
    CPU_ISA_BODIES
};
