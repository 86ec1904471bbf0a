/*
 * api/body_items.h - what the files of the parser of /v1/responses share
 * (internal to api).
 */
#ifndef API_BODY_ITEMS_H
#define API_BODY_ITEMS_H

#include "api/body_int.h"

/* body_items_list.c: instructions, what came before, and `input` into
 * out->chat and out->input. compat_check has been there. */
enum st body_items_list(struct body_parse *p, const struct body_past *past)
    MUST_CHECK;
/* body_items_input.c: the items that previous_response_id stands for (NULL:
 * none), which fills out->previous; then those of the request: out->input. */
enum st body_items_chain(struct body_parse *p, const struct body_past *past,
                         const struct json **chain) MUST_CHECK;
enum st body_items_input(struct body_parse *p, const struct body_past *past)
    MUST_CHECK;
/* body_items_tools.c: one more list of tools, called `where` (static, or in
 * the arena). What cannot be served is skipped. */
enum st body_items_offer(struct body_parse *p, const struct json *list,
                         const char *where) MUST_CHECK;
/* body_items_tools.c: behind those of the items: `tools`; and tool_choice. */
enum st body_items_tools(struct body_parse *p) MUST_CHECK;

#endif
