/*
 * api/stored.h - responses that are kept: opened at admission, closed with the
 * ledger's row, cancelled, and what later requests go on from (internal to
 * api). The rows are acct/responses.h.
 *
 * A response that is kept is in a table of this process from its admission
 * until its last row is committed, so that one that the database does not show
 * yet is not taken for one that never was.
 */
#ifndef API_STORED_H
#define API_STORED_H

#include "api/body.h"
#include "api/exchange.h"

struct run;
struct figures;
struct stored;      /* one of them */
struct stored_runs; /* all of this process, in struct api; locks inside */

struct stored_runs *stored_runs_new(void);
/* After the db writer; NULL ok. */
void stored_runs_free(struct stored_runs *rs);

/* --- a generation -------------------------------------------------------- */

/* Open the row, if this request wants one and the server keeps any: sets
 * run.stored. The jobs are made. Errors: ST_BUSY, ST_LIMIT, ST_NOMEM. */
enum st stored_open(struct exchange *x, const struct body *b, struct err *e)
    MUST_CHECK;
/* It was not admitted after all. Nothing when it was not opened. */
void stored_undo(struct exchange *x);
/* Its end, before the ledger's row is closed: the object as the choices are
 * now. Nothing when it was not opened. */
void stored_close(struct exchange *x, const struct figures *f);
/* Was it asked to stop? */
bool stored_cancelled(const struct run *r);

/* --- other requests: by id, and only those of one's own key --------------- */

enum stored_state {
    STORED_NO,      /* not here: the database knows */
    STORED_RUNS,
    STORED_WRITING, /* over; the database may not know yet */
};

enum stored_state stored_state_of(struct stored_runs *rs, const char *id,
                                  int64_t key_id);
/* Ask one that runs to stop. */
void stored_cancel(struct stored_runs *rs, const char *id, int64_t key_id);
/* It was deleted: what runs on is nobody's any more. */
void stored_forget(struct stored_runs *rs, const char *id, int64_t key_id);

struct stored_list { /* items by their place */
    const struct json **p;
    size_t n;
};

/* What one request goes on from; lives as long as its body is parsed. */
struct stored_past {
    struct body_past past;
    struct exchange *x;
    size_t bytes;      /* loaded so far, and named */
    char name[40];     /* the response of the last item, and what it holds */
    struct stored_list input, output;
};

/* NULL: this server keeps nothing now. */
const struct body_past *stored_past(struct stored_past *p,
                                    struct exchange *x);
/* The items that a request brought, each with an id and a type, as JSON. */
void stored_items(const char *id, const struct json *input, struct buf *out);

#endif
