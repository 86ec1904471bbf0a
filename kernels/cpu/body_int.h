/*
 * kernels/cpu/body_int.h - quantised weights and few activation rows: rounding
 * activations, and the product that reads the packed bytes. See isa.h.
 */
#ifndef KERNELS_CPU_BODY_INT_H
#define KERNELS_CPU_BODY_INT_H

#include "kernels/cpu/isa.h"
#include "kernels/cpu/lanes.h"

#endif
