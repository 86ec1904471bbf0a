# layer 2: chat formats, reply parsers, the tokenizer of a model file
noinst_LIBRARIES += libp_chat.a
libp_chat_a_SOURCES = \
	src/chat/req.h src/chat/builtin.h \
	src/chat/segment.c src/chat/segment.h \
	src/chat/jsontext.c src/chat/jsontext.h \
	src/chat/tools.c src/chat/toolvalue.c src/chat/tools.h \
	src/chat/history.c src/chat/history.h \
	src/chat/vocab.c src/chat/vocab.h
# formats: requests to segments
libp_chat_a_SOURCES += \
	src/chat/format.c src/chat/format.h src/chat/format_int.h \
	src/chat/find.c src/chat/results.c \
	src/chat/chatjson.c src/chat/chatjson.h src/chat/chatjson_render.c \
	src/chat/kimi.c src/chat/glm.c \
	src/chat/xtml.c src/chat/dsml.c
# XTML, DSML
libp_chat_a_SOURCES += src/chat/xtml_msgs.c src/chat/xtml_int.h \
	src/chat/dsml_msgs.c src/chat/dsml_int.h
# templates
libp_chat_a_SOURCES += \
	src/chat/jinja_format.c src/chat/jinja_format.h \
	src/chat/jinja_vars.c src/chat/jinja_probe.c src/chat/jinja_calls.c
# the template language
libp_chat_a_SOURCES += \
	src/chat/jinja.c src/chat/jinja.h src/chat/jinja_value.h \
	src/chat/jinja_ast.h \
	src/chat/jinja_lex.c src/chat/jinja_lex.h \
	src/chat/jinja_token.c src/chat/jinja_parse.c src/chat/jinja_expr.c \
	src/chat/jinja_parse.h \
	src/chat/jinja_eval.c src/chat/jinja_stmt.c src/chat/jinja_macro.c \
	src/chat/jinja_run.h
libp_chat_a_SOURCES += \
	src/chat/jinja_lib.c src/chat/jinja_lib.h \
	src/chat/jinja_value.c src/chat/jinja_print.c \
	src/chat/jinja_op.c src/chat/jinja_seq.c src/chat/jinja_case.c \
	src/chat/jinja_filter.c src/chat/jinja_filter_str.c \
	src/chat/jinja_filter_list.c src/chat/jinja_sort.c \
	src/chat/jinja_json.c src/chat/jinja_fmt.c src/chat/jinja_test.c \
	src/chat/jinja_method.c src/chat/jinja_method_coll.c \
	src/chat/jinja_global.c
# replies: token ids to text and calls
libp_chat_a_SOURCES += \
	src/chat/reply.c src/chat/reply.h \
	src/chat/textreply.c src/chat/textreply.h \
	src/chat/turn.c src/chat/turn.h \
	src/chat/detok.c src/chat/detok.h \
	src/chat/stop.c src/chat/stop.h \
	src/chat/scan.c src/chat/scan.h \
	src/chat/calls.c src/chat/calls.h \
	src/chat/argwrite.c src/chat/argwrite.h \
	src/chat/dialect.c src/chat/dialect.h src/chat/callform.h \
	src/chat/jsonscan.c src/chat/jsonscan.h \
	src/chat/callread.c src/chat/callread.h \
	src/chat/jsonargs.c src/chat/jsonargs.h \
	src/chat/found.c src/chat/found.h src/chat/sweep.c \
	src/chat/wholecall.c src/chat/wholecall.h \
	src/chat/tagparse.c src/chat/tagparse.h \
	src/chat/tagcall.c src/chat/jsoncall.c src/chat/bracketcall.c \
	src/chat/sectioncall.c src/chat/gap.c src/chat/gap.h \
	src/chat/xtml_reply.c src/chat/kimi_reply.c src/chat/glm_reply.c \
	src/chat/dsml_reply.c
nodist_libp_chat_a_SOURCES = src/chat/builtin.c
libp_chat_a_CFLAGS = $(PARSER_CFLAGS)
P_LIBS += libp_chat.a

# the formats inside the binary, tried in this order
chat_builtin = src/chat/kimi.json src/chat/glm.json \
	src/chat/chatml-think.json src/chat/chatml.json
EXTRA_DIST += $(chat_builtin) build-aux/embed-file.awk
CLEANFILES += src/chat/builtin.c
src/chat/builtin.c: $(chat_builtin) build-aux/embed-file.awk
	$(AM_V_GEN)$(MKDIR_P) src/chat && cd $(srcdir) && \
	LC_ALL=C $(AWK) -v name=chat_builtin -v header=chat/builtin.h \
	  -f build-aux/embed-file.awk $(chat_builtin) \
	  > $(abs_builddir)/$@.tmp && mv $(abs_builddir)/$@.tmp $(abs_builddir)/$@
