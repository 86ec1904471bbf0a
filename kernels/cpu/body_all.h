/*
 * kernels/cpu/body_all.h - the one text of all kernels. A set's file chooses
 * its lanes, includes this page and puts CPU_ISA_BODIES into its table.
 */
#ifndef KERNELS_CPU_BODY_ALL_H
#define KERNELS_CPU_BODY_ALL_H

#include "kernels/cpu/body_attend.h"
#include "kernels/cpu/body_product.h"
#include "kernels/cpu/body_row.h"

/* Each body's owner adds its functions here. */
#define CPU_ISA_BODIES                                                         \
    .round = int_round, .product = product,                                    \
    .norm = row_norm, .rotate = row_rotate, .swiglu = row_swiglu,              \
    .add = row_add, .kv_put = kv_put, .attend = attend,

#endif
