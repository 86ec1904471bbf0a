/*
 * api/route.h - which path means what: one static table.
 *
 * A path is matched without its trailing slashes; the query is never looked
 * at. A pattern may have one star. At its end the rest of the path is a name,
 * slashes and all; further in front the star is one segment. The first pattern
 * that matches decides, whatever the method; its rows, one for each method,
 * follow each other and have the same `allow`.
 */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include "api/exchange.h"

enum route_auth {
    AUTH_OPEN, /* never needs a key */
    AUTH_KEY,  /* a key, or a local client while no key is configured */
};

/* The shape of errors, and of what else only one family of clients reads. */
enum route_style { STYLE_OPENAI, STYLE_MESSAGES };

struct route {
    const char *method;     /* "GET" (HEAD follows), "POST" or "DELETE" */
    const char *path;
    const char *allow;      /* value of the Allow header */
    enum route_auth auth;
    uint64_t body_cap;      /* bytes; 0: the configured cap */
    const char *endpoint;   /* ledger_row.endpoint */
    const char *id_prefix;  /* of the request id */
    bool counted;           /* every request has a ledger row; else only a
                             * refused one */
    /* Called by api_body: makes the answer or starts the stream. */
    void (*handle)(struct exchange *x);
};

/*
 * The route of a request.
 *   out  NULL on ST_NOT_FOUND; set on ST_METHOD too (for Allow)
 */
enum st route_find(const struct route **out, struct span path,
                   struct span method, struct err *e) MUST_CHECK;
/*
 * STYLE_MESSAGES under /v1/messages, and where no generation is asked for also
 * for those who send anthropic-version.
 *   r  NULL: there is no such route
 */
enum route_style route_style(const struct route *r,
                             const struct http_req *req);
/* What the star stands for: the model id of a path, as sent. */
struct span route_rest(const struct route *r, struct span path);

#endif
