/*
 * kv/spool_file.h - the bytes and the names of the spool's files. No system
 * call is made here.
 *
 *   head   192 bytes: magic, version, kind, counts, what it is made of, sum
 *   units  [n] int32 from the start, zeros up to a multiple of 64
 *   blob   zeros up to a multiple of 64
 *
 * Who reads a file knows what it must be: head and units are made from the
 * key and compared byte by byte, the length too. Of what a file says only the
 * sum is looked at, and compared with that of all bytes. So nothing in a file
 * is ever used as a number. The sum finds damage, half written files too (the
 * reason that nothing here needs fsync); it does not stop an enemy, the
 * folder's mode does.
 *
 * Files are in this machine's byte order; another's is another file.
 */
#ifndef KV_SPOOL_FILE_H
#define KV_SPOOL_FILE_H

#include "kv/spool.h"

#define SPOOL_ALIGN 64u
#define SPOOL_HEAD 192u
#define SPOOL_WHAT 96u       /* with its NUL */
#define SPOOL_UNITS (1 << 24)

struct spool_digest {
    uint64_t v[2];
};

/* Can this key be written at all? */
bool spool_key_ok(const struct spool_key *k) MUST_CHECK;
/* Of all parts of a key. It finds; it proves nothing. */
struct spool_digest spool_digest_of(const struct spool_key *k);
/* Of its first `step` units, of twice as many and so on, in one pass: out has
 * k->n / step. step is a multiple of 8. */
void spool_digests_of(const struct spool_key *k, int32_t step,
                      struct spool_digest *out);

enum spool_name { SPOOL_NAME_OTHER, SPOOL_NAME_ENTRY, SPOOL_NAME_TMP };
#define SPOOL_NAME_BYTES 40 /* with the NUL */

/* The name of an entry, or the one under which it is written. */
void spool_name_write(const struct spool_digest *d, enum spool_name kind,
                      char out[SPOOL_NAME_BYTES]);
/* Which of both a name is, and of which digest; exactly our form counts. */
enum spool_name spool_name_parse(const char *name, struct spool_digest *d);

/* What the file of one key must be. */
struct spool_form {
    uint8_t *head;      /* [head_n], owned: head and units, padded */
    size_t head_n;
    size_t blob_n;      /* the caller's bytes */
    size_t blob_padded; /* in the file */
    size_t file_n;      /* the whole file */
};

/* The sum is not filled in yet. False: no memory, or no such file can be. */
bool spool_form_make(struct spool_form *f, const struct spool_key *k,
                     size_t bytes) MUST_CHECK;
void spool_form_release(struct spool_form *f);
/* Fill in the sum: blob is [blob_n]. */
void spool_form_seal(struct spool_form *f, const uint8_t *blob);
/* Are these bytes of a file, head [head_n] and blob [blob_padded], the ones?
 * f need not be sealed. */
bool spool_form_is(const struct spool_form *f, const uint8_t *head,
                   const uint8_t *blob) MUST_CHECK;

#endif
