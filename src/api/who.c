#include "api/who.h"

#include "api/context.h"
#include "base/ascii.h"

#include <strings.h>

static bool has(struct span s, const char *needle)
{
    size_t n = strlen(needle);

    for (size_t i = 0; n <= s.n && i <= s.n - n; i++)
        if (strncasecmp(s.s + i, needle, n) == 0)
            return true;
    return false;
}

static bool starts(struct span s, const char *head)
{
    size_t n = strlen(head);

    return s.n >= n && strncasecmp(s.s, head, n) == 0;
}

struct span who_token(const struct http_req *req)
{
    struct span s = req->authorization;

    if (starts(s, "Bearer ")) {
        s = ascii_trim(s.s + 7, s.n - 7);
        if (s.n)
            return s;
    }
    return ascii_trim(req->api_key.s, req->api_key.n);
}

enum st who_check(struct keys *k, const struct http_req *req,
                  struct ledger_row *row, struct err *e)
{
    struct span token = who_token(req);

    keys_client_id(token.s, token.n, row->client_id);
    if (!keys_any(k)) {
        if (req->local)
            return ST_OK;
        return err_set(e, ST_AUTH, "",
                       "no API key is configured on this server, so only "
                       "local clients are served");
    }
    if (!token.n)
        return err_set(e, ST_AUTH, "",
                       "an API key is needed, as Authorization: Bearer KEY "
                       "or X-Api-Key: KEY");
    row->key_id = keys_check(k, token.s, token.n, NULL);
    if (row->key_id)
        return ST_OK;
    return err_set(e, ST_AUTH, "", "this API key is not known here");
}

bool who_sees_all(const struct exchange *x)
{
    struct ledger_row who;

    ledger_row_init(&who);
    return x->req.local ||
           who_check(x->api->c.keys, &x->req, &who, NULL) == ST_OK;
}

const char *const *who_kinds(void)
{
    static const char *const kinds[] = {
        "dashboard", "open-webui", "openai-sdk", "anthropic-sdk", "codex",
        "claude-code", "curl", "opencode", "hermes", "other", NULL,
    };

    return kinds;
}

const char *who_kind(const struct http_req *req)
{
    struct span ua = req->user_agent;

    if (span_is(req->client, "dashboard") ||
        has(ua, "penstock-dashboard") || has(req->referer, "/dashboard/"))
        return "dashboard";
    if (has(ua, "open-webui") || has(ua, "openwebui") || has(ua, "aiohttp"))
        return "open-webui";
    if (has(ua, "opencode"))
        return "opencode";
    if (has(ua, "hermes"))
        return "hermes";
    if (starts(ua, "openai/") || has(ua, "openai/python") ||
        has(ua, "openai/js"))
        return "openai-sdk";
    if (has(ua, "anthropic/python") || has(ua, "anthropic/js"))
        return "anthropic-sdk";
    if (starts(ua, "codex"))
        return "codex";
    if (starts(ua, "claude-cli/"))
        return "claude-code";
    if (starts(ua, "curl/"))
        return "curl";
    return "other";
}
