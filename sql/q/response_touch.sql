-- response_touch: what a response goes on from lives as long as it does. A
-- row is written only when it gains an hour, and then gets an hour more than
-- it needs: a long conversation is not written again with each of its turns.
-- binds: 1 id of the newest ancestor, 2 key_id, 3 expires_ms, 4 most of them
-- plan: no SCAN
WITH RECURSIVE chain (id, n) AS (
    SELECT ?1, 1
    UNION ALL
    SELECT r.previous_id, c.n + 1
    FROM chain c JOIN response r ON r.id = c.id
    WHERE r.key_id = ?2 AND r.previous_id IS NOT NULL AND c.n < ?4
)
UPDATE response SET expires_ms = ?3 + 3600000
WHERE id IN (SELECT id FROM chain) AND key_id = ?2 AND expires_ms < ?3;
