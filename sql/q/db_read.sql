-- db_read: settings of a connection that reads.
-- binds: none
-- plan: script
PRAGMA query_only = ON;
PRAGMA trusted_schema = OFF;
