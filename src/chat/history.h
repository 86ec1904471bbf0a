/*
 * chat/history.h - the strict rules for calls and results in a conversation.
 *
 * /v1 is lenient, as its clients need, and does not ask for this; it is the
 * rule of the hub's interface, /v2, which no route serves yet. Source: OpenAI's
 * rule for tool messages, and the hub's specification.
 */
#ifndef CHAT_HISTORY_H
#define CHAT_HISTORY_H

#include "chat/req.h"

#define HISTORY_CALLS_MAX 128
#define HISTORY_ID_MAX 256 /* characters */

/*
 * An assistant's message with calls (1 to HISTORY_CALLS_MAX) is followed at
 * once by tool messages that answer each of its ids exactly once, in any
 * order; ids are 1 to HISTORY_ID_MAX characters and unique within a message,
 * and may come again in a later one. A tool message stands nowhere else.
 * Pure: no allocation, time O(calls * results) within each round.
 * Errors: ST_INVALID, `where` = the path in the request
 * (messages[2].tool_calls[1].id).
 */
enum st history_check_strict(const struct chat_req *r, struct err *e)
    MUST_CHECK;

#endif
