/*
 * gram/vocab.h - the ids of a vocabulary by their bytes, as a trie.
 *
 * Nodes lie in depth-first order, so that one pass over an array visits all
 * ids, and a branch that is dead is skipped with one jump. Beside it lie masks
 * of ids whose bytes are plain text: whole UTF-8 characters, none of them a
 * control, a quote or a backslash; by how many characters they have. A second
 * trie has only the others, so that plain text asks for those alone.
 * Immutable; any thread.
 */
#ifndef GRAM_VOCAB_H
#define GRAM_VOCAB_H

#include "base/mem.h"

#define GRAM_PLAIN_MAX 32  /* plain ids of more characters are not in masks by
                            * number; they are in a list */
#define GRAM_PIECE_MAX 4096 /* bytes of one id */
#define GRAM_RUNS 256

struct gram_node {
    uint32_t end;   /* index behind its branch */
    int32_t id;     /* id that ends here (the lowest of several: see next_same);
                     * -1: none */
    uint16_t depth; /* bytes before this one */
    uint8_t byte;
    bool several;   /* more than one id ends here */
};

struct gram_trie {
    struct gram_node *nodes; /* [n] owned */
    size_t n;
};

struct gram_long {
    uint32_t chars;
    int32_t id;
};

struct gram_vocab {
    size_t n_ids, words;    /* words of one mask */
    struct gram_trie all;   /* every id with bytes */
    struct gram_trie rough; /* those that are not plain */
    int32_t *next_same;     /* [n_ids] owned: another id with the same bytes,
                             * -1: none */
    uint32_t *plain;        /* owned: [GRAM_PLAIN_MAX + 1][words]: plain ids of
                             * at most so many characters */
    struct gram_long *plain_long; /* [n_long] owned: those of more, ascending */
    size_t n_long;
    bool runs[GRAM_RUNS];   /* [n]: an id begins with white space of
                             * just n columns */
    size_t longest;         /* bytes of the longest id */
    size_t bytes;           /* what it occupies */
};

/*
 * pieces[i]: the bytes of id i; n = 0: it is never allowed (control and
 * unused ids). At most 2^24 ids of at most GRAM_PIECE_MAX bytes. ST_LIMIT,
 * ST_NOMEM.
 */
enum st gram_vocab_new(struct gram_vocab **out, const struct span *pieces,
                       size_t n, struct err *e) MUST_CHECK;
void gram_vocab_free(struct gram_vocab *v); /* NULL ok */

/*
 * Ids that write s[0..n), which must come whatever the model thinks: from the
 * front, each the longest that fits; it ends before an id could also reach
 * beyond s. Of several ids with the same bytes the highest: vocabularies begin
 * with ids of single bytes that models hardly ever write. A function of s and
 * the vocabulary alone. Returns how many.
 */
size_t gram_vocab_cut(const struct gram_vocab *v, const char *s, size_t n,
                      int32_t *ids, size_t cap);

#endif
