/*
 * api/body_blocks.h - what the files of the messages body share (internal to
 * api).
 */
#ifndef API_BODY_BLOCKS_H
#define API_BODY_BLOCKS_H

#include "api/body_int.h"

/* body_blocks_msgs.c: `system` and `messages` into out->chat. */
enum st body_blocks_messages(struct body_parse *p) MUST_CHECK;

#endif
