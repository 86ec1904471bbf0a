-- response_died: those that ran when the daemon died; ?1 NULL is all of them,
-- else this one (its answer could not be made). Answers one id a row.
-- binds: 1 id
-- plan: no SCAN
UPDATE response SET status = 'failed',
    answer = CASE WHEN json_valid(CAST(answer AS TEXT)) THEN CAST(json_set(
        CAST(answer AS TEXT), '$.status', 'failed', '$.error', json(
        '{"code":"server_error",'
        || '"message":"the server could not finish this answer"}'))
        AS BLOB) ELSE answer END
WHERE status = 'in_progress' AND id = coalesce(?1, id)
RETURNING id;
