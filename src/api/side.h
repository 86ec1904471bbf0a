/*
 * api/side.h - is a request small enough for the side lane? (internal to api)
 *
 * The side lane runs small requests beside the `parallel` others, so that
 * they do not wait behind long turns. Small is one choice of one prompt, no
 * reasoning, at most SIDE_PROMPT_MAX prompt tokens (images, which cost more
 * than they show, are refused before) and either an output limit of at most
 * SIDE_TOKENS_MAX or a client's own side request: one for a title, tags or
 * follow-up questions, which a chat page sends beside every turn, often with
 * no limit or a generous one. Such a request is known by
 *
 *   - metadata.task: title_generation, tags_generation, follow_up_generation
 *   - the stock prompts of Open WebUI: its only turn is a user's and begins
 *     with "### Task:" and one of the three sentences of side.c
 *   - the title agent of opencode: the first system message begins with the
 *     sentence of side.c, and no tools are offered
 *
 * Whoever has rewritten those prompts gets no side lane, and nobody gets more
 * than it by imitating them: side slots are few and not for long prompts.
 */
#ifndef API_SIDE_H
#define API_SIDE_H

#include "api/body.h"

#define SIDE_PROMPT_MAX 2048
#define SIDE_TOKENS_MAX 64

/* A client's own side request? */
bool side_task(const struct body *b);
/* thinking: as decided for this request. prompt_tok, max_tokens: of its only
 * job. */
bool side_is(const struct body *b, bool thinking, size_t prompt_tok,
             int32_t max_tokens);

#endif
