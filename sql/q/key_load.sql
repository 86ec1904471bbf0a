-- key_load: live keys for the daemon's memory.
-- binds: none
-- plan: any (the table is small)
SELECT id, name, hash FROM api_key WHERE revoked_ms IS NULL ORDER BY id;
