/*
 * api/who.h - who asks: token, client id, client kind (internal).
 */
#ifndef API_WHO_H
#define API_WHO_H

#include "api/exchange.h"
#include "acct/keys.h"
#include "acct/ledger.h"

/* The token of `Authorization: Bearer TOKEN`, else of `X-Api-Key: TOKEN`; empty
 * when there is none. */
struct span who_token(const struct http_req *req);

/*
 * May this request be served? Writes key_id and client_id of `row`.
 *   - a key is configured: the token must be a live key, also locally
 *   - none is: only requests that nginx marked as local, any token
 * Errors: ST_AUTH. No message holds any part of a token.
 */
enum st who_check(struct keys *k, const struct http_req *req,
                  struct ledger_row *row, struct err *e) MUST_CHECK;

/* May this client see figures and the live view? Local ones may, and so does
 * whoever has a key; nobody else. */
bool who_sees_all(const struct exchange *x);

/* dashboard, open-webui, openai-sdk, curl, opencode, hermes or other (tandem.md
 * 9.3); and anthropic-sdk, codex, claude-code. */
const char *who_kind(const struct http_req *req);
/* All of them; ends with NULL. */
const char *const *who_kinds(void);

#endif
