# layer 3: where keys and values live.
noinst_LIBRARIES += libp_kv.a
libp_kv_a_SOURCES = \
	src/kv/pages.c src/kv/pages.h \
	src/kv/tree.c src/kv/tree.h src/kv/tree_int.h \
	src/kv/tree_evict.c src/kv/tree_heap.c src/kv/tree_image.c
libp_kv_a_SOURCES += src/kv/spool.c src/kv/spool_disk.c src/kv/spool_file.c \
	src/kv/spool_index.c src/kv/spool.h src/kv/spool_disk.h \
	src/kv/spool_file.h src/kv/spool_index.h
P_ENGINE_LIBS += libp_kv.a
P_LIBS += libp_kv.a
