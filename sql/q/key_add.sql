-- key_add: a new key. Fails when a live key has the name.
-- binds: 1 name, 2 prefix, 3 hash, 4 created_ms
-- plan: no SCAN
INSERT INTO api_key (name, prefix, hash, created_ms)
VALUES (?1, ?2, ?3, ?4);
