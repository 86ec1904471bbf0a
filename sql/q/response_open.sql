-- response_open: a response whose generation begins.
-- binds: 1 id, 2 key_id, 3 previous_id, 4 created_ms, 5 expires_ms, 6 model,
-- binds: 7 input, 8 answer
-- plan: no SCAN
INSERT INTO response (id, key_id, previous_id, created_ms, expires_ms, status,
    model, input, answer)
VALUES (?1, ?2, ?3, ?4, ?5, 'in_progress', ?6, ?7, ?8);
