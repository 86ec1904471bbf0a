/* The events and the object of /v1/responses. */
#include "api/emit_responses.h"

#include "api/error.h"
#include "api/figures.h"
#include "api/run.h"
#include "api/seal.h"
#include "api/sse.h"
#include "base/utf8.h"

#define ITEM_ID_MAX 48

/* How far an item is. Its words are OpenAI's. */
enum item_state { ITEM_BEGUN, ITEM_DONE, ITEM_CUT };

static const char *const state_words[] = {
    [ITEM_BEGUN] = "in_progress",
    [ITEM_DONE] = "completed",
    [ITEM_CUT] = "incomplete",
};

/* An answer without a piece is one message that says nothing. */
static const struct piece nothing = {.kind = PIECE_TEXT};

/* --- pieces -------------------------------------------------------------- */

static struct text cut_out(const struct buf *b, size_t from, size_t to)
{
    return (struct text){buf_text(b).s + from, to - from};
}

static const struct tool_call *call_of(const struct choice *c,
                                       const struct piece *p)
{
    return choice_calls(c)->p[p->call];
}

/* What there is of a piece, in whole characters. */
static struct text text_of(const struct choice *c, const struct piece *p)
{
    const struct tool_call *call;

    if (p->kind == PIECE_REASONING)
        return cut_out(&c->reasoning, p->from, p->to);
    if (p->kind == PIECE_TEXT)
        return cut_out(&c->content, p->from, p->to);
    call = call_of(c, p);
    return (struct text){buf_text(&call->args).s,
                         utf8_complete_len(buf_text(&call->args).s,
                                           call->args.n)};
}

/* What its caller calls the tool of a call; NULL: as the model does. */
static const struct tool_name *name_of(const struct run *r,
                                       const struct choice *c,
                                       const struct piece *p)
{
    if (p->kind != PIECE_CALL)
        return NULL;
    return tool_names_find(&r->names, call_of(c, p)->name);
}

/* What it is on the wire: its kind, or a call of a custom tool. */
#define PIECE_CUSTOM (PIECE_CALL + 1)

static int kind_of(const struct run *r, const struct choice *c,
                   const struct piece *p)
{
    const struct tool_name *name = name_of(r, c, p);

    return name && name->custom ? PIECE_CUSTOM : (int)p->kind;
}

/* Is it an item? A stream tells of every piece and takes nothing back. */
static bool is_item(const struct run *r, const struct choice *c,
                    const struct piece *p)
{
    return r->stream || piece_counts(p, choice_calls(c));
}

/* How a piece of an answer that is over with this status ended. */
static enum item_state end_state(const struct choice *c,
                                 const struct piece *p, const char *status)
{
    bool last = p == &nothing || p == &c->pieces.p[c->pieces.n - 1];

    if (p->kind == PIECE_CALL)
        return call_of(c, p)->whole ? ITEM_DONE : ITEM_CUT;
    return last && strcmp(status, "completed") != 0 ? ITEM_CUT : ITEM_DONE;
}

/* --- items --------------------------------------------------------------- */

static void put_id(struct jw *w, const char *key, const struct run *r,
                   int kind, int32_t index)
{
    static const char *const prefixes[] = {
        [PIECE_REASONING] = "rs_",
        [PIECE_TEXT] = "msg_",
        [PIECE_CALL] = "fc_",
        [PIECE_CUSTOM] = "ctc_",
    };
    const char *hex = strchr(r->row.request_id, '_');
    char id[ITEM_ID_MAX];

    snprintf(id, sizeof(id), "%s%s%02x", prefixes[kind], hex ? hex + 1 : "",
             (unsigned)index);
    jw_kstr(w, key, id);
}

static void put_text(struct jw *w, const char *key, struct text text)
{
    jw_kstrn(w, key, text.s, text.n);
}

/* Those of p's text that are decided, but for the first `skip`; returns how
 * many these are. */
static size_t put_probs(struct jw *w, const struct choice *c,
                        const struct piece *p, enum logprobs_form form,
                        size_t skip)
{
    const struct logprobs *l = c->logprobs;
    size_t from = 0, to = 0;

    if (l) {
        from = logprobs_before_byte(l, p->at) + skip;
        to = logprobs_before_byte(l, p->at + (p->to - p->from));
    }
    if (to > from) {
        jw_key(w, "logprobs");
        logprobs_range(l, w, form, from, to);
        return to - from;
    }
    jw_kempty(w, "logprobs");
    return 0;
}

/* The one content part of reasoning and messages. */
static void put_part(struct jw *w, const struct choice *c,
                     const struct piece *p, enum item_state state)
{
    struct text text = state == ITEM_BEGUN ? (struct text){"", 0}
                                           : text_of(c, p);

    jw_obj(w);
    if (p->kind == PIECE_REASONING) {
        jw_kstr(w, "type", "reasoning_text");
    } else {
        jw_kstr(w, "type", "output_text");
        jw_kempty(w, "annotations");
        if (state == ITEM_BEGUN)
            jw_kempty(w, "logprobs");
        else
            put_probs(w, c, p, LOGPROBS_FULL, 0);
    }
    put_text(w, "text", text);
    jw_obj_end(w);
}

/* The member "content": one that began has no parts yet. */
static void put_content(struct jw *w, const struct choice *c,
                        const struct piece *p, enum item_state state)
{
    jw_key(w, "content");
    jw_arr(w);
    if (state != ITEM_BEGUN)
        put_part(w, c, p, state);
    jw_arr_end(w);
}

/* What the arguments of a custom tool's call say. */
static void put_input(struct jw *w, const struct choice *c,
                      const struct piece *p)
{
    struct call_input all = {0};
    struct buf input;

    buf_init(&input, BUF_ANSWER);
    call_input_read(&all, text_of(c, p), true, &input);
    if (input.failed)
        jw_fail(w);
    put_text(w, "input", buf_text(&input));
    buf_release(&input);
}

static void put_call(struct jw *w, const struct run *r, const struct choice *c,
                     const struct piece *p, enum item_state state)
{
    const struct tool_call *call = call_of(c, p);
    const struct tool_name *name = name_of(r, c, p);
    const struct text none = {"", 0};

    if (!name || !name->custom)
        put_text(w, "arguments", state == ITEM_BEGUN ? none : text_of(c, p));
    else if (state == ITEM_BEGUN)
        put_text(w, "input", none);
    else
        put_input(w, c, p);
    jw_kstr(w, "call_id", call->id);
    if (!name)
        jw_kstr(w, "name", call->name);
    else
        put_text(w, "name", name->own);
    if (name && name->space.n)
        put_text(w, "namespace", name->space);
}

/* For clients that bring back nothing else of a reasoning. */
static void put_seal(struct jw *w, const struct choice *c,
                     const struct piece *p)
{
    struct text text = text_of(c, p);
    struct buf seal;

    buf_init(&seal, BUF_ANSWER);
    seal_put(&seal, text.s, text.n);
    if (seal.failed)
        jw_fail(w);
    put_text(w, "encrypted_content", buf_text(&seal));
    buf_release(&seal);
}

static void put_item(struct jw *w, const struct run *r, const struct choice *c,
                     const struct piece *p, int32_t index,
                     enum item_state state)
{
    static const char *const types[] = {
        [PIECE_REASONING] = "reasoning",
        [PIECE_TEXT] = "message",
        [PIECE_CALL] = "function_call",
        [PIECE_CUSTOM] = "custom_tool_call",
    };
    int kind = kind_of(r, c, p);

    jw_obj(w);
    put_id(w, "id", r, kind, index);
    jw_kstr(w, "type", types[kind]);
    /* That of a custom tool declares none; but nobody may run a part of it. */
    if (kind != PIECE_CUSTOM || state == ITEM_CUT)
        jw_kstr(w, "status", state_words[state]);
    switch (p->kind) {
    case PIECE_REASONING:
        jw_kempty(w, "summary");
        put_content(w, c, p, state);
        if (r->sealed && state != ITEM_BEGUN)
            put_seal(w, c, p);
        break;
    case PIECE_TEXT:
        jw_kstr(w, "role", "assistant");
        put_content(w, c, p, state);
        break;
    case PIECE_CALL:
        put_call(w, r, c, p, state);
        break;
    }
    jw_obj_end(w);
}

/* --- the object ---------------------------------------------------------- */

/* What ended on its own, or at a limit, is an answer. */
static bool is_answer(const char *status)
{
    return !strcmp(status, "completed") || !strcmp(status, "incomplete");
}

/* `c` NULL: there is none (yet). */
static void put_output(struct jw *w, const struct run *r,
                       const struct choice *c, const char *status)
{
    int32_t index = 0;

    jw_key(w, "output");
    jw_arr(w);
    for (size_t i = 0; c && i < c->pieces.n; i++) {
        const struct piece *p = &c->pieces.p[i];

        if (is_item(r, c, p))
            put_item(w, r, c, p, index++, end_state(c, p, status));
    }
    if (c && !index && is_answer(status))
        put_item(w, r, c, &nothing, 0, end_state(c, &nothing, status));
    jw_arr_end(w);
}

static const char *code_of(const struct err *e)
{
    int http = e ? api_error_of(e->st)->http : 500;

    if (http == 429)
        return "rate_limit_exceeded";
    return http < 500 ? "invalid_prompt" : "server_error";
}

/* Why it failed, and why it is incomplete. */
static void put_reasons(struct jw *w, const struct run *r,
                        const struct err *e, const char *status)
{
    jw_key(w, "error");
    if (!strcmp(status, "failed")) {
        jw_obj(w);
        jw_kstr(w, "code", code_of(e));
        api_error_message(w, e ? e : &(struct err){.st = ST_INTERNAL});
        jw_obj_end(w);
    } else {
        jw_null(w);
    }
    jw_key(w, "incomplete_details");
    if (!strcmp(status, "incomplete") && r->choices) {
        bool length = !strcmp(finish_of(r->choices), "length");

        jw_obj(w);
        jw_kstr(w, "reason", length ? "max_output_tokens" : "timeout");
        jw_obj_end(w);
    } else {
        jw_null(w);
    }
}

static void put_usage(struct jw *w, const struct figures *f)
{
    jw_key(w, "usage");
    jw_obj(w);
    jw_kint(w, "input_tokens", f->prompt);
    jw_key(w, "input_tokens_details");
    jw_obj(w);
    jw_kint(w, "cached_tokens", f->cached);
    jw_kint(w, "cache_write_tokens", 0); /* nobody pays for it here */
    jw_obj_end(w);
    jw_kint(w, "output_tokens", f->completion);
    jw_key(w, "output_tokens_details");
    jw_obj(w);
    jw_kint(w, "reasoning_tokens", f->reasoning);
    jw_obj_end(w);
    jw_kint(w, "total_tokens", f->prompt + f->completion);
    jw_obj_end(w);
}

/* One value, with the output of `c` (NULL: none). */
static void put_object(struct jw *w, const struct run *r,
                       const struct choice *c, const struct figures *f,
                       const struct err *e, const char *status)
{
    jw_obj(w);
    jw_kstr(w, "id", r->row.request_id);
    jw_kstr(w, "object", "response");
    jw_knull(w, "access_programs");
    jw_kint(w, "created_at", r->row.ts_ms / 1000);
    jw_kstr(w, "status", status);
    if (f && !strcmp(status, "completed"))
        jw_kint(w, "completed_at", (r->row.ts_ms + f->total_cms / 100) / 1000);
    else
        jw_knull(w, "completed_at");
    put_reasons(w, r, e, status);
    jw_kstr(w, "model", r->model ? r->model->id : "");
    jw_kbool(w, "store", r->stored);
    if (r->echo.n)
        jw_members(w, r->echo.p, r->echo.n);
    put_output(w, r, c, status);
    if (f)
        put_usage(w, f);
    run_put_skipped(r, w);
    if (f)
        figures_timings(w, f);
    jw_obj_end(w);
}

void responses_object(const struct run *r, const struct figures *f,
                      const struct err *e, const char *status,
                      struct buf *out)
{
    struct jw *w = jw_new(out);

    put_object(w, r, strcmp(status, "in_progress") ? r->choices : NULL, f, e,
               status);
    if (!jw_end(w))
        out->failed = true;
}

const char *responses_status(const struct run *r, const struct err *e)
{
    const char *finish;

    if (e)
        return "failed";
    if (run_cancelled(r))
        return "cancelled";
    finish = r->choices ? finish_of(r->choices) : "error";
    if (!strcmp(finish, "length") || !strcmp(finish, "timeout"))
        return "incomplete";
    return !strcmp(finish, "error") ? "failed" : "completed";
}

/* --- events -------------------------------------------------------------- */

static struct jw *open_event(struct run *r, const char *type, struct buf *out)
{
    struct jw *w = sse_object(out, type);

    jw_kint(w, "sequence_number", r->sequence++);
    return w;
}

/* One about the whole. */
static void whole_event(struct run *r, const char *type,
                        const struct choice *c, const struct figures *f,
                        const struct err *e, const char *status,
                        struct buf *out)
{
    struct jw *w = open_event(r, type, out);

    jw_key(w, "response");
    put_object(w, r, c, f, e, status);
    sse_object_end(w, out);
}

/* One about the item that choice c is at. */
static struct jw *item_event(struct run *r, const struct choice *c,
                             const struct piece *p, const char *type,
                             struct buf *out)
{
    struct jw *w = open_event(r, type, out);

    put_id(w, "item_id", r, kind_of(r, c, p), c->told.index);
    jw_kint(w, "output_index", c->told.index);
    if (p->kind != PIECE_CALL)
        jw_kint(w, "content_index", 0);
    return w;
}

static void item_itself(struct run *r, const struct choice *c,
                        const struct piece *p, enum item_state state,
                        struct buf *out)
{
    struct jw *w = open_event(r,
                              state == ITEM_BEGUN
                                  ? "response.output_item.added"
                                  : "response.output_item.done",
                              out);

    jw_kint(w, "output_index", c->told.index);
    jw_key(w, "item");
    put_item(w, r, c, p, c->told.index, state);
    sse_object_end(w, out);
}

static void part_itself(struct run *r, const struct choice *c,
                        const struct piece *p, enum item_state state,
                        struct buf *out)
{
    struct jw *w;

    if (p->kind == PIECE_CALL)
        return;
    w = item_event(r, c, p,
                   state == ITEM_BEGUN ? "response.content_part.added"
                                       : "response.content_part.done",
                   out);
    jw_key(w, "part");
    put_part(w, c, p, state);
    sse_object_end(w, out);
}

/* Bytes of p that were not told yet. */
static struct text fresh(const struct choice *c, const struct piece *p)
{
    struct text text = text_of(c, p);

    if (text.n <= c->told.bytes)
        return (struct text){"", 0};
    return (struct text){text.s + c->told.bytes, text.n - c->told.bytes};
}

static const char *const delta_types[] = {
    [PIECE_REASONING] = "response.reasoning_text.delta",
    [PIECE_TEXT] = "response.output_text.delta",
    [PIECE_CALL] = "response.function_call_arguments.delta",
    [PIECE_CUSTOM] = "response.custom_tool_call_input.delta",
};

static void tell_input(struct run *r, struct choice *c, const struct piece *p,
                       bool over, struct buf *out)
{
    struct buf input;
    struct jw *w;

    buf_init(&input, BUF_ANSWER);
    call_input_read(&c->told.input, text_of(c, p), over, &input);
    if (input.n) {
        w = item_event(r, c, p, delta_types[PIECE_CUSTOM], out);
        put_text(w, "delta", buf_text(&input));
        sse_object_end(w, out);
    }
    out->failed = out->failed || input.failed;
    buf_release(&input);
}

/* `over`: p does not grow any more. */
static void tell_delta(struct run *r, struct choice *c, const struct piece *p,
                       bool over, struct buf *out)
{
    struct text text = fresh(c, p);
    struct jw *w;

    if (kind_of(r, c, p) == PIECE_CUSTOM) {
        tell_input(r, c, p, over, out);
        return;
    }
    if (!text.n)
        return;
    w = item_event(r, c, p, delta_types[p->kind], out);
    put_text(w, "delta", text);
    if (p->kind == PIECE_TEXT)
        c->told.probs += put_probs(w, c, p, LOGPROBS_BRIEF, c->told.probs);
    sse_object_end(w, out);
    c->told.bytes += text.n;
}

/* All of the text once more. */
static void text_itself(struct run *r, const struct choice *c,
                        const struct piece *p, struct buf *out)
{
    static const char *const types[] = {
        [PIECE_REASONING] = "response.reasoning_text.done",
        [PIECE_TEXT] = "response.output_text.done",
        [PIECE_CALL] = "response.function_call_arguments.done",
        [PIECE_CUSTOM] = "response.custom_tool_call_input.done",
    };
    int kind = kind_of(r, c, p);
    struct jw *w = item_event(r, c, p, types[kind], out);

    if (kind == PIECE_CUSTOM)
        put_input(w, c, p);
    else
        put_text(w, kind == PIECE_CALL ? "arguments" : "text", text_of(c, p));
    if (kind == PIECE_TEXT)
        put_probs(w, c, p, LOGPROBS_BRIEF, 0);
    sse_object_end(w, out);
}

static void begin_item(struct run *r, struct choice *c, const struct piece *p,
                       struct buf *out)
{
    c->told.open = true;
    item_itself(r, c, p, ITEM_BEGUN, out);
    part_itself(r, c, p, ITEM_BEGUN, out);
}

static void end_item(struct run *r, struct choice *c, const struct piece *p,
                     enum item_state state, struct buf *out)
{
    text_itself(r, c, p, out);
    part_itself(r, c, p, state, out);
    item_itself(r, c, p, state, out);
    c->told.open = false;
    c->told.bytes = c->told.probs = 0;
    c->told.input = (struct call_input){0};
    c->told.index++;
}

/* Can nothing be added to p any more? */
static bool is_complete(const struct choice *c, const struct piece *p)
{
    return p != &c->pieces.p[c->pieces.n - 1] ||
           (p->kind == PIECE_CALL && call_of(c, p)->whole);
}

/* Everything new. `status` NULL: it goes on; else what is open ends. */
static void tell(struct run *r, struct choice *c, const char *status,
                 struct buf *out)
{
    struct told *t = &c->told;

    for (; t->piece < c->pieces.n; t->piece++) {
        const struct piece *p = &c->pieces.p[t->piece];

        bool over = status || is_complete(c, p);

        if (!t->open)
            begin_item(r, c, p, out);
        tell_delta(r, c, p, over, out);
        if (!over)
            return;
        end_item(r, c, p, end_state(c, p, status ? status : "completed"),
                 out);
    }
}

/* Of a call that goes on; its reader stays where it is. */
static bool has_input(const struct choice *c, const struct piece *p)
{
    struct call_input now = c->told.input;
    struct buf input;
    bool some;

    buf_init(&input, BUF_ANSWER);
    call_input_read(&now, text_of(c, p), false, &input);
    some = input.n > 0 || input.failed;
    buf_release(&input);
    return some;
}

static bool has_news(const struct run *r, size_t i)
{
    const struct choice *c = &r->choices[i];
    const struct piece *p;

    if (c->told.piece == c->pieces.n)
        return false;
    p = &c->pieces.p[c->told.piece];
    if (!c->told.open || is_complete(c, p))
        return true;
    return kind_of(r, c, p) == PIECE_CUSTOM ? has_input(c, p)
                                            : fresh(c, p).n > 0;
}

static void begin(struct run *r, struct buf *out)
{
    static const char *const types[] = {
        "response.created",
        "response.in_progress",
    };

    for (size_t i = 0; i < 2; i++)
        whole_event(r, types[i], NULL, NULL, NULL, "in_progress", out);
}

static void news(struct run *r, size_t i, struct buf *out)
{
    tell(r, &r->choices[i], NULL, out);
}

static const char *last_type(const char *status)
{
    if (!strcmp(status, "completed"))
        return "response.completed";
    return !strcmp(status, "failed") ? "response.failed"
                                     : "response.incomplete";
}

/* The texts are told several times: too long for that is no answer, and the
 * ledger says so too. */
static void too_long(struct run *r, const struct figures *f, int64_t sequence,
                     struct buf *out)
{
    err_set(&r->failure, ST_LIMIT, "",
            "the answer is too long to be told again at its end; ask for less "
            "of it, or of log-probabilities");
    buf_clear(out);
    r->sequence = sequence;
    whole_event(r, "response.failed", NULL, f, &r->failure, "failed", out);
}

static void finish(struct run *r, const struct figures *f,
                   const struct err *e, struct buf *out)
{
    const char *status = responses_status(r, e);
    struct choice *c = &r->choices[0];
    int64_t sequence = r->sequence;

    tell(r, c, status, out);
    if (!c->told.index && is_answer(status)) {
        begin_item(r, c, &nothing, out);
        end_item(r, c, &nothing, end_state(c, &nothing, status), out);
    }
    whole_event(r, last_type(status), c, f, e, status, out);
    if (out->failed)
        too_long(r, f, sequence, out);
}

static void whole(struct run *r, const struct figures *f, struct buf *out)
{
    responses_object(r, f, NULL, responses_status(r, NULL), out);
}

const struct emit emit_responses = {
    .ordered = true,
    .logprobs = LOGPROBS_ITEM,
    .begin = begin,
    .has_news = has_news,
    .news = news,
    .finish = finish,
    .whole = whole,
};
