# layer 2: grammars of answers; schemas and regexes to automata to masks
noinst_LIBRARIES += libp_gram.a
libp_gram_a_SOURCES = src/gram/grammar.c src/gram/grammar.h
# expressions and what compiles them
libp_gram_a_SOURCES += src/gram/expr.c src/gram/expr.h src/gram/expr_int.h \
	src/gram/expr_table.c src/gram/expr_list.c \
	src/gram/room.c src/gram/nfa.c src/gram/dfa.c src/gram/dfa_ops.c \
	src/gram/minimise.c
libp_gram_a_SOURCES += src/gram/compile.c src/gram/compile_int.h \
	src/gram/compile_levels.c src/gram/compile_product.c src/gram/paths.c
# characters and regular expressions
libp_gram_a_SOURCES += src/gram/charset.h src/gram/charset.c \
	src/gram/chars.c src/gram/regex.h src/gram/regex.c \
	src/gram/regex_class.c src/gram/regex_int.h
# JSON Schema
libp_gram_a_SOURCES += src/gram/schema.h src/gram/schema_int.h \
	src/gram/forms.h src/gram/forms.c
libp_gram_a_SOURCES += src/gram/schema.c src/gram/schema_way.h \
	src/gram/schema_map.c src/gram/schema_presence.c \
	src/gram/schema_words.c src/gram/schema_ways.c \
	src/gram/schema_ref.c src/gram/schema_ids.c src/gram/schema_uri.c \
	src/gram/schema_admit.c src/gram/schema_apart.c \
	src/gram/schema_object.c src/gram/schema_array.c \
	src/gram/schema_names.c src/gram/schema_enum.c
# strings, numbers, values, and what strict schemas must be
libp_gram_a_SOURCES += src/gram/schema_string.c src/gram/schema_format.c \
	src/gram/schema_number.c src/gram/schema_digits.c \
	src/gram/schema_digits.h src/gram/decimal.c src/gram/decimal.h \
	src/gram/schema_literal.c src/gram/schema_strict.c
# texts and vocabularies
libp_gram_a_SOURCES += src/gram/machine.c src/gram/machine.h \
	src/gram/walk.c src/gram/walk.h \
	src/gram/vocab.c src/gram/vocab.h src/gram/plain.c src/gram/plain.h \
	src/gram/mask.c src/gram/mask.h \
	src/gram/mask_fill.c src/gram/mask_fill.h \
	src/gram/heads.c src/gram/heads.h src/gram/rows.c src/gram/rows.h
libp_gram_a_CFLAGS = $(PARSER_CFLAGS)
P_LIBS += libp_gram.a
