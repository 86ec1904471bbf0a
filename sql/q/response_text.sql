-- response_text: what one holds that this key may see.
-- binds: 1 id, 2 key_id, 3 now in ms, 4 with the input?, 5 with the answer?
-- plan: no SCAN
SELECT status, CASE WHEN ?4 THEN input END, CASE WHEN ?5 THEN answer END
FROM response
WHERE id = ?1 AND key_id = ?2 AND expires_ms > ?3;
