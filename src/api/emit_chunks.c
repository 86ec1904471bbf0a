/* Chunks, as chat and completions have them. */
#include "api/emit_chunks.h"

#include "api/error.h"
#include "api/figures.h"
#include "api/run.h"
#include "api/sse.h"
#include "base/utf8.h"

static struct jw *open_object(const struct run *r, const char *object,
                              struct buf *out)
{
    struct jw *w = jw_new(out);

    jw_obj(w);
    jw_kstr(w, "id", r->row.request_id);
    jw_kstr(w, "object", object);
    jw_kint(w, "created", r->created_s);
    jw_kstr(w, "model", r->model->id);
    jw_kstr(w, "system_fingerprint",
            r->model->gen->ops->fingerprint(r->model->gen));
    return w;
}

static struct jw *open_chunk(const struct run *r, struct buf *out)
{
    struct jw *w;

    sse_begin(out);
    w = open_object(r, r->emit->form->chunk_object, out);
    jw_key(w, "choices");
    jw_arr(w);
    return w;
}

static struct jw *open_choice(const struct run *r, size_t i, struct buf *out)
{
    struct jw *w = open_chunk(r, out);

    jw_obj(w);
    jw_kint(w, "index", (int64_t)i);
    return w;
}

/* `finish` NULL: not the last chunk of this choice; `l` NULL: it carries no
 * log-probabilities. */
static void end_choice(struct jw *w, const char *finish, struct logprobs *l)
{
    if (finish)
        jw_kstr(w, "finish_reason", finish);
    else
        jw_knull(w, "finish_reason");
    if (l && logprobs_news(l)) {
        jw_key(w, "logprobs");
        logprobs_write(l, w);
    } else {
        jw_knull(w, "logprobs");
    }
    jw_obj_end(w);
    jw_arr_end(w);
}

/* OpenAI writes "usage": null in every other chunk when usage comes in one
 * of its own. */
static void close_chunk(const struct run *r, struct jw *w, bool has_usage,
                        struct buf *out)
{
    if (!has_usage && r->usage == USAGE_OWN_CHUNK)
        jw_knull(w, "usage");
    jw_obj_end(w);
    if (!jw_end(w))
        out->failed = true;
    sse_end(out);
}

static void emit_delta(const struct run *r, size_t i, struct text reasoning,
                       struct text content, struct buf *out)
{
    struct jw *w = open_choice(r, i, out);

    r->emit->form->delta(w, reasoning, content);
    end_choice(w, NULL, content.n ? r->choices[i].logprobs : NULL);
    close_chunk(r, w, false, out);
}

static void emit_role(const struct run *r, size_t i, struct buf *out)
{
    struct choice *c = &r->choices[i];
    struct jw *w;

    if (c->role_sent || !r->emit->form->role_first)
        return;
    c->role_sent = true;
    w = open_choice(r, i, out);
    r->emit->form->role(w);
    end_choice(w, NULL, NULL);
    close_chunk(r, w, false, out);
}

/* --- calls --------------------------------------------------------------- */

static void emit_call(const struct run *r, size_t i,
                      const struct chunk_call *news, struct buf *out)
{
    struct jw *w = open_choice(r, i, out);

    r->emit->form->calls(w, news);
    end_choice(w, NULL, r->choices[i].logprobs);
    close_chunk(r, w, false, out);
}

/* Is call k one that this stream tells of? */
static bool is_told(const struct choice *c, const struct calls *calls,
                    size_t k)
{
    if (calls->p[k]->dropped)
        return false;
    return !calls->p[k]->withdrawn || (c->sent && c->sent[k].place);
}

/* Bytes of arguments that may go out: whole characters. */
static size_t fresh_args(const struct tool_call *call, size_t sent)
{
    return call->args.n > sent
               ? utf8_complete_len(call->args.p + sent, call->args.n - sent)
               : 0;
}

static bool has_call_news(const struct run *r, const struct choice *c)
{
    const struct calls *calls = r->emit->form->calls ? choice_calls(c) : NULL;

    for (size_t k = 0; calls && k < calls->n; k++)
        if (is_told(c, calls, k) &&
            (!c->sent || !c->sent[k].place ||
             fresh_args(calls->p[k], c->sent[k].bytes)))
            return true;
    return false;
}

static void emit_calls(const struct run *r, size_t i, struct buf *out)
{
    struct choice *c = &r->choices[i];
    const struct calls *calls = choice_calls(c);

    if (!c->sent)
        c->sent = mem_array(struct call_sent, CALLS_MAX);
    for (size_t k = 0; k < calls->n; k++) {
        struct call_sent *s = &c->sent[k];
        struct chunk_call news = {.call = calls->p[k]};
        size_t n;

        if (!is_told(c, calls, k))
            continue;
        if (!s->place) {
            s->place = ++c->announced;
            news.first = true;
            news.index = s->place - 1;
            emit_call(r, i, &news, out);
        }
        n = fresh_args(news.call, s->bytes);
        if (!n)
            continue;
        news.first = false;
        news.index = s->place - 1;
        news.args = (struct text){news.call->args.p + s->bytes, n};
        emit_call(r, i, &news, out);
        s->bytes += n;
    }
}

bool chunks_has_news(const struct run *r, size_t i)
{
    const struct choice *c = &r->choices[i];

    return c->reasoning.n || c->content.n || has_call_news(r, c);
}

void chunks_news(struct run *r, size_t i, struct buf *out)
{
    struct choice *c = &r->choices[i];
    const struct text none = {"", 0};

    if (!chunks_has_news(r, i))
        return;
    emit_role(r, i, out);
    if (c->reasoning.n)
        emit_delta(r, i, buf_text(&c->reasoning), none, out);
    if (c->content.n)
        emit_delta(r, i, none, buf_text(&c->content), out);
    if (has_call_news(r, c))
        emit_calls(r, i, out);
    buf_clear(&c->reasoning);
    buf_clear(&c->content);
}

/* Clients look for what went wrong in a chunk without choices; those that only
 * read finish reasons find it in the last one. */
static void emit_error(const struct run *r, const struct err *e,
                       struct buf *out)
{
    struct jw *w;

    sse_begin(out);
    w = open_object(r, r->emit->form->chunk_object, out);
    api_error_member(w, e);
    close_chunk(r, w, false, out);
}

static void emit_last(const struct run *r, size_t i, const struct figures *f,
                      const struct err *e, struct buf *out)
{
    const struct text none = {"", 0};
    struct jw *w;

    emit_role(r, i, out);
    if (e)
        emit_error(r, e, out);
    w = open_choice(r, i, out);
    r->emit->form->delta(w, none, none);
    end_choice(w, e ? "error" : finish_of(&r->choices[i]),
               r->choices[i].logprobs);
    if (f) {
        figures_usage(w, f);
        figures_timings(w, f);
    }
    if (e)
        api_error_member(w, e);
    close_chunk(r, w, f != NULL, out);
}

static void emit_usage(const struct run *r, const struct figures *f,
                       struct buf *out)
{
    struct jw *w = open_chunk(r, out);

    jw_arr_end(w);
    figures_usage(w, f);
    figures_timings(w, f);
    close_chunk(r, w, true, out);
}

void chunks_finish(struct run *r, const struct figures *f,
                   const struct err *e, struct buf *out)
{
    for (size_t i = 0; i < r->n_choices; i++)
        emit_last(r, i, r->usage == USAGE_IN_FINISH ? f : NULL, e, out);
    if (r->usage == USAGE_OWN_CHUNK)
        emit_usage(r, f, out);
    sse_done(out);
}

void chunks_whole(struct run *r, const struct figures *f, struct buf *out)
{
    struct jw *w = open_object(r, r->emit->form->object, out);

    figures_usage(w, f);
    jw_key(w, "choices");
    jw_arr(w);
    for (size_t i = 0; i < r->n_choices; i++) {
        const struct choice *c = &r->choices[i];

        jw_obj(w);
        jw_kint(w, "index", (int64_t)i);
        jw_kstr(w, "finish_reason", finish_of(c));
        jw_key(w, "logprobs");
        if (c->logprobs)
            logprobs_write(c->logprobs, w);
        else
            jw_null(w);
        r->emit->form->whole(w, buf_text(&c->reasoning), buf_text(&c->content),
                       choice_calls(c));
        jw_obj_end(w);
    }
    jw_arr_end(w);
    figures_timings(w, f);
    jw_obj_end(w);
    if (!jw_end(w))
        out->failed = true;
}
