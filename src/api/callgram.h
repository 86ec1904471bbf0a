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
/* Calls where the model may choose: what begins them and nothing else. */
struct call_trigger {
    int32_t first;    /* id */
    struct span text; /* behind it, the form's */
    int32_t last;     /* id behind that; -1: `first` alone */
};
/* False: the form begins with no marker that is a token and means calls. */
bool callgram_trigger(const struct format *f, struct call_trigger *out);
/*
 * The rule of calls behind that, up to where the form is over and
 * anything may follow: one call, or several where they share a beginning and
 * an end. As callgram_rule otherwise.
 */
enum st callgram_triggered(int *rule, struct gxs *w, const struct format *f,
                           const struct body *b, struct err *e) MUST_CHECK;
/* Ids of the marks that such a rule uses; -1 where there is none. */
void callgram_marks(const struct format *f, int32_t mark[GX_MARKS]);

#endif
