-- ledger_finish: the outcome of an open request.
-- binds: 1 id, 2 model, 3 stream, 4 state, 5 status, 6 finish_reason,
-- binds: 7 error_type, 8 prompt_tokens, 9 cached_tokens, 10 completion_tokens,
-- binds: 11 reasoning_tokens, 12 queue_ms, 13 prompt_ms, 14 ttft_ms,
-- binds: 15 decode_ms, 16 total_ms, 17 max_tokens, 18 thinking,
-- binds: 19 tool_calls, 20 cache_source
-- plan: no SCAN
UPDATE request SET model = ?2, stream = ?3, state = ?4, status = ?5,
    finish_reason = ?6, error_type = ?7, prompt_tokens = ?8,
    cached_tokens = ?9, completion_tokens = ?10, reasoning_tokens = ?11,
    queue_ms = ?12, prompt_ms = ?13, ttft_ms = ?14, decode_ms = ?15,
    total_ms = ?16, max_tokens = ?17, thinking = ?18, tool_calls = ?19,
    cache_source = ?20
WHERE id = ?1;
