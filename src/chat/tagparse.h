/*
 * chat/tagparse.h - the XML form of calls, <function=..> with
 * <parameter=..>, read from a complete block (spec tandem.md 6.1, tiers 1
 * and 2).
 */
#ifndef CHAT_TAGPARSE_H
#define CHAT_TAGPARSE_H

#include "chat/found.h"

#define TAG_FUNCTION_END "</function>"
#define TAG_PARAM_END "</parameter>"

enum tag { TAG_OTHER, TAG_FUNCTION, TAG_PARAM };

/*
 * What the tag s[0..n) is, < and > included: <function=NAME>,
 * <function name="NAME"> and the same with parameter, blanks allowed around
 * = and before >. A name has no blank and no angle bracket; quotes around it
 * are not part of it.
 */
enum tag tag_read(const char *s, size_t n, struct span *name);

/* The calls of the block s[0..n), without its own tags; `at` of each is the
 * offset of its tag. Linear in n. */
void tagparse(struct founds *f, const struct tools *t, const char *s,
              size_t n);

#endif
