# layer 1: GGUF files
noinst_LIBRARIES += libp_gguf.a
libp_gguf_a_SOURCES = src/gguf/gguf.h src/gguf/impl.h \
	src/gguf/gguf.c src/gguf/meta.c src/gguf/types.c
libp_gguf_a_CFLAGS = $(PARSER_CFLAGS)
P_LIBS += libp_gguf.a
P_ENGINE_LIBS += libp_gguf.a
