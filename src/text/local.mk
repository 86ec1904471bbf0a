# layer 1: tokenizers. The only folder that includes PCRE2.
noinst_LIBRARIES += libp_text.a
libp_text_a_SOURCES = \
	src/text/tok.c src/text/tok.h \
	src/text/lex.c src/text/lex.h \
	src/text/special.c src/text/special.h \
	src/text/bpe.c src/text/bpe.h \
	src/text/spm.c src/text/spm.h \
	src/text/merge.c src/text/merge.h \
	src/text/pretok.c src/text/pretok.h \
	src/text/uni.c src/text/uni.h src/text/uni_data.h \
	src/text/uni_cat.c src/text/uni_cat.h src/text/uni_cat_data.h
libp_text_a_CFLAGS = $(PARSER_CFLAGS) $(PCRE2_CFLAGS)
P_LIBS += libp_text.a
