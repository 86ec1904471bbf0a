-- db_new: an empty file, before its first table.
-- binds: none
-- plan: script
PRAGMA auto_vacuum = INCREMENTAL;
