-- ledger_by_day: sums for each day (UTC) since a moment.
-- binds: 1 since in ms, 2 limit
-- plan: no SCAN
SELECT date(r.ts_ms / 1000, 'unixepoch'),
    count(*), sum(r.state = 'failed'), sum(r.finish_reason IS 'refused'),
    coalesce(sum(r.prompt_tokens), 0), coalesce(sum(r.cached_tokens), 0),
    coalesce(sum(r.completion_tokens), 0),
    coalesce(sum(r.reasoning_tokens), 0),
    round(avg(r.ttft_ms)), round(avg(r.decode_tps), 2)
FROM request r
WHERE r.ts_ms >= ?1
GROUP BY 1
ORDER BY 1 DESC
LIMIT ?2;
