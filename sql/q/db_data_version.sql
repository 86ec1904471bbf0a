-- db_data_version: a number that changes when another connection commits.
-- binds: none
-- plan: script
PRAGMA data_version;
