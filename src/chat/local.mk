# layer 2: chat formats, reply parsers, the tokenizer of a model file
noinst_LIBRARIES += libp_chat.a
libp_chat_a_SOURCES = src/chat/vocab.c src/chat/vocab.h
libp_chat_a_CFLAGS = $(PARSER_CFLAGS)
P_LIBS += libp_chat.a
