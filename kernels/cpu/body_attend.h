/* kernels/cpu/body_attend.h - the cache and attention over it. See isa.h. */
#ifndef KERNELS_CPU_BODY_ATTEND_H
#define KERNELS_CPU_BODY_ATTEND_H

#include "kernels/cpu/isa.h"
#include "kernels/cpu/lanes.h"

#endif
