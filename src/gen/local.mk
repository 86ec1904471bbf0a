# layer 3: the contract between callers and engines.
noinst_LIBRARIES += libp_gen.a
libp_gen_a_SOURCES = \
	src/gen/gen.c src/gen/gen.h \
	src/gen/ring.c src/gen/ring.h \
	src/gen/memory.c src/gen/memory.h \
	src/gen/guide.c src/gen/guide.h \
	src/gen/guide_pattern.c src/gen/guide_both.c \
	src/gen/guide_think.c src/gen/guide_think.h \
	src/gen/guide_after.c src/gen/guide_after.h \
	src/gen/guide_trigger.c src/gen/guide_trigger.h \
	src/gen/guide_mark.c src/gen/guide_mark.h \
	src/gen/guide_window.c src/gen/guide_window.h \
	src/gen/catalog.c src/gen/catalog.h
P_ENGINE_LIBS += libp_gen.a
P_LIBS += libp_gen.a
