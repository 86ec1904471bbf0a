# layer 6: what the wire means.
noinst_LIBRARIES += libp_api.a
libp_api_a_SOURCES = \
	src/api/api.h src/api/exchange.h \
	src/api/body.c src/api/body.h src/api/body_int.h \
	src/api/body_msgs.c src/api/body_history.c \
	src/api/body_tools.c src/api/body_think.c src/api/body_shape.c \
	src/api/body_tree.c \
	src/api/body_items.c src/api/body_items.h \
	src/api/body_items_list.c src/api/body_items_input.c \
	src/api/body_items_tools.c \
	src/api/seal.c src/api/seal.h \
	src/api/body_blocks.c src/api/body_blocks.h \
	src/api/body_blocks_msgs.c src/api/body_draft.c src/api/body_draft.h \
	src/api/body_prompt.c src/api/body_bias.c \
	src/api/compat.c src/api/compat.h src/api/compat_fields.c \
	src/api/compat_rows.h src/api/compat_responses.c \
	src/api/compat_messages.c \
	src/api/error.c src/api/error.h \
	src/api/api.c src/api/context.h \
	src/api/route.c src/api/route.h src/api/handlers.h \
	src/api/who.c src/api/who.h \
	src/api/answer.c src/api/answer.h \
	src/api/hold.c src/api/hold.h \
	src/api/cors.c src/api/cors.h \
	src/api/exchange.c src/api/run.c src/api/run.h \
	src/api/generate.c src/api/wire.h \
	src/api/chat.c src/api/responses.c src/api/messages.c \
	src/api/prompts.c src/api/prompts.h \
	src/api/guides.c src/api/guides.h \
	src/api/callgram.c src/api/callgram.h \
	src/api/calltext.c src/api/calltext.h \
	src/api/callmemo.c src/api/callmemo.h \
	src/api/shape.c src/api/shape.h \
	src/api/grammars.c src/api/grammars.h \
	src/api/lexicon.c src/api/lexicon.h \
	src/api/guide_grammar.c src/api/guide_grammar.h \
	src/api/pump.c src/api/figures.c src/api/figures.h \
	src/api/quota.c src/api/quota.h \
	src/api/emit.h src/api/emit_chunks.c src/api/emit_chunks.h \
	src/api/emit_chat.c src/api/emit_text.c \
	src/api/emit_responses.c src/api/emit_responses.h \
	src/api/responses_echo.c \
	src/api/emit_messages.c \
	src/api/pieces.c src/api/pieces.h \
	src/api/logprobs.c src/api/logprobs.h \
	src/api/reason.c src/api/reason.h \
	src/api/side.c src/api/side.h \
	src/api/live.c src/api/live.h src/api/live_words.c \
	src/api/live_rows.c src/api/live_view.c src/api/live_view.h \
	src/api/live_stream.c src/api/box.c src/api/box.h \
	src/api/metrics.c src/api/metrics.h src/api/metrics_int.h \
	src/api/metrics_page.c src/api/cache_stats.c src/api/cache_stats.h \
	src/api/stored.c src/api/stored.h src/api/stored_past.c \
	src/api/toolnames.c src/api/toolnames.h \
	src/api/callinput.c src/api/callinput.h \
	src/api/responses_by_id.c \
	src/api/sse.c src/api/sse.h src/api/info.c
P_LIBS += libp_api.a
$(libp_api_a_OBJECTS): src/db/sql.h
