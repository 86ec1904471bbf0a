/* kernels/cpu/body_float.h - products of F32, F16 and BF16 tiles. See isa.h. */
#ifndef KERNELS_CPU_BODY_FLOAT_H
#define KERNELS_CPU_BODY_FLOAT_H

#include "kernels/cpu/isa.h"
#include "kernels/cpu/lanes.h"

#endif
