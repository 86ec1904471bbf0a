-- key_list: every key, oldest first. created_ms, revoked_ms: 0 is none.
-- binds: none
-- plan: any (the table is small)
SELECT id, name, prefix, created_ms, coalesce(revoked_ms, 0)
FROM api_key
ORDER BY id;
