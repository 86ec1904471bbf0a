# layer 3: where keys and values live.
noinst_LIBRARIES += libp_kv.a
libp_kv_a_SOURCES = src/kv/pages.c src/kv/pages.h
P_ENGINE_LIBS += libp_kv.a
P_LIBS += libp_kv.a
