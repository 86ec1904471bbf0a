/*
 * chat/builtin.h - the chat formats that ship inside the binary: the .json
 * files of this folder, compiled in. format_find tries them in this order
 * and takes the first whose markers the vocabulary knows.
 */
#ifndef CHAT_BUILTIN_H
#define CHAT_BUILTIN_H

#include <stddef.h>

struct embedded {
    const char *name; /* NULL ends the table */
    const char *text;
    size_t n;
};

extern const struct embedded chat_builtin[];

#endif
