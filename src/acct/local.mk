# layer 4: keys and the ledger
noinst_LIBRARIES += libp_acct.a
libp_acct_a_SOURCES = \
	src/acct/keys.c src/acct/keys.h \
	src/acct/ledger.c src/acct/ledger.h \
	src/acct/limits.c src/acct/limits.h
P_LIBS += libp_acct.a
