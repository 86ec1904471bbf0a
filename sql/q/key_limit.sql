-- key_limit: other limits for a key: -1 the default of all keys, -2 as it is.
-- binds: 1 id, 2 requests per minute, 3 tokens per minute,
-- binds: 4 tokens per day, 5 requests at a time
-- plan: no SCAN
UPDATE api_key SET
    limit_requests = CASE ?2 WHEN -2 THEN limit_requests ELSE nullif(?2, -1) END,
    limit_tokens = CASE ?3 WHEN -2 THEN limit_tokens ELSE nullif(?3, -1) END,
    limit_tokens_day =
        CASE ?4 WHEN -2 THEN limit_tokens_day ELSE nullif(?4, -1) END,
    limit_concurrent =
        CASE ?5 WHEN -2 THEN limit_concurrent ELSE nullif(?5, -1) END
WHERE id = ?1 AND revoked_ms IS NULL;
