-- db_commit: end of a transaction.
-- binds: none
-- plan: script
COMMIT;
