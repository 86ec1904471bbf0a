-- db_rollback: as if it never began.
-- binds: none
-- plan: script
ROLLBACK;
