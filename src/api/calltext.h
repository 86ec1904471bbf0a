/*
 * api/calltext.h - a parameter that a model writes as text, as it is (internal
 * to api/callgram.c).
 */
#ifndef API_CALLTEXT_H
#define API_CALLTEXT_H

#include "chat/callform.h"
#include "gram/expr.h"
#include "json/read.h"

/*
 * The texts that `schema`, read as a schema of strings
 * (its type, enum, const, pattern, format and lengths; see tool_is_text),
 * allows, with `end` behind them; what is large is the call of a rule.
 *   stops  [n_stops] texts that none of them contains
 *   trims  blanks at the ends are not part of the text that is read
 *   *any   the rule of any text, shared: -1 at first
 * Errors: ST_INVALID, ST_UNSUPPORTED, ST_LIMIT, where "", naming the keyword.
 */
struct calltext {
    struct gxs *w;
    const char *const *stops;
    size_t n_stops;
    bool trims;
    const struct gx *end;
    int any;
};
enum st calltext(struct calltext *c, const struct json *schema,
                 const struct gx **out, struct err *e) MUST_CHECK;

#endif
