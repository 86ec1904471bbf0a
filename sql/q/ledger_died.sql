-- ledger_died: close what a daemon that died left open. How long such a
-- request ran nobody knows; the row says until now. Answers one id a row.
-- binds: 1 now in ms
-- plan: no SCAN api_key
UPDATE request SET state = 'failed', finish_reason = 'error',
    error_type = 'died', total_ms = max(0, ?1 - ts_ms)
WHERE state = 'open'
RETURNING id;
