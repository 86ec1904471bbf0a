# layer 1: arithmetic. Needs nothing but a C compiler. Each instruction set
# is an object library of its own, built with its own -m flags and entered
# only after a look at the CPU.
noinst_LIBRARIES += libp_kernels.a
P_KERN_LIBS = libp_kernels.a
libp_kernels_a_SOURCES = \
	kernels/kernels.h kernels/cpu/cpu.h \
	kernels/cpu/dispatch.c kernels/cpu/ops.c kernels/cpu/ref.c \
	kernels/cpu/quant.c kernels/cpu/quant.h \
	kernels/cpu/pool.c kernels/cpu/pool.h
if X86_64
noinst_LIBRARIES += libp_kern_avx2.a
libp_kern_avx2_a_SOURCES = kernels/cpu/cpu.h kernels/cpu/x86_avx2.c
libp_kern_avx2_a_CFLAGS = $(AM_CFLAGS) -mavx2 -mfma -mf16c
P_KERN_LIBS += libp_kern_avx2.a
endif
P_LIBS += $(P_KERN_LIBS)
P_ENGINE_LIBS += $(P_KERN_LIBS)
