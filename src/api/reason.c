#include "api/reason.h"

#include "api/who.h"

#define OPENER "<think>\n"
#define CLOSER "\n</think>\n\n"

/* --- the setting --------------------------------------------------------- */

static bool is_word(struct span s, const char *word)
{
    return s.n == strlen(word) && !memcmp(s.s, word, s.n);
}

static bool read_form(struct span s, enum reason_form *out)
{
    static const struct {
        const char *word;
        enum reason_form form;
    } words[] = {
        {"tags", REASON_TAGS},
        {"reasoning_content", REASON_FIELD},
        {"both", REASON_BOTH},
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (is_word(s, words[i].word)) {
            *out = words[i].form;
            return true;
        }
    return false;
}

/* "dashboard, curl, ..." */
static enum st bad_kind(struct span s, struct err *e)
{
    const char *const *kinds = who_kinds();
    char list[160] = "*";

    for (size_t i = 0, n = 1; kinds[i] && n < sizeof(list); i++)
        n += (size_t)snprintf(list + n, sizeof(list) - n, ", %s", kinds[i]);
    return err_set(e, ST_USAGE, "reasoning-format",
                   "there is no kind of client '%.*s'; accepted are %s",
                   (int)(s.n < 32 ? s.n : 32), s.s, list);
}

static bool is_kind(struct span s)
{
    const char *const *kinds = who_kinds();

    if (is_word(s, "*"))
        return true;
    for (size_t i = 0; kinds[i]; i++)
        if (is_word(s, kinds[i]))
            return true;
    return false;
}

/* KIND=FORM, or FORM alone for every kind. */
static enum st read_item(struct reason_map *out, struct span s, struct err *e)
{
    const char *eq = memchr(s.s, '=', s.n);
    struct span kind = {"*", 1};
    struct span form = s;

    if (out->n == REASON_KINDS_MAX)
        return err_set(e, ST_USAGE, "reasoning-format",
                       "at most %d kinds of clients", REASON_KINDS_MAX);
    if (eq) {
        kind = (struct span){s.s, (size_t)(eq - s.s)};
        form = (struct span){eq + 1, s.n - kind.n - 1};
    }
    if (!is_kind(kind))
        return bad_kind(kind, e);
    if (!read_form(form, &out->of[out->n].form))
        return err_set(e, ST_USAGE, "reasoning-format",
                       "accepted is tags, reasoning_content or both, or a "
                       "list KIND=FORM,..., not '%.*s'",
                       (int)(s.n < 64 ? s.n : 64), s.s);
    snprintf(out->of[out->n].kind, sizeof(out->of[0].kind), "%.*s",
             (int)kind.n, kind.s);
    out->n++;
    return ST_OK;
}

enum st reason_map_parse(struct reason_map *out, const char *s, struct err *e)
{
    enum st st = ST_OK;

    out->n = 0;
    for (const char *end = s; !st && end; s = end + 1) {
        end = strchr(s, ',');
        st = read_item(out,
                       (struct span){s, end ? (size_t)(end - s) : strlen(s)},
                       e);
    }
    return st;
}

/* The item of this kind; the last of several decides. */
static const enum reason_form *find(const struct reason_map *m,
                                    const char *kind)
{
    for (size_t i = m->n; i-- > 0;)
        if (!strcmp(m->of[i].kind, kind))
            return &m->of[i].form;
    return NULL;
}

enum reason_form reason_form_of(const struct body *b,
                                const struct reason_map *m, const char *kind)
{
    const enum reason_form *form;

    if (b->reasoning_format != REASON_DEFAULT)
        return b->reasoning_format;
    if (body_wants_json(b))
        return REASON_FIELD;
    form = find(m, kind);
    if (!form)
        form = find(m, "*");
    return form ? *form : REASON_FIELD;
}

/* --- the machine --------------------------------------------------------- */

void reason_init(struct reason *r, enum reason_form form, bool expected,
                 bool blank_line)
{
    *r = (struct reason){.form = form, .expected = expected,
                         .blank_line = blank_line, .silent = true};
}

bool reason_in_content(const struct reason *r)
{
    return r->form == REASON_TAGS || r->form == REASON_BOTH;
}

bool reason_open(const struct reason *r)
{
    return r->opened && !r->closed;
}

static void add_thought(struct reason *r, struct text thought,
                        struct buf *reasoning, struct buf *content)
{
    if (!thought.n)
        return;
    if (r->form != REASON_TAGS)
        buf_add(reasoning, thought.s, thought.n);
    /* a model that thinks once more gets a block of its own */
    if (reason_in_content(r) && !reason_open(r))
        buf_add(content, OPENER, sizeof(OPENER) - 1);
    if (reason_in_content(r))
        buf_add(content, thought.s, thought.n);
    r->opened = true;
    r->closed = false;
}

static void add_close(struct reason *r, struct buf *content)
{
    if (!reason_open(r))
        return;
    r->closed = true;
    if (reason_in_content(r))
        buf_add(content, CLOSER, sizeof(CLOSER) - 1);
    else if (r->blank_line)
        buf_add(content, "\n\n", 2);
}

void reason_feed(struct reason *r, struct text thought, struct text said,
                 bool closed, struct buf *reasoning, struct buf *content)
{
    add_thought(r, thought, reasoning, content);
    if (closed || said.n)
        add_close(r, content);
    buf_add(content, said.s, said.n);
    r->silent = r->silent && !closed && !said.n && !thought.n;
}

void reason_end(struct reason *r, struct buf *content)
{
    if (r->silent && r->expected && reason_in_content(r))
        buf_add(content, OPENER, sizeof(OPENER) - 1);
    r->silent = false;
}
