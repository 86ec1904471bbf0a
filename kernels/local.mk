# layer 1: arithmetic. Needs nothing but a C compiler. Each instruction set
# is an object library of its own, built with its own -m flags and entered
# only after a look at the CPU.
noinst_LIBRARIES += libp_kernels.a
libp_kernels_a_SOURCES = \
	kernels/kernels.h kernels/cpu/cpu.h \
	kernels/cpu/dispatch.c kernels/cpu/ops.c kernels/cpu/ref.c \
	kernels/cpu/quant.c kernels/cpu/quant.h \
	kernels/cpu/pool.c kernels/cpu/pool.h
P_LIBS += libp_kernels.a
P_ENGINE_LIBS += libp_kernels.a
