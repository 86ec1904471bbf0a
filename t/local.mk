# Fuzz drivers: t/fuzz/NAME.c, seeds in t/fuzz/seeds/NAME/. They run over
# their seeds in every build (t/0020-fuzz-seeds.t); --enable-fuzz makes
# libFuzzer programs of them:  t/fuzz/NAME -max_total_time=60 DIR SEEDS
# A new one needs the three lines of json_read.
fuzz_tests =
if FUZZ
fuzz_main =
fuzz_ldflags = $(AM_LDFLAGS) -fsanitize=fuzzer
else
fuzz_main = t/fuzz/main.c
fuzz_ldflags = $(AM_LDFLAGS)
endif

# C tests: t/unit/<folder>_<name>.c, one program each, TAP through t/lib/tap.h.
unit_tests =
unit_tests += t/unit/base_utf8 t/unit/base_mem
t_unit_base_utf8_LDADD = libp_base.a
t_unit_base_mem_LDADD = libp_base.a
# gen, kv
unit_tests += t/unit/gen_ring t/unit/gen_guide t/unit/kv_pages
t_unit_gen_ring_LDADD = libp_gen.a libp_base.a
t_unit_gen_guide_LDADD = libp_gen.a libp_base.a
unit_tests += t/unit/gen_think t/unit/gen_window
t_unit_gen_think_LDADD = libp_gen.a libp_base.a
t_unit_gen_window_LDADD = libp_gen.a libp_base.a
t_unit_kv_pages_LDADD = libp_kv.a libp_base.a
# strings, numbers and values of JSON Schema; its public test suite (a tool)
unit_tests += t/unit/gram_leaf t/unit/gram_strict
t_unit_gram_leaf_LDADD = $(P_LIBS) $(P_LDLIBS)
t_unit_gram_strict_LDADD = $(P_LIBS) $(P_LDLIBS)
check_PROGRAMS += t/unit/gram_suite
t_unit_gram_suite_LDADD = $(P_LIBS) $(P_LDLIBS)
# engine; libt_model is the demo model for C tests
check_LIBRARIES = libt_model.a
libt_model_a_SOURCES = t/lib/model.c t/lib/model.h
# the scheduler's parts
unit_tests += t/unit/engine_plan t/unit/engine_queue
t_unit_engine_plan_LDADD = $(P_ENGINE_LIBS)
t_unit_engine_queue_LDADD = $(P_ENGINE_LIBS)
unit_tests += t/unit/engine_cache
t_unit_engine_cache_LDADD = libt_model.a $(P_ENGINE_LIBS)
unit_tests += t/unit/engine_spool t/unit/engine_side
t_unit_engine_spool_LDADD = libt_model.a $(P_ENGINE_LIBS)
t_unit_engine_side_LDADD = libt_model.a $(P_ENGINE_LIBS)
unit_tests += t/unit/engine_sched t/unit/engine_share t/unit/engine_sample
t_unit_engine_sample_LDADD = $(P_ENGINE_LIBS)
t_unit_engine_sched_LDADD = libt_model.a $(P_ENGINE_LIBS)
t_unit_engine_share_LDADD = libt_model.a $(P_ENGINE_LIBS)
unit_tests += t/unit/engine_think
t_unit_engine_think_LDADD = libt_model.a $(P_ENGINE_LIBS)
unit_tests += t/unit/engine_seq
t_unit_engine_seq_LDADD = $(P_ENGINE_LIBS)
unit_tests += t/unit/engine_penalty
t_unit_engine_penalty_LDADD = $(P_ENGINE_LIBS)
unit_tests += t/unit/engine_row
t_unit_engine_row_LDADD = $(P_ENGINE_LIBS)
unit_tests += t/unit/engine_sampling
t_unit_engine_sampling_LDADD = libt_model.a $(P_ENGINE_LIBS)
# A struct gen that plays ids from a list, for tests of what lies above it.
check_LIBRARIES += libt_scripted.a
libt_scripted_a_SOURCES = t/lib/scripted.c t/lib/scripted.h
# gguf; gguf_open is a tool of the Perl tests
unit_tests += t/unit/gguf_read
check_PROGRAMS += t/unit/gguf_open
t_unit_gguf_read_LDADD = libp_gguf.a libp_base.a
t_unit_gguf_open_LDADD = libp_gguf.a libp_base.a
fuzz_tests += t/fuzz/gguf
t_fuzz_gguf_SOURCES = t/fuzz/gguf.c $(fuzz_main)
t_fuzz_gguf_LDADD = libp_gguf.a libp_base.a
t_fuzz_gguf_LDFLAGS = $(fuzz_ldflags)
# chat: vocabularies; chat_vocab_open is a tool of the Perl tests
unit_tests += t/unit/chat_vocab
check_PROGRAMS += t/unit/chat_vocab_open
VOCAB_LDADD = libp_chat.a libp_text.a libp_gguf.a libp_json.a libp_base.a \
	$(PCRE2_LIBS) $(YAJL_LIBS)
t_unit_chat_vocab_LDADD = $(VOCAB_LDADD)
t_unit_chat_vocab_open_LDADD = $(VOCAB_LDADD)
fuzz_tests += t/fuzz/vocab
t_fuzz_vocab_SOURCES = t/fuzz/vocab.c $(fuzz_main)
t_fuzz_vocab_LDADD = $(VOCAB_LDADD)
t_fuzz_vocab_LDFLAGS = $(fuzz_ldflags)
# json
unit_tests += t/unit/json_read t/unit/json_write
t_unit_json_read_LDADD = libp_json.a libp_base.a $(YAJL_LIBS)
t_unit_json_write_LDADD = libp_json.a libp_base.a $(YAJL_LIBS)
fuzz_tests += t/fuzz/json_read
t_fuzz_json_read_SOURCES = t/fuzz/json_read.c $(fuzz_main)
t_fuzz_json_read_LDADD = libp_json.a libp_base.a $(YAJL_LIBS)
t_fuzz_json_read_LDFLAGS = $(fuzz_ldflags)
# db, acct
unit_tests += t/unit/db_open t/unit/db_writer
DB_LDADD = libp_db.a libp_base.a $(SQLITE_LIBS)
t_unit_db_open_LDADD = $(DB_LDADD)
t_unit_db_writer_LDADD = $(DB_LDADD)
unit_tests += t/unit/acct_keys t/unit/acct_ledger
ACCT_LDADD = libp_acct.a libp_db.a libp_crypt.a libp_base.a $(SQLITE_LIBS) \
	$(GNUTLS_LIBS)
# a tool of the Perl tests
check_PROGRAMS += t/unit/ledger_tool
t_unit_ledger_tool_LDADD = $(ACCT_LDADD)
t_unit_acct_keys_LDADD = $(ACCT_LDADD)
t_unit_acct_ledger_LDADD = $(ACCT_LDADD)
unit_tests += t/unit/acct_limits
t_unit_acct_limits_LDADD = $(ACCT_LDADD)
unit_tests += t/unit/acct_responses
t_unit_acct_responses_LDADD = $(ACCT_LDADD)
# text; text_batch is a tool of the Perl tests
unit_tests += t/unit/text_tok
check_PROGRAMS += t/unit/text_batch
t_unit_text_tok_LDADD = libp_text.a libp_base.a $(PCRE2_LIBS)
t_unit_text_batch_LDADD = libp_text.a libp_base.a $(PCRE2_LIBS)
fuzz_tests += t/fuzz/tok
t_fuzz_tok_SOURCES = t/fuzz/tok.c $(fuzz_main)
t_fuzz_tok_LDADD = libp_text.a libp_base.a $(PCRE2_LIBS)
t_fuzz_tok_LDFLAGS = $(fuzz_ldflags)
check_PROGRAMS += $(fuzz_tests)
# api: bodies
unit_tests += t/unit/api_body
t_unit_api_body_LDADD = $(P_LIBS) $(P_LDLIBS)
check_PROGRAMS += t/unit/api_body_error
t_unit_api_body_error_LDADD = $(P_LIBS) $(P_LDLIBS)
# api: the body of /v1/responses, and seals
unit_tests += t/unit/api_items t/unit/api_items_fields t/unit/api_seal
t_unit_api_items_LDADD = $(P_LIBS) $(P_LDLIBS)
t_unit_api_items_fields_LDADD = $(P_LIBS) $(P_LDLIBS)
t_unit_api_seal_LDADD = $(P_LIBS) $(P_LDLIBS)
unit_tests += t/unit/api_arena
t_unit_api_arena_LDADD = $(P_LIBS) $(P_LDLIBS)
unit_tests += t/unit/api_items_wire
t_unit_api_items_wire_LDADD = $(APIT_LDADD)
fuzz_tests += t/fuzz/body
t_fuzz_body_SOURCES = t/fuzz/body.c t/lib/bodycheck.h $(fuzz_main)
t_fuzz_body_LDADD = $(P_LIBS) $(P_LDLIBS)
t_fuzz_body_LDFLAGS = $(fuzz_ldflags)
fuzz_tests += t/fuzz/items t/fuzz/blocks
t_fuzz_items_SOURCES = t/fuzz/items.c t/lib/bodycheck.h $(fuzz_main)
t_fuzz_items_LDADD = $(P_LIBS) $(P_LDLIBS)
t_fuzz_items_LDFLAGS = $(fuzz_ldflags)
t_fuzz_blocks_SOURCES = t/fuzz/blocks.c t/lib/bodycheck.h $(fuzz_main)
t_fuzz_blocks_LDADD = $(P_LIBS) $(P_LDLIBS)
t_fuzz_blocks_LDFLAGS = $(fuzz_ldflags)
# chat: calls that are written as text
unit_tests += t/unit/chat_tagcall t/unit/chat_jsoncall t/unit/chat_bracketcall \
	t/unit/chat_sectioncall
CALLS_LDADD = $(P_LIBS) $(P_LDLIBS)
t_unit_chat_tagcall_LDADD = $(CALLS_LDADD)
t_unit_chat_jsoncall_LDADD = $(CALLS_LDADD)
t_unit_chat_bracketcall_LDADD = $(CALLS_LDADD)
unit_tests += t/unit/chat_jsonread
t_unit_chat_jsonread_LDADD = $(CALLS_LDADD)
t_unit_chat_sectioncall_LDADD = $(CALLS_LDADD)
# kernels
unit_tests += t/unit/kernels_ops t/unit/kernels_quant t/unit/kernels_onetext \
	t/unit/kernels_pool
t_unit_kernels_pool_LDADD = libp_kernels.a libp_base.a
t_unit_kernels_ops_LDADD = $(P_KERN_LIBS) libp_base.a
t_unit_kernels_quant_LDADD = $(P_KERN_LIBS) libp_base.a
t_unit_kernels_onetext_LDADD = $(P_KERN_LIBS) libp_base.a
unit_tests += t/unit/kernels_float
t_unit_kernels_float_LDADD = $(P_KERN_LIBS) libp_base.a
unit_tests += t/unit/kernels_row t/unit/kernels_attend
t_unit_kernels_row_LDADD = $(P_KERN_LIBS) libp_base.a
t_unit_kernels_attend_LDADD = $(P_KERN_LIBS) libp_base.a
# kernels: packed tiles, products of quantised weights
unit_tests += t/unit/kernels_pack t/unit/kernels_product
t_unit_kernels_pack_LDADD = libp_kernels.a libp_base.a
t_unit_kernels_product_LDADD = $(P_KERN_LIBS) libp_base.a
# kernels: products with many activation rows
unit_tests += t/unit/kernels_wide
t_unit_kernels_wide_LDADD = $(P_KERN_LIBS) libp_base.a
# not built by default: make t/bench/kernels
EXTRA_PROGRAMS = t/bench/kernels
t_bench_kernels_LDADD = $(P_KERN_LIBS) libp_base.a
# the same
EXTRA_PROGRAMS += t/bench/attend
t_bench_attend_LDADD = $(P_KERN_LIBS) libp_base.a
EXTRA_PROGRAMS += t/bench/products
t_bench_products_LDADD = $(P_KERN_LIBS) libp_base.a
# fcgi
unit_tests += t/unit/fcgi_req t/unit/fcgi_conf
t_unit_fcgi_req_LDADD = libp_fcgi.a libp_base.a
t_unit_fcgi_conf_LDADD = libp_fcgi.a libp_api.a libp_base.a
fuzz_tests += t/fuzz/fcgi_params
t_fuzz_fcgi_params_SOURCES = t/fuzz/fcgi_params.c $(fuzz_main)
t_fuzz_fcgi_params_LDADD = libp_fcgi.a libp_base.a
t_fuzz_fcgi_params_LDFLAGS = $(fuzz_ldflags)
# chat: formats and replies
unit_tests += t/unit/chat_reply t/unit/chat_format
t_unit_chat_reply_LDADD = $(P_LIBS) $(P_LDLIBS)
t_unit_chat_format_LDADD = $(P_LIBS) $(P_LDLIBS)
unit_tests += t/unit/chat_scan t/unit/chat_calls
t_unit_chat_scan_LDADD = libp_chat.a libp_base.a
t_unit_chat_calls_LDADD = libp_chat.a libp_base.a
fuzz_tests += t/fuzz/chatjson t/fuzz/reply
t_fuzz_chatjson_SOURCES = t/fuzz/chatjson.c t/lib/toy_tok.h $(fuzz_main)
t_fuzz_chatjson_LDADD = $(P_LIBS) $(P_LDLIBS)
t_fuzz_chatjson_LDFLAGS = $(fuzz_ldflags)
t_fuzz_reply_SOURCES = t/fuzz/reply.c t/lib/toy_tok.h $(fuzz_main)
t_fuzz_reply_LDADD = $(P_LIBS) $(P_LDLIBS)
t_fuzz_reply_LDFLAGS = $(fuzz_ldflags)
fuzz_tests += t/fuzz/emits
t_fuzz_emits_SOURCES = t/fuzz/emits.c t/lib/parts_t.h t/lib/toy_tok.h \
	$(fuzz_main)
t_fuzz_emits_LDADD = $(P_LIBS) $(P_LDLIBS)
t_fuzz_emits_LDFLAGS = $(fuzz_ldflags)
# chat: XTML, DSML and what they share
unit_tests += t/unit/chat_jsontext t/unit/chat_results t/unit/chat_xtml \
	t/unit/chat_xtml_reply t/unit/chat_dsml
XTML_LDADD = $(P_LIBS) $(P_LDLIBS)
t_unit_chat_jsontext_LDADD = $(XTML_LDADD)
t_unit_chat_results_LDADD = $(XTML_LDADD)
t_unit_chat_xtml_LDADD = $(XTML_LDADD)
t_unit_chat_xtml_reply_LDADD = $(XTML_LDADD)
t_unit_chat_dsml_LDADD = $(XTML_LDADD)
fuzz_tests += t/fuzz/dialects
t_fuzz_dialects_SOURCES = t/fuzz/dialects.c t/lib/dialect_t.h $(fuzz_main)
t_fuzz_dialects_LDADD = $(P_LIBS) $(P_LDLIBS)
t_fuzz_dialects_LDFLAGS = $(fuzz_ldflags)
# api, on a script and a real database
check_LIBRARIES += libt_apit.a
libt_apit_a_SOURCES = t/lib/apit.c t/lib/apit.h
libt_apit_a_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
$(libt_apit_a_OBJECTS): src/db/sql.h
unit_tests += t/unit/api_routes t/unit/api_chat t/unit/api_gone \
	t/unit/api_tools
APIT_LDADD = libt_apit.a libt_scripted.a $(P_LIBS) $(P_LDLIBS)
t_unit_api_routes_LDADD = $(APIT_LDADD)
t_unit_api_chat_LDADD = $(APIT_LDADD)
t_unit_api_gone_LDADD = $(APIT_LDADD)
unit_tests += t/unit/api_quota
t_unit_api_quota_LDADD = $(APIT_LDADD)
# not built by default: make t/bench/reply
EXTRA_PROGRAMS += t/bench/reply
t_bench_reply_LDADD = $(P_LIBS) $(P_LDLIBS)
t_unit_api_tools_LDADD = $(APIT_LDADD)
unit_tests += t/unit/api_calls t/unit/api_choices
t_unit_api_calls_LDADD = $(APIT_LDADD)
t_unit_api_choices_LDADD = $(APIT_LDADD)
unit_tests += t/unit/api_logprobs t/unit/api_logprobs_wire
t_unit_api_logprobs_wire_LDADD = $(APIT_LDADD)
t_unit_api_logprobs_LDADD = $(P_LIBS) $(P_LDLIBS)
# api: what a request cost
unit_tests += t/unit/api_figures
t_unit_api_figures_LDADD = $(APIT_LDADD)
# api: what clients of /v1/responses get
unit_tests += t/unit/api_emit_responses
t_unit_api_emit_responses_LDADD = $(APIT_LDADD)
# api: an answer in the order of the model
unit_tests += t/unit/api_callinput
t_unit_api_callinput_LDADD = $(P_LIBS) $(P_LDLIBS)
unit_tests += t/unit/api_pieces t/unit/api_ordered
t_unit_api_ordered_LDADD = $(APIT_LDADD)
t_unit_api_pieces_LDADD = $(P_LIBS) $(P_LDLIBS)
t_unit_api_pieces_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=realloc
# api: what waits
unit_tests += t/unit/api_wait
t_unit_api_wait_LDADD = $(APIT_LDADD)
# api: how reasoning reaches a client
unit_tests += t/unit/api_guides
t_unit_api_guides_LDADD = $(P_LIBS) $(P_LDLIBS)
unit_tests += t/unit/api_reason
t_unit_api_reason_LDADD = $(P_LIBS) $(P_LDLIBS)
unit_tests += t/unit/api_reasoning
t_unit_api_reasoning_LDADD = $(APIT_LDADD)
unit_tests += t/unit/api_budget
t_unit_api_budget_LDADD = $(APIT_LDADD)
# latency: what t/bench/latency measures with
EXTRA_PROGRAMS += t/bench/sse_client t/bench/http_upstream
t_bench_sse_client_CFLAGS = $(AM_CFLAGS) $(GNUTLS_CFLAGS)
t_bench_sse_client_LDADD = libp_base.a $(GNUTLS_LIBS)
t_bench_http_upstream_LDADD = libp_base.a
# chat: tools
unit_tests += t/unit/chat_tools
t_unit_chat_tools_LDADD = $(P_LIBS) $(P_LDLIBS)
unit_tests += t/unit/chat_history t/unit/api_body_tools t/unit/chat_textreply
t_unit_chat_textreply_LDADD = $(P_LIBS) $(P_LDLIBS)
t_unit_chat_history_LDADD = libp_chat.a libp_json.a libp_base.a $(YAJL_LIBS)
t_unit_api_body_tools_LDADD = $(P_LIBS) $(P_LDLIBS)
# chat: chat.json and the tool forms that ride on it
unit_tests += t/unit/chat_chatjson t/unit/chat_kimi t/unit/chat_glm
t_unit_chat_chatjson_LDADD = $(P_LIBS) $(P_LDLIBS)
t_unit_chat_glm_LDADD = $(P_LIBS) $(P_LDLIBS)
t_unit_chat_kimi_LDADD = $(P_LIBS) $(P_LDLIBS)
# the library of the template language
unit_tests += t/unit/chat_jinja_lib
t_unit_chat_jinja_lib_LDADD = $(P_LIBS) $(P_LDLIBS)

# chat: formats that are templates
unit_tests += t/unit/chat_jinja_format
t_unit_chat_jinja_format_LDADD = $(P_LIBS) $(P_LDLIBS)
# how calls are written, as data
unit_tests += t/unit/chat_callform t/unit/api_callgram t/unit/api_callids
t_unit_api_callgram_SOURCES = t/unit/api_callgram.c t/lib/callforms.h \
	t/lib/template_t.h
t_unit_api_callgram_LDADD = $(P_LIBS) $(P_LDLIBS)
t_unit_api_callids_SOURCES = t/unit/api_callids.c t/lib/callforms.h \
	t/lib/template_t.h
t_unit_api_callids_LDADD = $(P_LIBS) $(P_LDLIBS)
t_unit_chat_callform_LDADD = $(P_LIBS) $(P_LDLIBS)
EXTRA_PROGRAMS += t/bench/render
t_bench_render_LDADD = $(P_LIBS) $(P_LDLIBS)
fuzz_tests += t/fuzz/jinja_format
t_fuzz_jinja_format_SOURCES = t/fuzz/jinja_format.c t/lib/toy_tok.h $(fuzz_main)
t_fuzz_jinja_format_LDADD = $(P_LIBS) $(P_LDLIBS)
t_fuzz_jinja_format_LDFLAGS = $(fuzz_ldflags)
# chat: the template language
unit_tests += t/unit/chat_jinja
t_unit_chat_jinja_LDADD = $(P_LIBS) $(P_LDLIBS)
unit_tests += t/unit/chat_jinja_cost
t_unit_chat_jinja_cost_LDADD = $(P_LIBS) $(P_LDLIBS)
fuzz_tests += t/fuzz/jinja
t_fuzz_jinja_SOURCES = t/fuzz/jinja.c $(fuzz_main)
t_fuzz_jinja_LDADD = $(P_LIBS) $(P_LDLIBS)
t_fuzz_jinja_LDFLAGS = $(fuzz_ldflags)
# jinja_tool is a tool of the Perl tests
check_PROGRAMS += t/unit/jinja_tool
t_unit_jinja_tool_LDADD = $(P_LIBS) $(P_LDLIBS)
# chat: the end of reasoning
unit_tests += t/unit/chat_thinkcut
t_unit_chat_thinkcut_LDADD = $(P_LIBS) $(P_LDLIBS)
unit_tests += t/unit/api_fields t/unit/api_think
t_unit_api_fields_LDADD = $(P_LIBS) $(P_LDLIBS)
t_unit_api_think_LDADD = $(t_unit_api_fields_LDADD)

# products against double precision
unit_tests += t/unit/kernels_f64
t_unit_kernels_f64_LDADD = $(P_KERN_LIBS) libp_base.a
# whole pages of the cache
unit_tests += t/unit/kernels_kv
t_unit_kernels_kv_LDADD = $(P_KERN_LIBS) libp_base.a
# how surprised a model is by a text: a tool of the Perl tests
check_PROGRAMS += t/unit/perplexity_tool
t_unit_perplexity_tool_LDADD = $(P_ENGINE_LIBS)
# one text, through the engine
unit_tests += t/unit/engine_onetext
t_unit_engine_onetext_LDADD = libt_model.a $(P_ENGINE_LIBS)

# how far positions turn
unit_tests += t/unit/engine_rope
t_unit_engine_rope_LDADD = $(P_ENGINE_LIBS)
# engine: packed weights and their cache file
unit_tests += t/unit/engine_packs
t_unit_engine_packs_LDADD = $(P_ENGINE_LIBS)
fuzz_tests += t/fuzz/pack_cache
t_fuzz_pack_cache_SOURCES = t/fuzz/pack_cache.c $(fuzz_main)
t_fuzz_pack_cache_LDADD = $(P_ENGINE_LIBS)
t_fuzz_pack_cache_LDFLAGS = $(fuzz_ldflags)
# the prefix tree; every allocation of it fails once
unit_tests += t/unit/kv_tree
t_unit_kv_tree_LDADD = libp_kv.a libp_base.a
t_unit_kv_tree_LDFLAGS = -Wl,--wrap=calloc -Wl,--wrap=realloc

# kv: the disk tier
unit_tests += t/unit/kv_spool
t_unit_kv_spool_LDADD = libp_kv.a libp_base.a
fuzz_tests += t/fuzz/spool
t_fuzz_spool_SOURCES = t/fuzz/spool.c $(fuzz_main)
t_fuzz_spool_LDADD = libp_kv.a libp_base.a
t_fuzz_spool_LDFLAGS = $(fuzz_ldflags)

# how long somebody who waits will wait
unit_tests += t/unit/engine_eta
t_unit_engine_eta_LDADD = $(P_ENGINE_LIBS)

# the accounts of memory
unit_tests += t/unit/gen_memory
t_unit_gen_memory_LDADD = libp_gen.a libp_base.a
# the memory gate
unit_tests += t/unit/engine_gate
t_unit_engine_gate_LDADD = libp_engine.a libp_gen.a libp_base.a
# many clients at once: a tool of the Perl tests
check_PROGRAMS += t/load/client
t_load_client_LDADD = libp_base.a
# what requests hold, in the accounts
unit_tests += t/unit/api_hold
t_unit_api_hold_LDADD = $(APIT_LDADD)

# api: what runs now, and counts of what ran
unit_tests += t/unit/api_live t/unit/api_metrics
t_unit_api_live_LDADD = $(APIT_LDADD)
t_unit_api_metrics_LDADD = $(APIT_LDADD)
# a guide that waits for the end of a reasoning
unit_tests += t/unit/gen_after t/unit/gen_trigger
t_unit_gen_trigger_LDADD = libp_gen.a libp_base.a
t_unit_gen_after_LDADD = libp_gen.a libp_base.a
# gram: places in texts, vocabularies, masks; libt_mask has a grammar by hand
# and compares masks with walking every id
check_LIBRARIES += libt_mask.a
libt_mask_a_SOURCES = t/lib/handgram.c t/lib/handgram.h t/lib/maskcheck.c \
	t/lib/maskcheck.h
unit_tests += t/unit/gram_machine t/unit/gram_mask
t_unit_gram_machine_LDADD = libt_mask.a libp_gram.a libp_base.a
t_unit_gram_mask_LDADD = libt_mask.a libp_gram.a libp_base.a
# gram: expressions to automata
unit_tests += t/unit/gram_expr t/unit/gram_compile t/unit/gram_reads \
	t/unit/gram_bounds
t_unit_gram_expr_LDADD = libp_gram.a libp_base.a
t_unit_gram_compile_LDADD = libp_gram.a libp_base.a
t_unit_gram_reads_LDADD = libt_mask.a libp_gram.a libp_base.a
t_unit_gram_bounds_LDADD = libt_mask.a libp_gram.a libp_text.a libp_json.a \
	libp_base.a $(P_LDLIBS)
# JSON Schema to grammars
unit_tests += t/unit/gram_schema
t_unit_gram_schema_LDADD = libp_gram.a libp_text.a libp_json.a libp_base.a \
	$(P_LDLIBS)
# gram: characters and regular expressions; any bytes as those or as schemas
GRAM_LDADD = libp_gram.a libp_text.a libp_json.a libp_base.a $(YAJL_LIBS)
unit_tests += t/unit/gram_charset t/unit/gram_regex
t_unit_gram_charset_LDADD = $(GRAM_LDADD)
t_unit_gram_regex_LDADD = $(GRAM_LDADD)
fuzz_tests += t/fuzz/regex t/fuzz/schema
t_fuzz_regex_SOURCES = t/fuzz/regex.c t/lib/gram_walk.h $(fuzz_main)
t_fuzz_regex_LDADD = $(GRAM_LDADD)
t_fuzz_regex_LDFLAGS = $(fuzz_ldflags)
t_fuzz_schema_SOURCES = t/fuzz/schema.c t/lib/gram_walk.h \
	t/lib/schema_make.h $(fuzz_main)
t_fuzz_schema_LDADD = $(GRAM_LDADD)
t_fuzz_schema_LDFLAGS = $(fuzz_ldflags)
# a tool of t/1120, and vocabularies and grammars from files
check_LIBRARIES += libt_gramfile.a
libt_gramfile_a_SOURCES = t/lib/gramfile.c t/lib/gramfile.h
GRAMFILE_LDADD = libt_gramfile.a libt_mask.a libp_gram.a libp_text.a \
	libp_json.a libp_base.a $(PCRE2_LIBS) $(YAJL_LIBS) -lm
check_PROGRAMS += t/unit/gram_masks_file
t_unit_gram_masks_file_LDADD = $(GRAMFILE_LDADD)
# not built by default: make t/bench/grammar_masks
EXTRA_PROGRAMS += t/bench/grammar_masks
t_bench_grammar_masks_LDADD = $(GRAMFILE_LDADD)
# api: what answers must look like
unit_tests += t/unit/api_shape
t_unit_api_shape_LDADD = $(APIT_LDADD)
# api: what the clients of /v1/messages get
unit_tests += t/unit/api_style t/unit/api_emit_messages
t_unit_api_style_LDADD = $(APIT_LDADD)
t_unit_api_emit_messages_LDADD = $(APIT_LDADD)
# stored responses
unit_tests += t/unit/api_stored
t_unit_api_stored_LDADD = $(APIT_LDADD)
unit_tests += t/unit/api_stored_past
t_unit_api_stored_past_LDADD = $(APIT_LDADD)
# api: the body of /v1/messages
unit_tests += t/unit/api_blocks t/unit/api_blocks_fields
t_unit_api_blocks_LDADD = $(P_LIBS) $(P_LDLIBS)
t_unit_api_blocks_fields_LDADD = $(t_unit_api_blocks_LDADD)

check_PROGRAMS += $(unit_tests)
