/*
 * Calls in a section of five tokens (spec waste.md 4.1): an id of the form
 * functions.NAME:INDEX, then arguments as JSON text, which goes on as it
 * comes. The id is the call's: the client sends it back, and the model finds
 * the function's name in it.
 *
 * A call without a section is read too, as is one that begins where the
 * last has not ended; any other marker out of place ends the turn.
 */
#include "base/ascii.h"
#include "chat/dialect.h"
#include "chat/gap.h"

#define HEADER_MAX 4096
#define ID_MAX 250   /* of an id; a longer one is not the model's form */

enum { SECTION_BEGIN, SECTION_END, CALL_BEGIN, ARGUMENT_BEGIN, CALL_END };

static const char *const markers[] = {
    "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>",
    "<|tool_call_begin|>", "<|tool_call_argument_begin|>",
    "<|tool_call_end|>", NULL,
};

enum where { IN_CONTENT, IN_SECTION, IN_HEADER, IN_ARGUMENTS };

struct kimi {
    enum where where;
    bool section;            /* a call is inside one */
    struct buf header;
    struct tool_call *call;  /* in arguments; NULL: it has no name */
    size_t n;                /* calls begun */
    struct gap gap;
};

static void *open_state(const struct dialect_config *c)
{
    struct kimi *k = mem_try(sizeof(*k));

    (void)c;
    if (!k)
        return NULL;
    buf_init(&k->header, HEADER_MAX);
    gap_init(&k->gap);
    return k;
}

static void free_state(void *state)
{
    struct kimi *k = state;

    buf_release(&k->header);
    gap_release(&k->gap);
    free(k);
}

/* --- a call's head ------------------------------------------------------- */

static bool digits(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] < '0' || s[i] > '9')
            return false;
    return n > 0;
}

static bool id_taken(const struct calls *c, const char *id, size_t n)
{
    for (size_t i = 0; i < c->n; i++)
        if (strlen(c->p[i]->id) == n && !memcmp(c->p[i]->id, id, n))
            return true;
    return false;
}

/* An id in the model's own form, for a head without one or with one that
 * this reply already has; empty when the name is too long for it. */
static struct text made_id(const struct calls *c, struct text name, size_t i,
                           char id[ID_MAX])
{
    int n;

    do {
        n = snprintf(id, ID_MAX, "functions.%.*s:%zu", (int)name.n, name.s,
                     i++);
        if (n >= ID_MAX)
            return (struct text){NULL, 0};
    } while (id_taken(c, id, (size_t)n));
    return (struct text){id, (size_t)n};
}

/* The header is whole: a call, announced at once. */
static void add_call(struct kimi *k, struct dialect_out *o)
{
    static const char prefix[] = "functions.";
    const struct span head = ascii_trim(k->header.p, k->header.n);
    const char *s = head.n ? head.s : "";
    size_t n = head.n, skip = sizeof(prefix) - 1;
    struct text id = {s, n}, name = id;
    size_t colon = n, position = k->n++;
    char made[ID_MAX];

    while (colon && s[colon - 1] != ':')
        colon--;
    if (colon && digits(s + colon, n - colon))
        name.n = colon - 1;
    else
        id.n = 0;
    if (name.n >= skip && !memcmp(name.s, prefix, skip))
        name = (struct text){name.s + skip, name.n - skip};
    if (!id.n || id.n >= ID_MAX || id_taken(o->calls, id.s, id.n))
        id = made_id(o->calls, name, position, made);
    k->call = name.n ? calls_add(o->calls, id.s, id.n, name.s, name.n) : NULL;
    buf_clear(&k->header);
}

/* Whatever call is open ends here. `whole`: its arguments do too. */
static void end_call(struct kimi *k, bool whole, struct dialect_out *o)
{
    if (k->where == IN_HEADER)
        add_call(k, o);
    if (k->where == IN_HEADER || k->where == IN_ARGUMENTS) {
        if (k->call)
            k->call->whole = whole;
        k->call = NULL;
        k->where = k->section ? IN_SECTION : IN_CONTENT;
    }
}

/* --- events -------------------------------------------------------------- */

static void marker(void *state, int m, struct dialect_out *o)
{
    struct kimi *k = state;
    bool in_call = k->where == IN_HEADER || k->where == IN_ARGUMENTS;

    if (m == SECTION_BEGIN && k->where == IN_CONTENT) {
        gap_call(&k->gap);
        k->section = true;
        k->where = IN_SECTION;
    } else if (m == CALL_BEGIN) {
        end_call(k, true, o);
        gap_call(&k->gap);
        k->where = IN_HEADER;
    } else if (m == ARGUMENT_BEGIN && k->where == IN_HEADER) {
        add_call(k, o);
        k->where = IN_ARGUMENTS;
    } else if (m == CALL_END && in_call) {
        end_call(k, true, o);
    } else if (m == SECTION_END && k->section) {
        end_call(k, true, o);
        k->section = false;
        k->where = IN_CONTENT;
    } else {
        o->done = true;
    }
}

static void text(void *state, const char *p, size_t n, struct dialect_out *o)
{
    struct kimi *k = state;

    switch (k->where) {
    case IN_CONTENT:
        gap_text(&k->gap, p, n, o->content);
        break;
    case IN_SECTION: /* between calls */
        break;
    case IN_HEADER: /* what does not fit is lost */
        for (size_t i = 0; i < n && k->header.n < HEADER_MAX; i++)
            buf_putc(&k->header, p[i]);
        break;
    case IN_ARGUMENTS:
        if (k->call)
            buf_add(&k->call->args, p, n);
        break;
    }
}

static void end(void *state, bool ended, struct dialect_out *o)
{
    struct kimi *k = state;

    end_call(k, ended, o);
    gap_end(&k->gap, o->calls->n > 0, o->content);
}

#define CALL "<|tool_call_begin|>functions."

static const struct callform form = {
    .lead = "",
    .open = "<|tool_calls_section_begin|>" CALL,
    .head = ":" CALL_AT_INDEX "<|tool_call_argument_begin|>",
    .next = "<|tool_call_end|>" CALL,
    .close = "<|tool_call_end|><|tool_calls_section_end|>",
    .name = CALLNAME_PLAIN,
    .never = "",
};

const struct dialect dialect_kimi = {
    .name = "kimi",
    .markers = markers,
    .forms = &form,
    .n_forms = 1,
    .native_ids = true,
    .open = open_state,
    .marker = marker,
    .text = text,
    .end = end,
    .free = free_state,
};
