/*
 * t/lib/gramfile.h - vocabularies and grammars from files, for tests and
 * benchmarks. They end the program with a message when something is wrong.
 */
#ifndef T_GRAMFILE_H
#define T_GRAMFILE_H

#include "gram/grammar.h"

struct idfile {
    struct span *pieces; /* [n] owned, with the bytes */
    size_t n;
    char *bytes;
};

/* A line of hexadecimal digits per id (t/js/vocab-bytes.mjs). `at_least`: ids
 * without bytes are added up to that many. */
void idfile_read(struct idfile *f, const char *path, size_t at_least);
void idfile_release(struct idfile *f);

/* form: "object", "schema", "regex". NULL and a message in *e: refused. */
struct grammar *gram_from_form(const char *form, struct text of,
                               struct err *e);

#endif
