-- key_add: a new key. Fails when a live key has the name. A limit of -1 is
-- the default of all keys.
-- binds: 1 name, 2 prefix, 3 hash, 4 created_ms, 5 requests per minute,
-- binds: 6 tokens per minute, 7 tokens per day, 8 requests at a time
-- plan: no SCAN
INSERT INTO api_key (name, prefix, hash, created_ms, limit_requests,
    limit_tokens, limit_tokens_day, limit_concurrent)
VALUES (?1, ?2, ?3, ?4, nullif(?5, -1), nullif(?6, -1), nullif(?7, -1),
    nullif(?8, -1));
