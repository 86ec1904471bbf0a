-- response_head: one that this key may see, and how large it is.
-- binds: 1 id, 2 key_id, 3 now in ms
-- plan: no SCAN
SELECT status, previous_id, length(input) + coalesce(length(answer), 0)
FROM response
WHERE id = ?1 AND key_id = ?2 AND expires_ms > ?3;
