-- 0002_limits: how much each key may ask for.
--
-- In api_key NULL is what penstock.conf says for all keys, 0 is no limit.

PRAGMA user_version = 2;

ALTER TABLE api_key ADD COLUMN limit_requests INTEGER -- per minute
    CHECK (limit_requests BETWEEN 0 AND 10000000000);
ALTER TABLE api_key ADD COLUMN limit_tokens INTEGER -- per minute
    CHECK (limit_tokens BETWEEN 0 AND 10000000000);
ALTER TABLE api_key ADD COLUMN limit_tokens_day INTEGER -- per day, UTC
    CHECK (limit_tokens_day BETWEEN 0 AND 10000000000);
ALTER TABLE api_key ADD COLUMN limit_concurrent INTEGER -- at a time
    CHECK (limit_concurrent BETWEEN 0 AND 10000000000);

-- Live keys, their limits, and what they used today (UTC).
CREATE VIEW limits_by_key AS
SELECT k.name AS key,
    k.limit_requests AS requests_per_minute,
    k.limit_tokens AS tokens_per_minute,
    k.limit_tokens_day AS tokens_per_day,
    k.limit_concurrent AS requests_at_a_time,
    count(r.id) AS requests_today,
    coalesce(sum(r.error_type IS 'rate'), 0) AS refused_today,
    coalesce(sum(r.prompt_tokens), 0) + coalesce(sum(r.completion_tokens), 0)
        AS tokens_today,
    coalesce(sum(r.state IS 'open'), 0) AS running
FROM api_key k LEFT JOIN request r ON r.key_id = k.id
    AND r.ts_ms >= unixepoch('now', 'start of day') * 1000
WHERE k.revoked_ms IS NULL
GROUP BY k.id
ORDER BY k.name;
