# C tests: t/unit/<folder>_<name>.c, one program each, TAP through t/lib/tap.h.
unit_tests =
unit_tests += t/unit/base_utf8 t/unit/base_mem
t_unit_base_utf8_LDADD = libp_base.a
t_unit_base_mem_LDADD = libp_base.a
# gen, kv
unit_tests += t/unit/gen_ring t/unit/gen_guide t/unit/kv_pages
t_unit_gen_ring_LDADD = libp_gen.a libp_base.a
t_unit_gen_guide_LDADD = libp_gen.a libp_base.a
t_unit_kv_pages_LDADD = libp_kv.a libp_base.a
# A struct gen that plays ids from a list, for tests of what lies above it.
check_LIBRARIES = libt_scripted.a
libt_scripted_a_SOURCES = t/lib/scripted.c t/lib/scripted.h
# gguf; gguf_open is a tool of the Perl tests
unit_tests += t/unit/gguf_read
check_PROGRAMS += t/unit/gguf_open
t_unit_gguf_read_LDADD = libp_gguf.a libp_base.a
t_unit_gguf_open_LDADD = libp_gguf.a libp_base.a
check_PROGRAMS += $(unit_tests)
