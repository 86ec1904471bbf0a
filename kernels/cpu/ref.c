/* The portable set: plain C, the yardstick of every other. */
#include "kernels/cpu/body_all.h"

const struct cpu_isa cpu_isa_ref = {
    .name = "cpu-ref",
    CPU_ISA_BODIES
};
