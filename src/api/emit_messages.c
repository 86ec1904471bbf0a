/*
 * The events and the object of /v1/messages: Message and RawMessageStreamEvent
 * of @anthropic-ai/sdk 1.14.0. Every member that they declare is written.
 *
 * An answer is a list of blocks, one for each piece, in order. In a stream
 * message_start comes with the first of them (what of the prompt was cached is
 * known then, but for less than a page; message_delta has the final counts),
 * and each block is opened, grown and closed before the next. What fails
 * within a stream is one event "error", the last one: clients read nothing
 * behind it.
 *
 * Reasoning that is not shown is a block without text. Its signature then holds
 * the text, for clients bring back only that; else the signature says no more
 * than whose it is.
 *
 * The input of a call is an object in a whole answer; of arguments that are
 * none it is {}, for what is left of a call must not be run as one. A stream
 * tells them as they are written, and of a call that turns out to be none.
 */
#include "api/emit.h"

#include "api/error.h"
#include "api/figures.h"
#include "api/run.h"
#include "api/seal.h"
#include "api/sse.h"
#include "base/utf8.h"
#include "json/read.h"
#include "json/write.h"

#define INPUT_ARENA_MAX ((size_t)1 << 28)

/* --- members ------------------------------------------------------------- */

static const char *stop_reason(const struct choice *c)
{
    const struct calls *calls = choice_calls(c);
    const char *finish = finish_of(c);

    if (!strcmp(finish, "length"))
        return c->cramped ? "model_context_window_exceeded" : "max_tokens";
    if (strcmp(finish, "stop") != 0 && strcmp(finish, "tool_calls") != 0)
        return finish;
    if (calls && calls->shown && !choice_looped(c))
        return "tool_use";
    return c->reply && reply_stop_string(c->reply) >= 0 ? "stop_sequence"
                                                        : "end_turn";
}

/* "stop_reason" and its details; `c` NULL: it is not over. */
static void put_stop(struct jw *w, const struct run *r, const struct choice *c)
{
    const char *why = c ? stop_reason(c) : NULL;

    if (!why) {
        jw_knull(w, "stop_reason");
        jw_knull(w, "stop_sequence");
    } else {
        jw_kstr(w, "stop_reason", why);
        if (strcmp(why, "stop_sequence") == 0) {
            struct text s = r->stops[reply_stop_string(c->reply)];

            jw_kstrn(w, "stop_sequence", s.s, s.n);
        } else {
            jw_knull(w, "stop_sequence");
        }
    }
    jw_knull(w, "stop_details");
    jw_knull(w, "container");
}

/* The counts that MessageDeltaUsage has too. */
static void put_counts(struct jw *w, int64_t prompt, int64_t cached,
                       int64_t completion, int64_t reasoning)
{
    jw_kint(w, "input_tokens", prompt - cached);
    jw_kint(w, "cache_creation_input_tokens", 0);
    jw_kint(w, "cache_read_input_tokens", cached);
    jw_kint(w, "output_tokens", completion);
    jw_key(w, "output_tokens_details");
    jw_obj(w);
    jw_kint(w, "thinking_tokens", reasoning);
    jw_obj_end(w);
    jw_knull(w, "server_tool_use");
}

static void put_usage(struct jw *w, int64_t prompt, int64_t cached,
                      int64_t completion, int64_t reasoning)
{
    jw_key(w, "usage");
    jw_obj(w);
    put_counts(w, prompt, cached, completion, reasoning);
    jw_knull(w, "cache_creation");
    jw_knull(w, "inference_geo");
    jw_knull(w, "service_tier");
    jw_knull(w, "speed");
    jw_obj_end(w);
}

/* What a Message has beside its content, its end and its usage. */
static void put_message(struct jw *w, const struct run *r)
{
    jw_kstr(w, "id", r->row.request_id);
    jw_kstr(w, "type", "message");
    jw_kstr(w, "role", "assistant");
    jw_kstr(w, "model", r->model->id);
    jw_knull(w, "diagnostics");
}

/* --- blocks -------------------------------------------------------------- */

/* Bytes of reasoning or text, or of the arguments so far. */
static struct text text_of(const struct choice *c, const struct piece *p)
{
    const struct buf *b = p->kind == PIECE_REASONING ? &c->reasoning
                                                     : &c->content;

    if (p->kind == PIECE_CALL)
        return buf_text(&choice_calls(c)->p[p->call]->args);
    return (struct text){b->p + p->from, p->to - p->from};
}

static void put_signature(struct jw *w, const struct run *r,
                          struct text reasoning)
{
    struct buf seal;

    buf_init(&seal, BUF_ANSWER);
    seal_put(&seal, reasoning.s, r->thinking_hidden ? reasoning.n : 0);
    if (seal.failed)
        jw_fail(w);
    else
        jw_kstrn(w, "signature", seal.p, seal.n);
    buf_release(&seal);
}

/* "input": the arguments where they are an object. */
static void put_input(struct jw *w, struct text args)
{
    const struct json *v = NULL;
    struct arena a;
    bool object;

    arena_init(&a, INPUT_ARENA_MAX);
    object = !json_parse(&v, &a, args.s, args.n, NULL) &&
             v->type == JSON_OBJ;
    arena_release(&a);
    jw_key(w, "input");
    jw_raw(w, object ? args.s : "{}", object ? args.n : 2);
}

/* A block; `whole` false: as it begins. */
static void put_block(struct jw *w, const struct run *r,
                      const struct choice *c, const struct piece *p,
                      bool whole)
{
    const struct text none = {"", 0};
    struct text t = whole ? text_of(c, p) : none;
    const struct tool_call *call;

    jw_obj(w);
    switch (p->kind) {
    case PIECE_REASONING:
        jw_kstr(w, "type", "thinking");
        jw_kstrn(w, "thinking", t.s, r->thinking_hidden ? 0 : t.n);
        if (whole)
            put_signature(w, r, t);
        else
            jw_kstr(w, "signature", "");
        break;
    case PIECE_TEXT:
        jw_kstr(w, "type", "text");
        jw_kstrn(w, "text", t.s, t.n);
        jw_knull(w, "citations");
        break;
    case PIECE_CALL:
        call = choice_calls(c)->p[p->call];
        jw_kstr(w, "type", "tool_use");
        jw_kstr(w, "id", call->id);
        jw_kstr(w, "name", call->name);
        put_input(w, t);
        jw_key(w, "caller");
        jw_obj(w);
        jw_kstr(w, "type", "direct");
        jw_obj_end(w);
        break;
    }
    jw_obj_end(w);
}

/* --- events -------------------------------------------------------------- */

static void message_start(const struct run *r, struct choice *c,
                          struct buf *out)
{
    struct ring_view v; /* c->view may be older than the first token */
    struct jw *w;

    if (c->role_sent)
        return;
    c->role_sent = true;
    ring_look(c->job->ring, &v);
    w = sse_object(out, "message_start");
    jw_key(w, "message");
    jw_obj(w);
    put_message(w, r);
    jw_key(w, "content");
    jw_arr(w);
    jw_arr_end(w);
    put_stop(w, r, NULL);
    put_usage(w, r->prompt_tokens,
              v.ended ? v.end.cached_tokens : v.prefill_from, 0, 0);
    run_put_skipped(r, w);
    jw_obj_end(w);
    sse_object_end(w, out);
}

static struct jw *open_delta(const struct choice *c, const char *type,
                             struct buf *out)
{
    struct jw *w = sse_object(out, "content_block_delta");

    jw_kint(w, "index", c->told.index);
    jw_key(w, "delta");
    jw_obj(w);
    jw_kstr(w, "type", type);
    return w;
}

static void close_delta(struct jw *w, struct buf *out)
{
    jw_obj_end(w);
    sse_object_end(w, out);
}

static void block_start(const struct run *r, struct choice *c,
                        struct buf *out)
{
    struct jw *w = sse_object(out, "content_block_start");

    jw_kint(w, "index", c->told.index);
    jw_key(w, "content_block");
    put_block(w, r, c, &c->pieces.p[c->told.piece], false);
    sse_object_end(w, out);
    c->told.open = true;
    c->told.bytes = 0;
}

/* What of the open piece may go out and has not. */
static struct text fresh_of(const struct run *r, const struct choice *c)
{
    const struct piece *p = &c->pieces.p[c->told.piece];
    struct text t = text_of(c, p);

    if (p->kind == PIECE_REASONING && r->thinking_hidden)
        return (struct text){"", 0};
    if (t.n > c->told.bytes) { /* else `s` may be NULL */
        t.s += c->told.bytes;
        t.n = utf8_complete_len(t.s, t.n - c->told.bytes);
        return t;
    }
    return (struct text){"", 0};
}

static void block_delta(const struct run *r, struct choice *c,
                        struct buf *out)
{
    static const struct {
        const char *type, *member;
    } as[] = {
        [PIECE_REASONING] = {"thinking_delta", "thinking"},
        [PIECE_TEXT] = {"text_delta", "text"},
        [PIECE_CALL] = {"input_json_delta", "partial_json"},
    };
    enum piece_kind kind = c->pieces.p[c->told.piece].kind;
    struct text t = fresh_of(r, c);
    struct jw *w;

    if (!t.n)
        return;
    w = open_delta(c, as[kind].type, out);
    jw_kstrn(w, as[kind].member, t.s, t.n);
    close_delta(w, out);
    c->told.bytes += t.n;
}

static void block_stop(const struct run *r, struct choice *c, struct buf *out)
{
    const struct piece *p = &c->pieces.p[c->told.piece];
    struct jw *w;

    if (p->kind == PIECE_REASONING) {
        w = open_delta(c, "signature_delta", out);
        put_signature(w, r, text_of(c, p));
        close_delta(w, out);
    }
    w = sse_object(out, "content_block_stop");
    jw_kint(w, "index", c->told.index);
    sse_object_end(w, out);
    c->told.open = false;
    c->told.piece++;
    c->told.index++;
}

static bool has_news(const struct run *r, size_t i)
{
    const struct choice *c = &r->choices[i];
    const struct told *t = &c->told;

    if (t->piece >= c->pieces.n)
        return false;
    return !t->open || t->piece + 1 < c->pieces.n || fresh_of(r, c).n;
}

static void news(struct run *r, size_t i, struct buf *out)
{
    struct choice *c = &r->choices[i];

    message_start(r, c, out);
    while (c->told.piece < c->pieces.n) {
        if (!c->told.open)
            block_start(r, c, out);
        block_delta(r, c, out);
        if (c->told.piece + 1 == c->pieces.n)
            break;
        block_stop(r, c, out);
    }
}

static void message_end(const struct run *r, const struct choice *c,
                        const struct figures *f, struct buf *out)
{
    struct jw *w = sse_object(out, "message_delta");

    jw_key(w, "delta");
    jw_obj(w);
    put_stop(w, r, c);
    jw_obj_end(w);
    jw_key(w, "usage");
    jw_obj(w);
    put_counts(w, f->prompt, f->cached, f->completion, f->reasoning);
    jw_obj_end(w);
    figures_timings(w, f);
    sse_object_end(w, out);
    sse_object_end(sse_object(out, "message_stop"), out);
}

static void finish(struct run *r, const struct figures *f,
                   const struct err *e, struct buf *out)
{
    struct choice *c = &r->choices[0];

    if (e) {
        sse_event(out, "error");
        api_error_messages_json(out, e, r->row.request_id);
        sse_end(out);
        return;
    }
    news(r, 0, out);
    if (c->told.open)
        block_stop(r, c, out);
    message_end(r, c, f, out);
}

/* --- whole --------------------------------------------------------------- */

static void whole(struct run *r, const struct figures *f, struct buf *out)
{
    const struct choice *c = &r->choices[0];
    struct jw *w = jw_new(out);

    jw_obj(w);
    put_message(w, r);
    jw_key(w, "content");
    jw_arr(w);
    for (size_t k = 0; k < c->pieces.n; k++)
        if (piece_counts(&c->pieces.p[k], choice_calls(c)))
            put_block(w, r, c, &c->pieces.p[k], true);
    jw_arr_end(w);
    put_stop(w, r, c);
    put_usage(w, f->prompt, f->cached, f->completion, f->reasoning);
    run_put_skipped(r, w);
    figures_timings(w, f);
    jw_obj_end(w);
    if (!jw_end(w))
        out->failed = true;
}

const struct emit emit_messages = {
    .ordered = true,
    .has_news = has_news,
    .news = news,
    .finish = finish,
    .whole = whole,
};
