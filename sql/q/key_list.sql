-- key_list: every key, oldest first. created_ms, revoked_ms: 0 is none;
-- limits: -1 is the default.
-- binds: none
-- plan: any (the table is small)
SELECT id, name, prefix, created_ms, coalesce(revoked_ms, 0),
    coalesce(limit_requests, -1), coalesce(limit_tokens, -1),
    coalesce(limit_tokens_day, -1), coalesce(limit_concurrent, -1)
FROM api_key
ORDER BY id;
