-- 0003_responses: stored responses, the one table with text of users.
--
-- Everything else in this file is counts, times and names that an admin gave.
-- Here are the input and the answer of requests to /v1/responses whose client
-- wanted them stored, so that it can ask for them again, or go on from them
-- (previous_response_id). Nothing is written unless penstock.conf has
-- responses-keep above 0. A row goes when its client deletes it, when it
-- expires (so many days after it, or the last that goes on from it, was made),
-- or with its key; what it held is overwritten with zeros.
-- Whose it is: key_id, 0 for a local client while no key was configured.

PRAGMA user_version = 3;

CREATE TABLE response (
    id TEXT PRIMARY KEY CHECK (length(id) = 29), -- resp_ and 24 hex digits
    key_id INTEGER NOT NULL,    -- api_key.id; 0: none
    previous_id TEXT,           -- it goes on from this one; NULL: from none
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('in_progress', 'completed',
        'incomplete', 'failed', 'cancelled')),
    model TEXT NOT NULL,
    input BLOB NOT NULL,        -- JSON: a list of items
    answer BLOB                 -- JSON: the object that its client got
) STRICT;

CREATE INDEX response_expires ON response (expires_ms);
CREATE INDEX response_open ON response (id) WHERE status = 'in_progress';

CREATE TRIGGER response_of_key AFTER DELETE ON api_key BEGIN
    DELETE FROM response WHERE key_id = old.id;
END;

-- Who stores how much, and until when: no text.
CREATE VIEW responses_by_key AS
SELECT coalesce(k.name, '(none)') AS key,
    count(*) AS responses,
    sum(r.status = 'in_progress') AS running,
    sum(length(r.input) + coalesce(length(r.answer), 0)) AS bytes,
    strftime('%Y-%m-%d %H:%M:%S', min(r.created_ms) / 1000, 'unixepoch')
        AS oldest,
    strftime('%Y-%m-%d %H:%M:%S', min(r.expires_ms) / 1000, 'unixepoch')
        AS next_expires,
    strftime('%Y-%m-%d %H:%M:%S', max(r.expires_ms) / 1000, 'unixepoch')
        AS last_expires
FROM response r LEFT JOIN api_key k ON k.id = r.key_id
GROUP BY r.key_id
ORDER BY 1;
