-- response_close: how it ended. One that was deleted meanwhile stays so; one
-- that a newer daemon took for dead is what its own daemon says.
-- binds: 1 id, 2 status, 3 answer
-- plan: no SCAN
UPDATE response SET status = ?2, answer = ?3
WHERE id = ?1;
