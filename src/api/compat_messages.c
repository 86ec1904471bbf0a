/* The fields of messages. */
#include "api/compat_rows.h"

#define FOR(use) {[WIRE_MESSAGES] = use}

static const struct compat_field fields[] = {
    {"model", FOR(H), IS(TYPE_STR), "the default model"},
};

const struct compat_table compat_messages = {
    fields, sizeof(fields) / sizeof(fields[0]),
};
