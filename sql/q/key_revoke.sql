-- key_revoke: a key stops working; its row stays for the ledger.
-- binds: 1 id, 2 revoked_ms
-- plan: no SCAN
UPDATE api_key SET revoked_ms = ?2 WHERE id = ?1 AND revoked_ms IS NULL;
