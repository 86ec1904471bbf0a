-- 0001_init: keys and the ledger.
--
-- Times in columns that end in _ms are milliseconds: ts_ms and the like since
-- 1970 (UTC), the others durations. Counts are tokens where the name says so.
-- NULL is "does not apply" or "not known (yet)". There is no text of any
-- prompt or answer in this file, no address and no key.
-- Never edited after a release: later changes are later migrations.

PRAGMA application_id = 1349415787; -- "Pnsk"
PRAGMA user_version = 1;

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO meta (key, value)
VALUES ('created', strftime('%Y-%m-%dT%H:%M:%SZ', 'now'));

-- Who may ask. A key is shown once; this table has its digest.
CREATE TABLE api_key (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
    prefix TEXT NOT NULL,       -- first characters of the key, for people
    hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256
    created_ms INTEGER NOT NULL,
    revoked_ms INTEGER          -- NULL: live
) STRICT;

CREATE UNIQUE INDEX api_key_live_name ON api_key (name)
WHERE revoked_ms IS NULL;

-- The ledger: one row per request of any outcome.
CREATE TABLE request (
    id INTEGER PRIMARY KEY,
    ts_ms INTEGER NOT NULL,     -- arrival
    request_id TEXT NOT NULL,   -- as the client saw it
    model TEXT,                 -- served model, NULL: none
    key_id INTEGER REFERENCES api_key (id),
    client_id TEXT NOT NULL,    -- k: and 12 digits of a digest, or anon
    client_kind TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    stream INTEGER NOT NULL CHECK (stream IN (0, 1)),
    state TEXT NOT NULL CHECK (state IN ('open', 'done', 'failed')),
    status INTEGER,             -- HTTP status sent
    finish_reason TEXT,
    error_type TEXT,
    prompt_tokens INTEGER CHECK (prompt_tokens >= 0),
    cached_tokens INTEGER CHECK (cached_tokens >= 0),
    completion_tokens INTEGER CHECK (completion_tokens >= 0),
    reasoning_tokens INTEGER CHECK (reasoning_tokens >= 0),
    queue_ms INTEGER CHECK (queue_ms >= 0),
    prompt_ms INTEGER CHECK (prompt_ms >= 0),
    ttft_ms INTEGER CHECK (ttft_ms >= 0),
    decode_ms INTEGER CHECK (decode_ms >= 0),
    total_ms INTEGER CHECK (total_ms >= 0),
    decode_tps REAL AS (CASE WHEN completion_tokens > 1 AND decode_ms > 0
        THEN round((completion_tokens - 1) * 1000.0 / decode_ms, 2) END),
    prefill_tps REAL AS (CASE WHEN prompt_tokens > cached_tokens
        AND prompt_ms > 0 THEN round(
        (prompt_tokens - cached_tokens) * 1000.0 / prompt_ms, 2) END),
    max_tokens INTEGER,         -- effective limit
    thinking INTEGER NOT NULL CHECK (thinking IN (0, 1)),
    tool_calls INTEGER CHECK (tool_calls >= 0),
    cache_source TEXT,          -- none, prefix, session, resident, response
    engine_version TEXT NOT NULL,
    CHECK ((state = 'open') = (total_ms IS NULL))
) STRICT;

CREATE INDEX request_ts ON request (ts_ms);
CREATE INDEX request_model_client ON request (model, client_id, ts_ms);
CREATE INDEX request_key ON request (key_id, ts_ms);
CREATE INDEX request_open ON request (ts_ms) WHERE state = 'open';

-- Days are UTC.
CREATE VIEW usage_by_key_day AS
SELECT date(r.ts_ms / 1000, 'unixepoch') AS day,
    coalesce(k.name, r.client_id) AS key,
    count(*) AS requests,
    sum(r.state = 'failed') AS failed,
    sum(r.finish_reason IS 'refused') AS refused,
    coalesce(sum(r.prompt_tokens), 0) AS prompt_tokens,
    coalesce(sum(r.cached_tokens), 0) AS cached_tokens,
    coalesce(sum(r.completion_tokens), 0) AS completion_tokens,
    coalesce(sum(r.reasoning_tokens), 0) AS reasoning_tokens
FROM request r LEFT JOIN api_key k ON k.id = r.key_id
GROUP BY 1, 2;

CREATE VIEW usage_by_model_day AS
SELECT date(ts_ms / 1000, 'unixepoch') AS day,
    coalesce(model, '(none)') AS model,
    count(*) AS requests,
    sum(state = 'failed') AS failed,
    sum(finish_reason IS 'refused') AS refused,
    coalesce(sum(prompt_tokens), 0) AS prompt_tokens,
    coalesce(sum(cached_tokens), 0) AS cached_tokens,
    coalesce(sum(completion_tokens), 0) AS completion_tokens,
    coalesce(sum(reasoning_tokens), 0) AS reasoning_tokens,
    round(avg(ttft_ms)) AS mean_ttft_ms,
    round(avg(decode_tps), 2) AS mean_decode_tps
FROM request
GROUP BY 1, 2;

-- First token after 5 s or more, or 60 s in all; newest first.
CREATE VIEW slow_requests AS
SELECT id, strftime('%Y-%m-%d %H:%M:%S', ts_ms / 1000, 'unixepoch') AS at,
    request_id, model, client_id, prompt_tokens, cached_tokens,
    completion_tokens, queue_ms, prompt_ms, ttft_ms, decode_ms, total_ms,
    finish_reason
FROM request
WHERE ttft_ms >= 5000 OR total_ms >= 60000
ORDER BY ts_ms DESC;

-- What runs now (or was cut off when the daemon died, until its next start).
CREATE VIEW open_requests AS
SELECT id, strftime('%Y-%m-%d %H:%M:%S', ts_ms / 1000, 'unixepoch') AS at,
    unixepoch() - ts_ms / 1000 AS age_s, request_id, model, client_id,
    endpoint, stream, max_tokens
FROM request
WHERE state = 'open'
ORDER BY ts_ms;
