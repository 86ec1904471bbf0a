-- ledger_insert: one request, at its admission (state open, the outcome NULL)
-- or at once when it is refused. A key that somebody deleted is NULL.
-- binds: 1 ts_ms, 2 request_id, 3 model, 4 key_id, 5 client_id, 6 client_kind,
-- binds: 7 endpoint, 8 stream, 9 state, 10 status, 11 finish_reason,
-- binds: 12 error_type, 13 total_ms, 14 max_tokens, 15 thinking,
-- binds: 16 engine_version
-- plan: no SCAN
INSERT INTO request (ts_ms, request_id, model, key_id, client_id, client_kind,
    endpoint, stream, state, status, finish_reason, error_type, total_ms,
    max_tokens, thinking, engine_version)
VALUES (?1, ?2, ?3, (SELECT id FROM api_key WHERE id = ?4), ?5, ?6,
    ?7, ?8, ?9, ?10, ?11, ?12, ?13,
    ?14, ?15, ?16);
