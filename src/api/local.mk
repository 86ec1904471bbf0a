# layer 6: what the wire means.
noinst_LIBRARIES += libp_api.a
libp_api_a_SOURCES = \
	src/api/api.h src/api/exchange.h \
	src/api/body.c src/api/body.h src/api/body_int.h \
	src/api/body_msgs.c src/api/body_prompt.c \
	src/api/compat.c src/api/compat.h \
	src/api/error.c src/api/error.h
P_LIBS += libp_api.a
