-- db_write: settings of a connection that writes. The WAL is cut to 16 MiB
-- when it is reset; a commit survives a crash of the process, and the last
-- ones may be lost when the machine loses power.
-- binds: none
-- plan: script
PRAGMA foreign_keys = ON;
PRAGMA synchronous = NORMAL;
PRAGMA journal_size_limit = 16777216;
PRAGMA trusted_schema = OFF;
