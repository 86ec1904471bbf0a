-- key_find: the live key of this name, or else of this prefix.
-- binds: 1 name or prefix
-- plan: any (the table is small)
SELECT id FROM api_key
WHERE revoked_ms IS NULL AND (name = ?1 OR prefix = ?1)
ORDER BY name = ?1 DESC, id
LIMIT 1;
