/*
 * fcgi/req.h - FastCGI parameters to struct http_req; the body under its cap.
 *
 * Parameters come from the web server, but their values from its clients:
 * both are bounded here. Values arrive whole or the request is refused;
 * nothing is ever cut (case C20).
 *
 * Who is local: the web server said so in words that no client can send.
 * Parameters without the HTTP_ prefix are the web server's own; our snippet
 * sets PENSTOCK_EDGE. Local means PENSTOCK_EDGE is there, REMOTE_ADDR is a
 * loopback address, and no forwarding header came along (HTTP_X_FORWARDED*,
 * HTTP_X_REAL_IP, HTTP_FORWARDED, HTTP_VIA): a reverse proxy on the same
 * host speaks for others.
 */
#ifndef FCGI_REQ_H
#define FCGI_REQ_H

#include "api/exchange.h"

#define REQ_PARAMS_MAX 512          /* parameters of one request */
#define REQ_PARAM_BYTES (256u * 1024) /* all names and values together */

/*
 * Fill `r` from "NAME=value" strings (NULL at the end), copied into `a`.
 * Unknown parameters are passed over.
 * Errors: ST_INVALID (over a cap, no method or path, a length that is not a
 * number), ST_NOMEM.
 */
enum st req_params(struct http_req *r, struct arena *a,
                   const char *const *params, struct err *e) MUST_CHECK;

/*
 * Read a whole body: `read` yields up to n bytes, 0 at the end; `ended` tells
 * whether the end was the real one. The result must have exactly the declared
 * length when there is one.
 *   body  initialised here with max = cap
 * Errors: ST_TOO_LARGE (over cap), ST_INVALID (shorter or longer than
 * declared, cut off), ST_NOMEM.
 */
struct req_source {
    size_t (*read)(void *arg, char *p, size_t n);
    bool (*ended)(void *arg);
    void *arg;
};
enum st req_body(struct http_req *r, struct buf *body, uint64_t cap,
                 const struct req_source *from, struct err *e) MUST_CHECK;

#endif
