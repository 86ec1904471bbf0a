-- key_load: live keys for the daemon's memory. Limits: -1 is the default.
-- binds: none
-- plan: any (the table is small)
SELECT id, name, hash,
    coalesce(limit_requests, -1), coalesce(limit_tokens, -1),
    coalesce(limit_tokens_day, -1), coalesce(limit_concurrent, -1)
FROM api_key WHERE revoked_ms IS NULL ORDER BY id;
