# layer 1: SQLite. The only folder that includes sqlite3.h. The SQL of sql/ is
# compiled in: src/db/sql.h (enum sql_id) and src/db/sql.c are generated.
SQL_FILES = \
	sql/0001_init.sql \
	sql/0002_limits.sql \
	sql/0003_responses.sql \
	sql/q/db_begin.sql \
	sql/q/db_checkpoint.sql \
	sql/q/db_commit.sql \
	sql/q/db_data_version.sql \
	sql/q/db_new.sql \
	sql/q/db_read.sql \
	sql/q/db_rollback.sql \
	sql/q/db_version.sql \
	sql/q/db_wal.sql \
	sql/q/db_write.sql \
	sql/q/key_add.sql \
	sql/q/key_find.sql \
	sql/q/key_limit.sql \
	sql/q/key_list.sql \
	sql/q/key_load.sql \
	sql/q/key_revoke.sql \
	sql/q/ledger_by_client.sql \
	sql/q/ledger_by_day.sql \
	sql/q/ledger_by_key.sql \
	sql/q/ledger_by_model.sql \
	sql/q/ledger_died.sql \
	sql/q/ledger_finish.sql \
	sql/q/ledger_insert.sql \
	sql/q/ledger_list.sql \
	sql/q/ledger_today.sql \
	sql/q/response_close.sql \
	sql/q/response_delete.sql \
	sql/q/response_died.sql \
	sql/q/response_expire.sql \
	sql/q/response_head.sql \
	sql/q/response_open.sql \
	sql/q/response_text.sql \
	sql/q/response_touch.sql
EXTRA_DIST += $(SQL_FILES) build-aux/embed-sql.awk
BUILT_SOURCES += src/db/sql.h src/db/sql.c
CLEANFILES += src/db/sql.h src/db/sql.c

src/db/sql.h: $(SQL_FILES) build-aux/embed-sql.awk
	$(AM_V_GEN)$(MKDIR_P) src/db && (cd $(srcdir) && \
	  $(AWK) -v part=h -f build-aux/embed-sql.awk $(SQL_FILES)) >$@.tmp && \
	  mv $@.tmp $@
src/db/sql.c: $(SQL_FILES) build-aux/embed-sql.awk
	$(AM_V_GEN)$(MKDIR_P) src/db && (cd $(srcdir) && \
	  $(AWK) -v part=c -f build-aux/embed-sql.awk $(SQL_FILES)) >$@.tmp && \
	  mv $@.tmp $@

noinst_LIBRARIES += libp_db.a
libp_db_a_SOURCES = \
	src/db/db.c src/db/db.h \
	src/db/file.c src/db/file.h \
	src/db/writer.c src/db/writer.h
nodist_libp_db_a_SOURCES = src/db/sql.c src/db/sql.h
libp_db_a_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
$(libp_db_a_OBJECTS): src/db/sql.h
P_LIBS += libp_db.a
