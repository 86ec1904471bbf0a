#include "api/prompts.h"

#include "chat/format.h"
#include "text/tok.h"

#define COUNT_MIN ((size_t)1 << 16)
#define COUNT_MAX ((size_t)1 << 24)
#define TOO_LONG "this model's maximum context length is %d tokens, but the " \
                 "prompt has "

void prompts_release(struct prompt_ids *p)
{
    for (size_t i = 0; i < p->n; i++)
        ids_release(&p->of[i]);
    p->n = 0;
}

/* Tokens are counted up to here: a refusal says how many a prompt has, but
 * 64 MB of text must not keep a thread busy for half a minute. */
static size_t count_max(int32_t context)
{
    size_t n = 4 * (size_t)context;

    return n < COUNT_MIN ? COUNT_MIN : n > COUNT_MAX ? COUNT_MAX : n;
}

static struct ids *next(struct prompt_ids *p)
{
    struct ids *v = &p->of[p->n++];

    ids_init(v, count_max(p->context));
    return v;
}

/* Does a prompt of n tokens leave room for one more? */
static enum st check_context(const struct prompt_ids *p, size_t n,
                             struct err *e)
{
    if (n >= (size_t)p->context)
        return err_set(e, ST_CONTEXT, "", TOO_LONG "%zu tokens", p->context,
                       n);
    return ST_OK;
}

static enum st encode(struct prompt_ids *p, const struct segments *s,
                      const struct tok *t, struct err *e)
{
    struct ids *out = next(p);
    enum st st = segments_encode(s, t, out, e);

    if (st == ST_LIMIT && !s->failed)
        return err_set(e, ST_CONTEXT, "", TOO_LONG "more than %zu", p->context,
                       out->max);
    return st ? st : check_context(p, out->n, e);
}

/* On or off as it was meant, where the format can. */
static enum think_mode bend(const struct body *b,
                            const struct format_caps *caps)
{
    bool effort = b->chat.effort.n && (caps->efforts || caps->effort_max);

    if (caps->think_forced)
        return THINK_ON;
    return caps->think || effort ? b->chat.think : THINK_OFF;
}

enum think_mode prompts_think(const struct catalog_model *m,
                              const struct body *b, bool on_by_default)
{
    const struct format_caps *caps = m->format ? format_caps(m->format) : NULL;

    if (b->think.soft && caps)
        return bend(b, caps);
    if (b->chat.think != THINK_DEFAULT || !caps || !caps->think)
        return b->chat.think;
    if (caps->think_forced)
        return THINK_ON;
    /* a forced answer leaves nothing to think about */
    return on_by_default && !b->n_choice ? THINK_ON : THINK_OFF;
}

/*
 * What a body may say and `penstock render` shows, but no answer can follow:
 * this version reads no images, and without an opened turn nobody answers.
 */
static enum st check_version(const struct body *b, struct err *e)
{
    if (b->chat.no_prompt)
        return err_set(e, ST_INVALID, "add_generation_prompt",
                       "accepted is true: an answer needs an opened turn");
    if (b->image[0])
        return err_set(e, ST_INVALID, b->image,
                       "accepted is text; this version reads no images");
    return ST_OK;
}

/* The chat format knows one name of what the body has many for. */
static void name_effort(const struct body *b, struct err *e)
{
    if (b->think.field && !strcmp(e->where, "reasoning_effort"))
        snprintf(e->where, sizeof(e->where), "%s", b->think.field);
}

/* It also knows chat's messages alone: in another dialect what can be said is
 * which entry of the caller's list one came from. */
static void name_message(const struct body *b, struct err *e)
{
    static const char chat[] = "messages[";
    char index[24], before[24];
    size_t n;

    snprintf(before, sizeof(before), "%zu", SENT_BEFORE);
    if (b->list && !strcmp(e->where, "messages"))
        snprintf(e->where, sizeof(e->where), "%s", b->list);
    if (!b->list || strncmp(e->where, chat, sizeof(chat) - 1))
        return;
    n = strspn(e->where + sizeof(chat) - 1, "0123456789");
    snprintf(index, sizeof(index), "%.*s", (int)n,
             e->where + sizeof(chat) - 1);
    if (!strcmp(index, before))
        snprintf(e->where, sizeof(e->where), "%s",
                 b->previous.n ? "previous_response_id" : b->before);
    else
        snprintf(e->where, sizeof(e->where), "%s[%s]", b->list, index);
}

enum st prompts_chat(struct prompt_ids *p, const struct catalog_model *m,
                     const struct body *b, struct arena *a, struct err *e)
{
    enum st st = check_version(b, e);
    struct segments segments;

    if (st)
        return st;
    if (!m->format)
        return err_set(e, ST_UNSUPPORTED, "model",
                       "this model has no chat format: %s",
                       m->no_chat ? m->no_chat : "none was found");
    p->format = m->format;
    segments_init(&segments, a);
    st = format_render(m->format, &b->chat, &segments, &p->think_open, e);
    if (!st)
        st = encode(p, &segments, m->tok, e);
    if (st) {
        name_effort(b, e);
        name_message(b, e);
    }
    if (!st && !p->of[p->n - 1].n)
        st = err_set(e, ST_INVALID, b->list ? b->list : "messages",
                     "the chat format in use makes no prompt of them");
    return st;
}

/* --- turns --------------------------------------------------------------- */

static bool has_image(const struct chat_msg *m)
{
    for (size_t j = 0; j < m->n_parts; j++)
        if (m->parts[j].type == PART_IMAGE)
            return true;
    return false;
}

/* list[0..n) as one message at the place of the first; false when the arena
 * is full. */
static bool join(struct chat_msg *to, const struct chat_msg *list, size_t n,
                 struct arena *a)
{
    size_t bytes = 1, at = 0;
    char *s;

    for (size_t i = 0; i < n; i++)
        if (!mem_add(&bytes, bytes, list[i].content.n) ||
            !mem_add(&bytes, bytes, 2))
            return false;
    s = arena_alloc(a, bytes);
    if (!s)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct text t = list[i].content;

        if (!t.n)
            continue;
        if (at) {
            memcpy(s + at, "\n\n", 2);
            at += 2;
        }
        memcpy(s + at, t.s, t.n);
        at += t.n;
    }
    *to = list[0];
    to->content = (struct text){s, at};
    to->has_content = true;
    to->parts = NULL;
    to->n_parts = 0;
    return true;
}

/* How many of list[0..n), of which there is one, become one. */
static size_t neighbours(const struct chat_msg *list, size_t n)
{
    size_t k = 0;

    while (k < n && list[k].role == ROLE_USER && !has_image(&list[k]))
        k++;
    return k ? k : 1;
}

/* False when nothing is different afterwards, or memory is out.
 *   late  every system message is, also the first */
static bool fold(struct chat_req *r, bool late, struct arena *a)
{
    struct chat_msg *list = arena_array(a, r->n_messages, sizeof(*list));
    bool changed = false;
    size_t n = 0, k;

    for (size_t i = 0; list && i < r->n_messages; i++) {
        list[i] = r->messages[i];
        late = late || list[i].role != ROLE_SYSTEM;
        if (!late || list[i].role != ROLE_SYSTEM)
            continue;
        list[i].role = ROLE_USER;
        changed = true;
    }
    for (size_t i = 0; list && i < r->n_messages; i += k) {
        k = neighbours(list + i, r->n_messages - i);
        if (k == 1)
            list[n] = list[i];
        else if (!join(&list[n], list + i, k, a))
            return false;
        changed = changed || k > 1;
        n++;
    }
    r->messages = list;
    r->n_messages = n;
    return list && changed;
}

enum st prompts_turns(struct prompt_ids *p, const struct catalog_model *m,
                      const struct body *b, struct arena *a, struct err *e)
{
    enum st st = prompts_chat(p, m, b, a, e);
    struct body folded;
    struct err second = {0};

    if (st != ST_INVALID)
        return st;
    folded = *b;
    if (!fold(&folded.chat, !format_caps(m->format)->system, a))
        return st;
    prompts_release(p);
    st = prompts_chat(p, m, &folded, a, &second);
    if (st && st != ST_INVALID && e)
        *e = second;
    return st;
}

/* --- completions --------------------------------------------------------- */

/* What prompt i was called in the request. */
static void name_of(const struct body *b, size_t i, char *out, size_t n)
{
    if (b->prompt_list)
        snprintf(out, n, "prompt[%zu]", i);
    else
        snprintf(out, n, "prompt");
}

static enum st take_ids(struct prompt_ids *p, const struct catalog_model *m,
                        const struct body *b, size_t i, struct err *e)
{
    const struct prompt *prompt = &b->prompts[i];
    int64_t vocab = (int64_t)tok_count(m->tok);
    struct ids *out = next(p);
    enum st st = check_context(p, prompt->n_ids, e);

    for (size_t j = 0; j < prompt->n_ids && !st; j++) {
        if (prompt->ids[j] < 0 || prompt->ids[j] >= vocab) {
            char name[32], where[64];

            name_of(b, i, name, sizeof(name));
            snprintf(where, sizeof(where), "%s[%zu]", name, j);
            return err_set(e, ST_INVALID, where,
                           "token id %d is not in the vocabulary "
                           "(0 to %lld)", prompt->ids[j],
                           (long long)vocab - 1);
        }
        ids_add(out, prompt->ids[j]);
    }
    if (!st && out->failed)
        st = err_set(e, ST_NOMEM, "", "no memory for this request");
    return st;
}

static enum st take_text(struct prompt_ids *p, const struct catalog_model *m,
                         const struct body *b, size_t i, struct arena *a,
                         struct err *e)
{
    const struct prompt *prompt = &b->prompts[i];
    struct segments segments;
    enum st st;

    segments_init(&segments, a);
    segments_add(&segments, TOK_CONTENT, prompt->text.s, prompt->text.n);
    st = encode(p, &segments, m->tok, e);
    if (!st && !p->of[p->n - 1].n)
        st = err_set(e, ST_INVALID, "", "it has no tokens");
    return st;
}

enum st prompts_text(struct prompt_ids *p, const struct catalog_model *m,
                     const struct body *b, struct arena *a, struct err *e)
{
    enum st st = ST_OK;

    for (size_t i = 0; i < b->n_prompts && !st; i++) {
        st = b->prompts[i].ids ? take_ids(p, m, b, i, e)
                               : take_text(p, m, b, i, a, e);
        if (st && st != ST_NOMEM && !e->where[0])
            name_of(b, i, e->where, sizeof(e->where));
    }
    return st;
}
