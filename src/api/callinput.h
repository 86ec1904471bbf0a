/*
 * api/callinput.h - the text that a custom tool is called with, read from the
 * arguments that the model writes for it, as they grow (internal to api).
 *
 * A model knows such a tool as a function with one string, `input`, so its
 * arguments are {"input": "..."} and the text is that string; what stands
 * behind it counts for nothing. Arguments that begin any other way are the
 * text, as they stand ("{}" is none). What of them begins like neither waits.
 * In the string, an escape that JSON does not know keeps its backslash, half a
 * surrogate pair is U+FFFD, and one that is cut off at the end is left out.
 */
#ifndef API_CALLINPUT_H
#define API_CALLINPUT_H

#include "base/buf.h"

enum input_state { INPUT_OPEN, INPUT_STRING, INPUT_AS_IS, INPUT_DONE };

struct call_input { /* {0} at first */
    enum input_state state;
    size_t at; /* bytes of the arguments that are read */
};

/*
 * Adds to `out` what of the text is new.
 *   args  all arguments so far: those of the last call, and more
 *   over  they do not grow any more
 * The sum does not depend on how often it is called; it is in whole
 * characters where the arguments are UTF-8.
 */
void call_input_read(struct call_input *c, struct text args, bool over,
                     struct buf *out);

#endif
