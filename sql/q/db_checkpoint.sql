-- db_checkpoint: move the WAL into the database and cut it to nothing.
-- Answers (busy, frames, moved frames).
-- binds: none
-- plan: script
PRAGMA wal_checkpoint(TRUNCATE);
