# layer 4: the engine. Needs a C compiler and nothing else.
noinst_LIBRARIES += libp_engine.a
libp_engine_a_SOURCES = \
	src/engine/engine.c src/engine/engine.h \
	src/engine/sched.c src/engine/sched.h src/engine/sched_int.h \
	src/engine/sched_admit.c src/engine/sched_cache.c \
	src/engine/sched_memory.c src/engine/sched_spool.c src/engine/sched_step.c \
	src/engine/sched_tell.c \
	src/engine/identity.c src/engine/identity.h \
	src/engine/plan.c src/engine/plan.h \
	src/engine/queue.c src/engine/queue.h \
	src/engine/seq.c src/engine/seq.h \
	src/engine/eta.c src/engine/eta.h \
	src/engine/sample.c src/engine/sample.h \
	src/engine/row.c src/engine/row.h \
	src/engine/penalty.c src/engine/penalty.h \
	src/engine/forward.c src/engine/forward.h \
	src/engine/model.c src/engine/model.h \
	src/engine/rope.c src/engine/rope.h \
	src/engine/packs.c src/engine/packs.h \
	src/engine/packplace.c src/engine/packplace.h \
	src/engine/packfile.c src/engine/packfile.h \
	src/engine/packsum.c \
	src/engine/gate.c src/engine/gate.h \
	src/engine/arch.c src/engine/arch.h src/engine/arch_dense.c
P_ENGINE_LIBS += libp_engine.a
P_LIBS += libp_engine.a
