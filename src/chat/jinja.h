/*
 * chat/jinja.h - the template language of tokenizer.chat_template, with
 * provenance: every byte of a rendering is known to come from the template
 * (markup) or from a variable that a caller filled (text).
 *
 * The language is what published chat templates use of Jinja2 with
 * trim_blocks and lstrip_blocks (as transformers sets them): docs of Jinja2
 * 3.1 "Template Designer Documentation"; checked against @huggingface/jinja.
 * include, import, extends and block are refused at compile time.
 *
 * A template is hostile too: steps, nesting and output are limited, and
 * nothing in it reaches a file, the clock but for strftime_now, or the
 * process.
 */
#ifndef CHAT_JINJA_H
#define CHAT_JINJA_H

#include "chat/jinja_value.h"

#define JINJA_SOURCE_MAX (1u << 20)  /* bytes of a template */
#define JINJA_NEST_MAX 96            /* blocks and parentheses, as written */
#define JINJA_DEPTH_MAX 200          /* calls and expressions, as run */

struct jinja; /* opaque: a compiled template; any thread may render it */

/* Errors: ST_FORMAT, `where` = "NAME line N"; ST_NOMEM. */
enum st jinja_compile(struct jinja **out, const char *s, size_t n,
                      const char *name, struct err *e) MUST_CHECK;
void jinja_free(struct jinja *t); /* NULL ok */

struct jinja_run {
    struct arena *arena;      /* everything the rendering makes */
    const struct jpair *vars; /* [n_vars] globals of the template; keys are
                               * strings */
    size_t n_vars;
    int64_t now_s;            /* epoch seconds, for strftime_now (local) */
    uint64_t max_steps;       /* about one per node visited and per 16 bytes
                               * copied or compared */
    size_t max_out;           /* bytes of output */
    /* --- results --- */
    struct jv out;            /* JV_STR, with its provenance */
    bool raised;              /* raise_exception was called */
    uint64_t steps;           /* used */
};

/*
 * Errors, `where` = "NAME line N":
 *   ST_INVALID  raise_exception (raised is set); the text is the template's
 *               own message, or a neutral one if a caller's text is in it
 *   ST_FORMAT   the template did something that cannot be done
 *   ST_LIMIT    steps, depth, output, arena
 * No error quotes a caller's text.
 */
enum st jinja_render(const struct jinja *t, struct jinja_run *run,
                     struct err *e) MUST_CHECK;

/* Does the template's source (comments left out) hold this text in its data
 * or in a string literal? For reading capabilities off a template. */
bool jinja_mentions(const struct jinja *t, const char *text);
/* Does it use this name as a variable? */
bool jinja_reads(const struct jinja *t, const char *name);

#endif
