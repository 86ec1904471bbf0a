# layer 4: keys, limits, the ledger and stored responses
noinst_LIBRARIES += libp_acct.a
libp_acct_a_SOURCES = \
	src/acct/keys.c src/acct/keys.h \
	src/acct/ledger.c src/acct/ledger.h \
	src/acct/limits.c src/acct/limits.h \
	src/acct/responses.c src/acct/responses.h
P_LIBS += libp_acct.a
