#include "chat/jinja_format.h"

#include "base/ascii.h"

/* Limits of a rendering: a base, and so much for each byte of the request.
 * Published templates take up to 1 step a byte of long texts, and 200 for a
 * message, which counts as 64 bytes and its text (docs/performance.md). */
#define STEPS 2000000u
#define STEPS_PER_BYTE 8u
#define OUT_BYTES (4u << 20)
#define ARENA_BYTES (64u << 20)
#define ARENA_PER_BYTE 16u
#define JOINT "\n\n"       /* between messages that were joined */

/* --- limits -------------------------------------------------------------- */

/* Depth is bounded by JSON_DEPTH_MAX of the reader. */
static size_t json_bytes(const struct json *v)
{
    size_t n = 16 + v->key.n + v->str.n;

    for (const struct json *c = v->child; c; c = c->next)
        n += json_bytes(c);
    return n;
}

size_t jinja_req_bytes(const struct chat_req *r)
{
    size_t n = 64;

    for (size_t i = 0; i < r->n_messages; i++) {
        const struct chat_msg *m = &r->messages[i];

        n += 64 + m->content.n + m->reasoning.n + m->name.n + m->tool.n;
        for (size_t j = 0; j < m->n_calls; j++)
            n += 64 + m->calls[j].name.n + m->calls[j].raw.n +
                 (m->calls[j].args ? json_bytes(m->calls[j].args) : 0);
    }
    if (r->tools)
        n += json_bytes(r->tools);
    if (r->kwargs)
        n += json_bytes(r->kwargs);
    return n;
}

/* --- neighbours of one role (case C37) ----------------------------------- */

static bool has_image(const struct chat_msg *m)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].type == PART_IMAGE)
            return true;
    return false;
}

static bool joinable(const struct chat_msg *a, const struct chat_msg *b)
{
    return a->role == b->role && a->role != ROLE_TOOL && !a->n_calls &&
           !b->n_calls && !a->tools && !b->tools;
}

static struct text content_of(const struct chat_msg *m)
{
    return m->content;
}

static struct text reasoning_of(const struct chat_msg *m)
{
    return m->reasoning;
}

/* What the messages m[0..n) say, one text; those that say nothing add
 * nothing. */
static bool join_texts(struct arena *arena, const struct chat_msg *m, size_t n,
                       struct text (*of)(const struct chat_msg *m),
                       struct text *out)
{
    size_t bytes = 1, used = 0;
    char *s;

    for (size_t i = 0; i < n; i++)
        if (!mem_add(&bytes, bytes, of(&m[i]).n) ||
            !mem_add(&bytes, bytes, sizeof(JOINT) - 1))
            return false;
    s = arena_alloc(arena, bytes);
    if (!s)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct text t = of(&m[i]);

        if (!t.n)
            continue;
        if (used) {
            memcpy(s + used, JOINT, sizeof(JOINT) - 1);
            used += sizeof(JOINT) - 1;
        }
        memcpy(s + used, t.s, t.n);
        used += t.n;
    }
    *out = (struct text){s, used};
    return true;
}

static size_t put_parts(struct chat_part *p, const struct chat_msg *m)
{
    if (m->parts) {
        memcpy(p, m->parts, m->n_parts * sizeof(*p));
        return m->n_parts;
    }
    *p = (struct chat_part){.type = PART_TEXT, .text = m->content};
    return 1;
}

/* Parts matter where images stand between texts; else the joined text says
 * it all. */
static bool join_parts(struct arena *arena, const struct chat_msg *m, size_t n,
                       struct chat_msg *out)
{
    struct chat_part *p;
    size_t room = 0, used = 0;
    bool images = false;

    out->parts = NULL;
    out->n_parts = 0;
    for (size_t i = 0; i < n; i++) {
        images = images || has_image(&m[i]);
        room += m[i].n_parts + 2;
    }
    if (!images)
        return true;
    p = arena_array(arena, room, sizeof(*p));
    if (!p)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (i)
            p[used++] = (struct chat_part){.type = PART_TEXT,
                                           .text = TEXT(JOINT)};
        used += put_parts(p + used, &m[i]);
    }
    out->parts = p;
    out->n_parts = used;
    return true;
}

/* The messages m[0..n) as one. */
static bool join_run(struct arena *arena, const struct chat_msg *m, size_t n,
                     struct chat_msg *out)
{
    *out = *m;
    return n == 1 || (join_texts(arena, m, n, content_of, &out->content) &&
                      join_texts(arena, m, n, reasoning_of, &out->reasoning) &&
                      join_parts(arena, m, n, out));
}

/* a->msgs becomes a shorter list; false when out of memory. */
static bool join_neighbours(struct jinja_ask *a, struct arena *arena)
{
    struct chat_msg *v = arena_array(arena, a->n, sizeof(*v));
    size_t n = 0, end;

    if (!v)
        return false;
    for (size_t i = 0; i < a->n; i = end) {
        for (end = i + 1; end < a->n; end++)
            if (!joinable(&a->msgs[i], &a->msgs[end]))
                break;
        if (!join_run(arena, &a->msgs[i], end - i, &v[n++]))
            return false;
    }
    a->msgs = v;
    a->n = n;
    return true;
}

/* --- one conversation ---------------------------------------------------- */

static enum st no_memory(struct err *e)
{
    return err_set(e, ST_LIMIT, "messages", "too much text for one request");
}

/* Does a prefix of n messages raise? Limits count as no. */
static bool prefix_raises(const struct jinja_data *d, struct jinja_ask a,
                          size_t n)
{
    struct arena arena;
    struct err e;

    arena_init(&arena, a.arena->max);
    a.arena = &arena;
    a.n = n;
    if (jinja_write(d, &a, &e) != ST_INVALID)
        a.raised = false;
    arena_release(&arena);
    return a.raised;
}

/*
 * The whole conversation raises: at which message does that begin? Prefixes
 * without a question tell nothing, since many templates insist on one.
 */
static size_t first_raising(const struct jinja_data *d,
                            const struct jinja_ask *a)
{
    size_t asked = 0, lo, hi = a->n;

    while (asked < a->n && a->msgs[asked].role != ROLE_USER)
        asked++;
    if (asked + 1 >= a->n || prefix_raises(d, *a, asked + 1)) {
        for (size_t i = 0; i < asked; i++)
            if (a->msgs[i].role != ROLE_SYSTEM)
                return i;
        return asked < a->n ? asked : 0;
    }
    for (lo = asked + 1; lo + 1 < hi;) {
        size_t mid = lo + (hi - lo) / 2;

        if (prefix_raises(d, *a, mid))
            hi = mid;
        else
            lo = mid;
    }
    return hi - 1;
}

static enum st where_raised(const struct jinja_data *d,
                            const struct jinja_ask *a, const struct err *said,
                            struct err *e)
{
    char where[64];

    snprintf(where, sizeof(where), "messages[%zu].role",
             a->msgs[first_raising(d, a)].sent_i);
    return err_set(e, ST_INVALID, where,
                   "the chat template in use refuses the conversation "
                   "here: %s", said->text);
}

static enum st failed(const struct jinja_data *d, const struct jinja_ask *a,
                      enum st st, const struct err *said, struct err *e)
{
    const char *line = strstr(said->where, "line ");

    if (a->raised)
        return where_raised(d, a, said, e);
    if (st != ST_FORMAT)
        return err_set(e, st, "messages", "the chat template: %s",
                       said->text);
    return err_set(e, ST_INVALID, "messages",
                   "the chat template in use cannot write the conversation "
                   "(%s: %s)", line ? line : "template", said->text);
}

static enum st check_history(const struct jinja_data *d,
                             const struct chat_req *r, struct err *e)
{
    for (size_t i = 0; i < r->n_messages && !d->history; i++) {
        const struct chat_msg *m = &r->messages[i];
        char where[64];

        if (!m->n_calls && m->role != ROLE_TOOL)
            continue;
        snprintf(where, sizeof(where), "messages[%zu].%s", m->sent_i,
                 m->n_calls ? "tool_calls" : "role");
        return err_set(e, ST_INVALID, where,
                       "the chat template in use cannot write tool calls "
                       "and their results");
    }
    return ST_OK;
}

/* As sent; where the template refuses that, with neighbours joined. */
static enum st converse(const struct jinja_data *d, struct jinja_ask *a,
                        struct err *e)
{
    enum st st = check_history(d, a->r, e);
    struct err said;

    if (!st)
        st = format_sort_results(&a->msgs, a->r, a->arena, e);
    if (st)
        return st;
    a->n = a->r->n_messages;
    st = jinja_write(d, a, &said);
    if (st && a->raised) {
        size_t before = a->n;

        if (!join_neighbours(a, a->arena))
            return no_memory(e);
        if (a->n < before)
            st = jinja_write(d, a, &said);
    }
    return st ? failed(d, a, st, &said, e) : ST_OK;
}

/* --- from a string to segments ------------------------------------------- */

/* The end of the range of one provenance that begins at i. */
static size_t range_end(const struct jv *v, size_t i)
{
    bool markup = jv_markup_at(v, i);

    if (!v->u.str.map)
        return v->u.str.n;
    while (i < v->u.str.n && (v->u.str.map[i] != 0) == markup)
        i++;
    return i;
}

/* Without a vocabulary: the ranges. */
static void add_ranges(struct segments *out, const struct jv *v, const char *s)
{
    for (size_t i = 0, end; i < v->u.str.n; i = end) {
        end = range_end(v, i);
        segments_add(out, jv_markup_at(v, i) ? TOK_MARKUP : TOK_CONTENT,
                     s + i, end - i);
    }
}

/*
 * Special tokens count inside markup ranges only, and are segments of their
 * own; what lies between, of whatever provenance, is encoded whole, because
 * a token may reach across the border of two ranges. Encoding a run as
 * content cannot make structure of it.
 */
static void add_runs(struct segments *out, const struct tok *t,
                     const struct jv *v, const char *s)
{
    size_t run = 0;

    for (size_t i = 0, end; i < v->u.str.n; i = end) {
        end = range_end(v, i);
        while (jv_markup_at(v, i) && i < end) {
            struct tok_marker m = tok_next_marker(t, s + i, end - i);

            if (m.id < 0)
                break;
            segments_add(out, TOK_CONTENT, s + run, i + m.at - run);
            segments_add(out, TOK_MARKUP, s + i + m.at, m.n);
            i += m.at + m.n;
            run = i;
        }
    }
    segments_add(out, TOK_CONTENT, s + run, v->u.str.n - run);
}

bool jinja_think_open(const struct format *f, const struct jv *out)
{
    struct text open = f->think[0];
    size_t n = out->u.str.n, i;

    while (n && ascii_space(out->u.str.s[n - 1]))
        n--;
    while (open.n && ascii_space(open.s[open.n - 1]))
        open.n--;
    if (!open.n || n < open.n ||
        memcmp(out->u.str.s + n - open.n, open.s, open.n))
        return false;
    for (i = n - open.n; i < out->u.str.n; i++)
        if (!jv_markup_at(out, i))
            return false;
    return true;
}

static enum st render(const struct format *f, const struct chat_req *r,
                      struct segments *out, bool *think_open, struct err *e)
{
    const struct jinja_data *d = f->data;
    size_t bytes = jinja_req_bytes(r);
    struct arena arena;
    struct jinja_ask a = {
        .r = r, .arena = &arena,
        .max_steps = STEPS + STEPS_PER_BYTE * (uint64_t)bytes,
        .max_out = OUT_BYTES + 8 * bytes,
    };
    char *s = NULL;
    enum st st;

    arena_init(&arena, ARENA_BYTES + ARENA_PER_BYTE * bytes);
    st = converse(d, &a, e);
    if (!st)
        s = arena_dup(out->arena, a.out.u.str.n ? a.out.u.str.s : "",
                      a.out.u.str.n);
    if (!st && !s)
        st = no_memory(e);
    if (!st && d->tok)
        add_runs(out, d->tok, &a.out, s);
    else if (!st)
        add_ranges(out, &a.out, s);
    if (!st)
        *think_open = jinja_think_open(f, &a.out);
    arena_release(&arena);
    return st;
}

/* --- loading ------------------------------------------------------------- */

static void free_templates(struct format *f)
{
    struct jinja_data *d = f->data;

    if (!d)
        return;
    jinja_free(d->plain);
    jinja_free(d->tools);
}

static const struct format_kind jinja_kind = {
    .name = "jinja", .render = render, .free = free_templates,
};

/* The spelling of a token that the template asks for by name. */
static struct text spelling(const struct tok *t, int32_t id)
{
    struct span s = id >= 0 ? tok_piece(t, id) : (struct span){"", 0};

    return (struct text){s.s, s.n};
}

enum st format_jinja(struct format **out, const struct jinja_source *s,
                     const struct tok *t, struct err *e)
{
    struct format *f = format_new(&jinja_kind, "jinja", s->source);
    struct jinja_data *d = arena_alloc(&f->arena, sizeof(*d));
    enum st st;

    *out = NULL;
    BUG_ON(!d);
    f->data = d;
    d->tok = f->tok = t;
    d->bos = d->eos = TEXT("");
    if (t) {
        d->bos = spelling(t, tok_bos(t));
        d->eos = spelling(t, tok_eos(t));
    }
    st = jinja_compile(&d->plain, s->text.s, s->text.n, "template", e);
    if (!st && s->tools.n)
        st = jinja_compile(&d->tools, s->tools.s, s->tools.n,
                           "template tool_use", e);
    if (!st)
        st = jinja_probe(f, e);
    if (st) {
        format_free(f);
        return st;
    }
    *out = f;
    return ST_OK;
}
