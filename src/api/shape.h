/*
 * api/shape.h - the grammar of the answers to one request (internal to api):
 * of response_format, structured_outputs and tool_choice, and of the calls of
 * strict functions.
 *
 * Compiled on the thread that asks, before anything waits, or found among
 * those that were compiled before (api/grammars.h). The bounds of a
 * compilation are counted ones (gram/expr.h), so it is over soon.
 */
#ifndef API_SHAPE_H
#define API_SHAPE_H

#include "api/body.h"
#include "api/callgram.h"
#include "api/grammars.h"
#include "chat/format.h"
#include "gen/memory.h"

#define SHAPE_BYTES_MAX ((size_t)4 << 20) /* of what it is made of */
/* What a compilation may take, reading the schema included; under a peak that
 * leaves less, half of it, and so on down to SHAPE_ROOM_MIN. */
#define SHAPE_ROOM ((size_t)64 << 20)
#define SHAPE_ROOM_MIN ((size_t)2 << 20)

struct shape {
    struct grammar *g;      /* a reference; NULL: any text */
    bool calls;             /* it has marks: */
    int32_t mark[GX_MARKS]; /* ids of them; -1: none */
    bool waits;             /* the grammar begins behind this, each time that
                             * it comes; else anything may come: */
    struct call_trigger trigger;
};

/* Which field says what the answer is ("response_format", "tool_choice",
 * "structured_outputs"); NULL: none does. */
const char *shape_field(const struct body *b);

/* Strict functions that the model may call or not: are the calls all that is
 * bound of the answer? */
bool shape_waits(const struct body *b, const struct format *f);
/* May such an answer be calls that the form brought about? */
bool shape_calls(const struct body *b, const struct format *f);

/*
 * f      reads the answer; NULL: nothing does
 * space  the reader drops the first space of the answer: there is one
 * m      the accounts that a compilation is counted in; NULL: none
 * Errors, s->g NULL: ST_INVALID with the field, its text naming keyword and
 * path or the wrong part; ST_LIMIT naming the limit; ST_NOMEM, with figures
 * when it would pass the peak.
 */
enum st shape_open(struct shape *s, struct grammars *cache, struct memory *m,
                   const struct format *f, const struct body *b, bool space,
                   struct err *e) MUST_CHECK;
void shape_release(struct shape *s);

#endif
