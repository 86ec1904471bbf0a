-- response_delete: as if it had not been stored.
-- binds: 1 id, 2 key_id
-- plan: no SCAN
DELETE FROM response WHERE id = ?1 AND key_id = ?2;
