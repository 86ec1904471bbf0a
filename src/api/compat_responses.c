/* The fields of responses. */
#include "api/compat_rows.h"

#define FOR(use) {[WIRE_RESPONSES] = use}

static const struct compat_field fields[] = {
    {"model", FOR(H), IS(TYPE_STR), "the default model"},
};

const struct compat_table compat_responses = {
    fields, sizeof(fields) / sizeof(fields[0]),
};
