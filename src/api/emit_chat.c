/* The chat dialect: chat.completion and its chunks. */
#include "api/emit.h"

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

static void whole(struct jw *w, struct text reasoning, struct text content)
{
    jw_key(w, "message");
    jw_obj(w);
    jw_kstr(w, "role", "assistant");
    jw_kstrn(w, "content", content.s, content.n);
    jw_knull(w, "refusal");
    if (reasoning.n)
        jw_kstrn(w, "reasoning_content", reasoning.s, reasoning.n);
    jw_obj_end(w);
}

const struct emit emit_chat = {
    .object = "chat.completion",
    .chunk_object = "chat.completion.chunk",
    .role_first = true,
    .delta = delta,
    .role = role,
    .whole = whole,
};
