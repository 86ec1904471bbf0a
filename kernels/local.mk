# layer 1: arithmetic. Needs nothing but a C compiler. Each instruction set
# is an object library of its own, built with its own -m flags and entered
# only after a look at the CPU.
noinst_LIBRARIES += libp_kernels.a
P_KERN_LIBS = libp_kernels.a
libp_kernels_a_SOURCES = \
	kernels/kernels.h kernels/cpu/cpu.h kernels/cpu/isa.h \
	kernels/cpu/lanes.h kernels/cpu/lanes_c.h kernels/cpu/lanes_avx2.h \
	kernels/cpu/lanes_avx512.h kernels/cpu/lanes_neon.h kernels/cpu/body_all.h \
	kernels/cpu/body_attend.h kernels/cpu/body_float.h \
	kernels/cpu/body_int.h kernels/cpu/body_product.h \
	kernels/cpu/body_quads.h kernels/cpu/body_row.h \
	kernels/cpu/body_wide.h kernels/cpu/body_decode.h \
	kernels/cpu/pack.c kernels/cpu/pack.h kernels/cpu/ref.c \
	kernels/cpu/dispatch.c kernels/cpu/ops.c kernels/cpu/ops_attend.c \
	kernels/cpu/ops_kv.c kernels/cpu/ops_mm.c kernels/cpu/ops_pack.c kernels/cpu/ops_ready.c \
	kernels/cpu/quant.c kernels/cpu/quant.h \
	kernels/cpu/pool.c kernels/cpu/pool.h
if X86_64
noinst_LIBRARIES += libp_kern_avx2.a libp_kern_avx512.a \
	libp_kern_amx.a
libp_kern_avx2_a_SOURCES = kernels/cpu/x86_avx2.c
libp_kern_avx2_a_CFLAGS = $(AM_CFLAGS) -mavx2 -mfma -mf16c
libp_kern_avx512_a_SOURCES = kernels/cpu/x86_avx512.c
libp_kern_avx512_a_CFLAGS = $(AM_CFLAGS) -mavx512f -mavx512bw -mavx512dq \
	-mavx512vl -mavx512vnni -mfma -mf16c
libp_kern_amx_a_SOURCES = kernels/cpu/x86_amx.c kernels/cpu/x86_amx.h
libp_kern_amx_a_CFLAGS = $(libp_kern_avx512_a_CFLAGS) -mamx-tile -mamx-int8
P_KERN_LIBS += libp_kern_avx2.a libp_kern_avx512.a libp_kern_amx.a
endif
if AARCH64
noinst_LIBRARIES += libp_kern_neon.a
libp_kern_neon_a_SOURCES = kernels/cpu/arm_neon.c
libp_kern_neon_a_CFLAGS = $(AM_CFLAGS) -march=armv8.2-a+dotprod
P_KERN_LIBS += libp_kern_neon.a
endif
P_LIBS += $(P_KERN_LIBS)
P_ENGINE_LIBS += $(P_KERN_LIBS)
