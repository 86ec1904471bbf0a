-- db_begin: a transaction that writes, or BUSY at once rather than later.
-- binds: none
-- plan: script
BEGIN IMMEDIATE;
