-- response_expire: the one that expired first, if any has. Answers its bytes.
-- binds: 1 now in ms
-- plan: no SCAN
DELETE FROM response WHERE id = (
    SELECT id FROM response
    WHERE expires_ms <= ?1 AND status <> 'in_progress'
    ORDER BY expires_ms
    LIMIT 1)
RETURNING length(input) + coalesce(length(answer), 0);
