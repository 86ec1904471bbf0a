-- db_wal: readers never wait for the writer. Answers with the mode it got.
-- binds: none
-- plan: script
PRAGMA journal_mode = WAL;
