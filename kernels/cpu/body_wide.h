/*
 * kernels/cpu/body_wide.h - quantised weights and many activation rows: a
 * stretch of columns is decoded once for all of them. See isa.h.
 */
#ifndef KERNELS_CPU_BODY_WIDE_H
#define KERNELS_CPU_BODY_WIDE_H

#include "kernels/cpu/isa.h"
#include "kernels/cpu/lanes.h"

#endif
