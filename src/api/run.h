/*
 * api/run.h - what an exchange keeps beside the request: its ledger row and,
 * once admitted, its jobs and replies (internal to api).
 *
 * The parsed body lives in the exchange's arena, which is dropped when the
 * jobs are submitted; whatever a waiting stream needs is copied here.
 * Threads: as the exchange, one at a time.
 */
#ifndef API_RUN_H
#define API_RUN_H

#include "acct/ledger.h"
#include "api/context.h"
#include "api/emit.h"
#include "api/exchange.h"
#include "api/pieces.h"
#include "api/quota.h"
#include "api/reason.h"
#include "api/route.h"
#include "api/toolnames.h"
#include "chat/reply.h"
#include "gen/catalog.h"

struct live_row;
struct live_watch;
struct stored;
struct stored_wait;

enum gone_why { GONE_NOT, GONE_LEFT, GONE_SLOW }; /* exchange.gone */

enum usage_place { USAGE_NOWHERE, USAGE_IN_FINISH, USAGE_OWN_CHUNK };

enum run_phase {
    RUN_IDLE,       /* no generation (yet) */
    RUN_GENERATING, /* some job has not ended */
    RUN_COMMITTING, /* everything is said; the row is on its way */
    RUN_OVER,
};

/* How much of one call of a reply a stream has told. */
struct call_sent {
    int32_t place; /* its index on the wire plus 1; 0: not announced */
    size_t bytes;  /* of its arguments */
};

/* One job and its reply. */
struct choice {
    struct job *job;
    int32_t prompt_i;      /* which prompt of the request */
    struct reply *reply;   /* made with the first token */
    struct reason reason;  /* between the reply and the two buffers */
    struct buf reasoning;  /* a stream: not sent yet; JSON: all of it */
    struct buf content;
    struct pieces pieces;  /* of both, where emit.ordered */
    struct told told;
    struct ring_view view;
    int32_t fed;           /* tokens taken from the ring */
    struct logprobs *logprobs; /* owned; NULL: not asked for */
    bool named;            /* tool_choice names the function: its call is no
                            * reason to end with tool_calls */
    bool cramped;          /* the context has less room than max_tokens */
    bool role_sent;        /* chat streams: the role chunk is out */
    struct call_sent *sent; /* [CALLS_MAX] owned; NULL before the first call */
    int32_t announced;     /* calls that the stream has told of */
    bool over;             /* END was seen and the reply was ended */
};

/*
 * The ledger's answer, which may come later than the exchange lives: counted
 * by both sides. The wake is called under `mu` (it only signals), so that
 * after notice_drop no call is running.
 */
struct notice {
    pthread_mutex_t mu;
    int refs;              /* guarded by mu */
    bool committed;        /* guarded by mu */
    void (*wake)(void *arg); /* guarded by mu; NULL: nobody listens */
    void *wake_arg;
};

struct run {
    const struct route *route;
    enum route_style style; /* of what this client reads */
    struct ledger_row row;
    bool admitted;         /* `ticket` names an open row */
    uint64_t ticket;
    struct quota quota;    /* what its key may */
    size_t held_body, held_jobs; /* bytes in the accounts, see api/hold.h */
    size_t grammar_bytes;  /* of what narrows its answers */

    const struct emit *emit;            /* the dialect */
    const struct catalog_model *model;
    int64_t created_s;     /* epoch */
    int64_t submitted_us;
    bool stream;
    enum usage_place usage;
    const struct format *format; /* reads the replies; NULL: plain text */
    bool think_open;             /* the prompt opened its reasoning */
    struct buf thought, said;    /* what the newest id gave */
    struct tools *tools;         /* owned; NULL: none were offered */
    bool parallel_calls;
    char skipped[SKIPPED_MAX]; /* types of tools that cannot be served, with
                                * ", " between; "": none */
    int64_t sequence;      /* of the next event, where events are counted */
    struct buf echo;       /* what the answer repeats of the request: a JSON
                            * object, written by wire.keep; n = 0: nothing */
    struct tool_names names; /* of its tools, where callers have others */
    bool sealed;           /* its reasoning items carry a seal */
    bool thinking_hidden;  /* messages: a seal instead of its text */
    bool stored;           /* its answer is kept */
    struct stored *store;  /* its row is open, see api/stored.h; NULL: not */
    struct text *stops;    /* [n_stops], one block with their bytes, owned */
    size_t n_stops;
    struct choice *choices; /* [n_choices], owned */
    size_t n_choices;
    int64_t prompt_tokens; /* of all prompts, each once */

    enum run_phase phase;
    bool cancelled;        /* its client asked for the end */
    bool cancel_sent;
    bool head_sent;
    struct err failure;    /* our own, while pumping (st != ST_OK) */
    int64_t line_us;       /* when the next comment line is due; 0: none */
    bool prefill_seen, token_seen;
    struct notice *notice;
    int64_t commit_by_us;  /* [DONE] waits no longer */

    const char *constrained; /* what narrows the answer, for the live view */
    struct live_row *live;   /* its row there; NULL: none (any more) */
    /* A stream that is no generation has a pump of its own. */
    enum x_pump (*pump)(struct exchange *x, struct buf *out, int64_t now_us);
    int64_t pump_at_us;      /* when it wants to be pumped next */
    struct live_watch *watch; /* owned, api/live_stream.c */
    struct stored_wait *wait; /* owned, api/responses_by_id.c */
};

struct run *run_of(const struct exchange *x);
/* The calls of a choice so far; NULL before its first token. */
const struct calls *choice_calls(const struct choice *c);
/* Did the pattern guard end it? (view.end.note says how.) */
bool choice_looped(const struct choice *c);
/* Makes x->state with an id and a row that says what is known so far. */
struct run *run_begin(struct exchange *x, const struct route *route);
/* Cancels what runs, waits for wake-ups under way, closes an open row. */
void run_free(struct exchange *x);
/* Drop jobs and replies; no wake of theirs can come afterwards. */
void run_drop_choices(struct run *r);
/* The same for every wake of this run, the row's included. */
void run_stop_wakes(struct run *r);

/* What went wrong with the generation, if anything (false: nothing). What
 * fails behind a stop string fails behind the answer: it is none. Nor is it
 * that the client cancelled. */
bool run_error(const struct run *r, struct err *e);
/* Did it end because its client asked for that? */
bool run_cancelled(const struct run *r);
/* The member "skipped_tools", a list; nothing when there are none. */
void run_put_skipped(const struct run *r, struct jw *w);

/*
 * The end of a request that got an error instead of a generation: the answer
 * (answer_error) and its finished ledger row. Everything but the client's
 * leaving has finish "refused".
 */
void run_refuse(struct exchange *x, const struct err *e);

/* The same for whoever may not know that there is such a route. */
void run_hide(struct exchange *x);

/* Close the admitted row from the figures; NOTICE: x->wake is called when it
 * is committed. Writes the request's log line. */
enum run_notice { RUN_NO_NOTICE, RUN_NOTICE };
void run_close(struct exchange *x, enum run_notice want, int64_t now_us);
bool run_committed(const struct run *r);
/* Somebody else's commit wakes this exchange: call *done(*arg) once, or
 * run_await_not when it will not come. run_committed tells. */
void run_await(struct exchange *x, void (**done)(void *arg), void **arg);
void run_await_not(struct run *r);

#endif
