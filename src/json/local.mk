# layer 1: JSON. The only folder that includes yajl.
noinst_LIBRARIES += libp_json.a
libp_json_a_SOURCES = \
	src/json/read.c src/json/read.h \
	src/json/write.c src/json/write.h
libp_json_a_CFLAGS = $(PARSER_CFLAGS) $(YAJL_CFLAGS)
P_LIBS += libp_json.a
