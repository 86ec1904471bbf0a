/* kernels/cpu/body_row.h - norm, rotation, activation. See isa.h. */
#ifndef KERNELS_CPU_BODY_ROW_H
#define KERNELS_CPU_BODY_ROW_H

#include "kernels/cpu/isa.h"
#include "kernels/cpu/lanes.h"

#endif
