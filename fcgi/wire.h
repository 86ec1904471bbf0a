/*
 * fcgi/wire.h - which models stand behind this daemon.
 *
 * wire.c loads a model's file, tokenizer and chat format. What generates is
 * the one thing that differs between the daemon (wire_engine.c) and the
 * tests' daemon (t/lib/wire_scripted.c, which plays a script).
 */
#ifndef FCGI_WIRE_H
#define FCGI_WIRE_H

#include "fcgi/conf.h"
#include "gen/catalog.h"

struct gguf;
struct memory;
struct wire; /* opaque: everything that was loaded */

/* Load, start the engines, fill the catalog. Logs what was loaded.
 * memory: the accounts, borrowed until wire_close. */
enum st wire_open(struct wire **out, const struct conf *c,
                  struct memory *memory, struct err *e) MUST_CHECK;
const struct catalog *wire_catalog(const struct wire *w);
/* Stop the engines' threads; afterwards no wake-up comes from them. The
 * rest stays readable. */
void wire_stop(struct wire *w);
void wire_close(struct wire *w); /* NULL ok */

/* The backend of one model: wire_engine.c, or the tests' own. */
enum st wire_gen_open(struct gen **out, const struct gguf *g,
                      const struct tok *t, const struct conf *c,
                      struct memory *memory, struct err *e) MUST_CHECK;

#endif
