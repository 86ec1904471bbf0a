-- db_write: settings of a connection that writes. The WAL is cut to 16 MiB
-- when it is reset; a commit survives a crash of the process, and the last
-- ones may be lost when the machine loses power. It keeps 512 KiB of pages
-- (2 MB by default, which fill while the ledger grows and look like a leak).
-- What is deleted is overwritten with zeros: text of users may be in it, which
-- is why no temporary file gets any of it either.
-- binds: none
-- plan: script
PRAGMA foreign_keys = ON;
PRAGMA synchronous = NORMAL;
PRAGMA journal_size_limit = 16777216;
PRAGMA cache_size = -512;
PRAGMA secure_delete = ON;
PRAGMA temp_store = MEMORY;
PRAGMA trusted_schema = OFF;
