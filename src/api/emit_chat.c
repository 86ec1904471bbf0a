/* The chat dialect: chat.completion and its chunks. */
#include "api/emit_chunks.h"

#include "chat/calls.h"

static void delta(struct jw *w, struct text reasoning, struct text content)
{
    jw_key(w, "delta");
    jw_obj(w);
    if (reasoning.n)
        jw_kstrn(w, "reasoning_content", reasoning.s, reasoning.n);
    if (content.n)
        jw_kstrn(w, "content", content.s, content.n);
    jw_obj_end(w);
}

static void role(struct jw *w)
{
    jw_key(w, "delta");
    jw_obj(w);
    jw_kstr(w, "role", "assistant");
    jw_kstr(w, "content", "");
    jw_obj_end(w);
}

/* "function" with arguments s[0..n); `call` NULL: without its name. */
static void function(struct jw *w, const struct tool_call *call,
                     const char *s, size_t n)
{
    if (call) {
        jw_kstr(w, "id", call->id);
        jw_kstr(w, "type", "function");
    }
    jw_key(w, "function");
    jw_obj(w);
    if (call)
        jw_kstr(w, "name", call->name);
    jw_kstrn(w, "arguments", n ? s : "", n);
    jw_obj_end(w);
}

static void calls_delta(struct jw *w, const struct chunk_call *news)
{
    jw_key(w, "delta");
    jw_obj(w);
    jw_key(w, "tool_calls");
    jw_arr(w);
    jw_obj(w);
    jw_kint(w, "index", news->index);
    function(w, news->first ? news->call : NULL, news->args.s, news->args.n);
    jw_obj_end(w);
    jw_arr_end(w);
    jw_obj_end(w);
}

static void whole_calls(struct jw *w, const struct calls *calls)
{
    jw_key(w, "tool_calls");
    jw_arr(w);
    for (size_t k = 0; k < calls->n; k++) {
        const struct tool_call *call = calls->p[k];

        if (call->dropped || call->withdrawn)
            continue;
        jw_obj(w);
        function(w, call, call->args.p, call->args.n);
        jw_obj_end(w);
    }
    jw_arr_end(w);
}

/* As OpenAI writes it: no content at all is null beside calls, "" else. */
static void whole(struct jw *w, struct text reasoning, struct text content,
                  const struct calls *calls)
{
    bool called = calls && calls->shown;

    jw_key(w, "message");
    jw_obj(w);
    jw_kstr(w, "role", "assistant");
    if (called && !content.n)
        jw_knull(w, "content");
    else
        jw_kstrn(w, "content", content.s, content.n);
    jw_knull(w, "refusal");
    if (reasoning.n)
        jw_kstrn(w, "reasoning_content", reasoning.s, reasoning.n);
    if (called)
        whole_calls(w, calls);
    jw_obj_end(w);
}

static const struct chunk_form form = {
    .object = "chat.completion",
    .chunk_object = "chat.completion.chunk",
    .role_first = true,
    .delta = delta,
    .role = role,
    .calls = calls_delta,
    .whole = whole,
};

const struct emit emit_chat = {
    .logprobs = LOGPROBS_CHAT,
    .form = &form,
    .has_news = chunks_has_news,
    .news = chunks_news,
    .finish = chunks_finish,
    .whole = chunks_whole,
};
