-- ledger_list: the newest requests since a moment, newest first.
-- binds: 1 since in ms, 2 limit
-- plan: no SCAN
SELECT r.id, r.ts_ms, r.request_id, coalesce(r.model, ''),
    coalesce(k.name, r.client_id), r.client_kind, r.endpoint, r.stream,
    r.state, r.status, coalesce(r.finish_reason, ''),
    coalesce(r.error_type, ''), r.prompt_tokens, r.cached_tokens,
    r.completion_tokens, r.reasoning_tokens, r.queue_ms, r.prompt_ms,
    r.ttft_ms, r.decode_ms, r.total_ms, r.decode_tps, r.prefill_tps,
    r.max_tokens, r.thinking, r.tool_calls, r.cache_source, r.engine_version
FROM request r LEFT JOIN api_key k ON k.id = r.key_id
WHERE r.ts_ms >= ?1
ORDER BY r.ts_ms DESC, r.id DESC
LIMIT ?2;
