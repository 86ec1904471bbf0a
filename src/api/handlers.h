/*
 * api/handlers.h - the functions of the route table (internal to api).
 * Each is called once by api_body, on a handler thread, and never waits.
 */
#ifndef API_HANDLERS_H
#define API_HANDLERS_H

#include "api/exchange.h"

void handle_chat(struct exchange *x);
void handle_completion(struct exchange *x);
void handle_responses(struct exchange *x);
void handle_input_tokens(struct exchange *x);
void handle_response_get(struct exchange *x);
void handle_response_delete(struct exchange *x);
void handle_response_cancel(struct exchange *x);
void handle_response_items(struct exchange *x);
void handle_messages(struct exchange *x);
void handle_count_tokens(struct exchange *x);
void handle_models(struct exchange *x);
void handle_model(struct exchange *x);
void handle_health(struct exchange *x);
void handle_metrics(struct exchange *x);
void handle_up(struct exchange *x);
void handle_cache_stats(struct exchange *x);
void handle_live(struct exchange *x);
void handle_lanes(struct exchange *x);

#endif
