/*
 * api/callgram.h - calls that must come, in the model's own form (internal to
 * api): from the form that a chat format describes (chat/callform.h) and the
 * schemas of the request's tools to a rule.
 */
#ifndef API_CALLGRAM_H
#define API_CALLGRAM_H

#include "api/body.h"
#include "chat/format.h"
#include "gram/expr.h"

/*
 * The rule of an answer that is one or several calls and nothing else: of any
 * offered tool, or of b->chat.tool_named; one, unless b->chat.parallel_asked.
 * Parameters that say nothing of further ones have none.
 * What the rule matches is read by the format's dialect as exactly these
 * calls, with arguments that fit the schemas.
 * Whoever reads such an answer does it with tools_forced (chat/tools.h).
 * What b borrows stays until gram_compile is over.
 * With tool_choice auto (the answer may be something else) a schema that is
 * not supported stands for any arguments, unless the tool is strict.
 * Errors: ST_INVALID or ST_UNSUPPORTED with the field
 * (tools[i].function.parameters, or tool_choice when the format has no form of
 * calls), ST_LIMIT.
 */
enum st callgram_rule(int *rule, struct gxs *w, const struct format *f,
                      const struct body *b, struct err *e) MUST_CHECK;
/*
 * Calls where the model may choose. The id behind which they are sure: that of
 * the first marker of the form; -1: it has none that is a token, or one that
 * means other things, too (dialects with channels).
 */
int32_t callgram_trigger(const struct format *f);
/*
 * The rule of calls from that marker on, up to where the form is over and
 * anything may follow: one call, or several where they share a beginning and
 * an end. As callgram_rule otherwise.
 */
enum st callgram_triggered(int *rule, struct gxs *w, const struct format *f,
                           const struct body *b, struct err *e) MUST_CHECK;
/* Ids of the marks that such a rule uses; -1 where there is none. */
void callgram_marks(const struct format *f, int32_t mark[GX_MARKS]);

#endif
