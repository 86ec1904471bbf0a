/*
 * json/write.h - the only JSON generator (yajl inside).
 *
 * Streams into a struct buf; check jw_end() once. Keys are literals. Strings
 * must be valid UTF-8 (others fail the document) and are written unescaped
 * except for what JSON needs. A document that would not be JSON (a value
 * without its key, a second root, nesting over 127) fails too. The program
 * stays in the C locale: numbers have a point.
 */
#ifndef JSON_WRITE_H
#define JSON_WRITE_H

#include "base/buf.h"

struct jw; /* opaque */

/* A writer into `out` (borrowed until jw_end). Aborts when out of memory. */
struct jw *jw_new(struct buf *out);
/* Finish, free, and say whether everything was written. */
bool jw_end(struct jw *w) MUST_CHECK;

void jw_obj(struct jw *w);
void jw_obj_end(struct jw *w);
void jw_arr(struct jw *w);
void jw_arr_end(struct jw *w);
void jw_key(struct jw *w, const char *key);
void jw_null(struct jw *w);
void jw_bool(struct jw *w, bool v);
void jw_int(struct jw *w, int64_t v);
void jw_num(struct jw *w, double v, int decimals); /* 0-9; inf, nan: null */
void jw_str(struct jw *w, const char *s);
void jw_strn(struct jw *w, const char *s, size_t n);
/* One value that a writer of its own has made (jw_end was true), as it is. */
void jw_raw(struct jw *w, const char *s, size_t n);
/* The members of one object that a writer of its own has made, into the open
 * one: one at least, and the first key needs no escapes. */
void jw_members(struct jw *w, const char *s, size_t n);
/* The document cannot be made: jw_end will say so. */
void jw_fail(struct jw *w);

/* key and value in one call, for flat objects */
void jw_kstr(struct jw *w, const char *key, const char *s);
void jw_kstrn(struct jw *w, const char *key, const char *s, size_t n);
void jw_kint(struct jw *w, const char *key, int64_t v);
void jw_knum(struct jw *w, const char *key, double v, int decimals);
void jw_kbool(struct jw *w, const char *key, bool v);
void jw_knull(struct jw *w, const char *key);
void jw_kempty(struct jw *w, const char *key); /* [] */

#endif
