# layer 7: penstock, the command line. One file per command.
bin_PROGRAMS += penstock
penstock_SOURCES = src/cli/cli.h src/cli/main.c \
	src/cli/cmd_compat.c src/cli/cmd_render.c src/cli/cmd_parse.c \
	src/cli/cmd_tokenize.c src/cli/cmd_grammar.c
penstock_SOURCES += src/cli/store.c src/cli/store.h \
	src/cli/cmd_key.c src/cli/cmd_ledger.c
penstock_SOURCES += src/cli/load.c src/cli/load.h \
	src/cli/cmd_run.c src/cli/cmd_bench.c \
	src/cli/reads.c src/cli/reads.h
penstock_LDADD = $(P_LIBS) $(P_LDLIBS)
