-- ledger_today: tokens of each key since a moment; key 0: requests without.
-- binds: 1 since in ms
-- plan: no SCAN
SELECT coalesce(key_id, 0),
    sum(coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0))
FROM request
WHERE ts_ms >= ?1
GROUP BY 1;
