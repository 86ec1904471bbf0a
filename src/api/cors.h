/*
 * api/cors.h - which web pages may read our answers (internal to api; fcgi
 * checks the setting with it).
 *
 * The setting is "*" or a list of origins with commas between them, each as
 * browsers send it in the Origin header: scheme://host or scheme://host:port
 * (Fetch standard, "serialising a request origin"). Spaces around an entry do
 * not count. Listed hosts are compared without regard to case.
 */
#ifndef API_CORS_H
#define API_CORS_H

#include "base/err.h"
#include "base/mem.h"

/* Longest list of header names that a preflight gets back, bytes. */
#define CORS_HEADERS_MAX 1024

/* ST_USAGE, its text naming the entry that is none. */
enum st cors_check(const char *list, struct err *e) MUST_CHECK;

/*
 * The value of Access-Control-Allow-Origin for a request of this origin:
 * "*", or the list's own entry (it points into `list`); empty: this page may
 * not read the answer.
 *   list  as cors_check accepted it; NULL: nobody
 */
struct span cors_match(const char *list, struct span origin);

/* Does the answer depend on the Origin header? */
bool cors_varies(const char *list);

/* Header names with commas between them, and no more than CORS_HEADERS_MAX
 * bytes: may stand in a header of ours as it is. */
bool cors_names_ok(struct span names);

#endif
