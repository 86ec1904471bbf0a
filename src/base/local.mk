# layer 0. libp_crypt needs GnuTLS and stays apart: the engine builds without it.
noinst_LIBRARIES += libp_base.a libp_crypt.a
libp_base_a_SOURCES = \
	src/base/banned.h src/base/vec.h src/base/ascii.h \
	src/base/percent.c src/base/percent.h \
	src/base/err.c src/base/err.h \
	src/base/mem.c src/base/mem.h \
	src/base/buf.c src/base/buf.h \
	src/base/utf8.c src/base/utf8.h \
	src/base/num.c src/base/num.h \
	src/base/log.c src/base/log.h \
	src/base/sum.c src/base/sum.h \
	src/base/thread.c src/base/thread.h
libp_crypt_a_SOURCES = src/base/crypt.c src/base/crypt.h
libp_crypt_a_CFLAGS = $(AM_CFLAGS) $(GNUTLS_CFLAGS)
P_ENGINE_LIBS += libp_base.a
P_LIBS += libp_crypt.a libp_base.a
