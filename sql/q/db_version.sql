-- db_version: whose file it is, its schema step, and how many tables.
-- binds: none
-- plan: no SCAN request
SELECT (SELECT application_id FROM pragma_application_id),
    (SELECT user_version FROM pragma_user_version),
    (SELECT count(*) FROM sqlite_schema);
