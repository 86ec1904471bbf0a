/* The completions dialect: text_completion, streamed or whole. A completion
 * has no reasoning channel and no calls: `reasoning` is always empty. */
#include "api/emit_chunks.h"

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

static const struct chunk_form form = {
    .object = "text_completion",
    .chunk_object = "text_completion",
    .delta = text,
    .whole = whole,
};

const struct emit emit_text = {
    .logprobs = LOGPROBS_TEXT,
    .form = &form,
    .has_news = chunks_has_news,
    .news = chunks_news,
    .finish = chunks_finish,
    .whole = chunks_whole,
};
