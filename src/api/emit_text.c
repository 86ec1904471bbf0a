/* The completions dialect: text_completion, streamed or whole. A completion
 * has no reasoning channel and no calls: `reasoning` is always empty. */
#include "api/emit.h"

static void text(struct jw *w, struct text reasoning, struct text content)
{
    (void)reasoning;
    jw_kstrn(w, "text", content.s, content.n);
}

static void whole(struct jw *w, struct text reasoning, struct text content,
                  const struct calls *calls)
{
    (void)calls;
    text(w, reasoning, content);
}

const struct emit emit_text = {
    .object = "text_completion",
    .chunk_object = "text_completion",
    .logprobs = LOGPROBS_TEXT,
    .delta = text,
    .whole = whole,
};
