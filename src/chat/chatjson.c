#include "chat/chatjson.h"

#include "json/read.h"

static const struct tool_form *const forms[] = {
    &tool_form_kimi, &tool_form_glm,
};
#define FORMS (sizeof(forms) / sizeof(forms[0]))

static const char *const levels[CHATJSON_EFFORTS + 1] = {
    "low", "medium", "high", "max", NULL,
};

/* One file on its way to a format. */
struct load {
    struct format *f;
    struct chatjson *c;   /* its data */
    const struct json *root;
    const char *name;     /* of the file, for messages */
    const struct tok *t;  /* NULL: markers are not checked */
    bool hinted[FORMS];   /* a string speaks of this tool form */
    struct err *e;
};

static enum st bad(struct load *l, const char *key, const char *text)
{
    char where[128];

    snprintf(where, sizeof(where), "%s%s%s", l->name, key[0] ? ": " : "", key);
    return err_set(l->e, ST_FORMAT, where, "%s", text);
}

static const struct json *get(struct load *l, const char *key)
{
    const struct json *v = json_get(l->root, key);

    return v && v->type != JSON_NULL ? v : NULL;
}

/* Where to look for marks: in prefixes <x> and [X] are words like others. */
enum marks { MARKS_BARS, MARKS_ALL };

static bool name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* <name>, </name> or [name]; 0: it is none. */
static size_t named_len(const char *p, size_t n)
{
    char close = *p == '<' ? '>' : ']';
    size_t i = 1;

    if (*p != '<' && *p != '[')
        return 0;
    if (*p == '<' && n > 1 && p[1] == '/')
        i++;
    if (i == n || !name_char(p[i]))
        return 0;
    while (i < n && name_char(p[i]))
        i++;
    return i < n && p[i] == close ? i + 1 : 0;
}

/* Length of the marker that p[0..n) begins with; 0 when it does not. */
static size_t marker_len(const char *p, size_t n, enum marks marks)
{
    static const char *const words[] = {"<think>", "</think>"};
    static const char *const bars[] = {"|", "\xef\xbd\x9c"}; /* U+FF5C */

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t len = strlen(words[i]);

        if (n >= len && !memcmp(p, words[i], len))
            return len;
    }
    for (size_t b = 0; b < sizeof(bars) / sizeof(bars[0]); b++) {
        size_t bar = strlen(bars[b]);

        if (n < bar + 1 || *p != '<' || memcmp(p + 1, bars[b], bar))
            continue;
        for (size_t i = bar + 1; i < n && p[i] != '>'; i++)
            if (n - i > bar && !memcmp(p + i, bars[b], bar))
                return p[i + bar] == '>' ? i + bar + 1 : 0;
    }
    return marks == MARKS_ALL ? named_len(p, n) : 0;
}

static enum st bad_marker(struct load *l, const char *key, const char *p,
                          size_t len)
{
    int shown = len > 60 ? 60 : (int)len;
    char text[256];
    struct ids ids;
    enum st st;
    size_t n;

    ids_init(&ids, 4096);
    st = tok_encode(l->t, TOK_MARKUP, p, len, &ids, l->e);
    n = ids.n;
    ids_release(&ids);
    if (st)
        return st;
    if (n == 1)
        snprintf(text, sizeof(text),
                 "%.*s is an ordinary token of this vocabulary, which any text "
                 "could spell, and must be a special one: the tokenizer and "
                 "the chat format disagree", shown, p);
    else
        snprintf(text, sizeof(text),
                 "%.*s is %zu tokens of this vocabulary and must be one: "
                 "the tokenizer and the chat format disagree", shown, p, n);
    return bad(l, key, text);
}

static bool holds(struct text s, const char *word)
{
    size_t len = strlen(word);

    for (size_t i = 0; i + len <= s.n; i++)
        if (!memcmp(s.s + i, word, len))
            return true;
    return false;
}

/* Every marker of `s` must be one special token, or the model never saw it. */
static enum st check_markers(struct load *l, const char *key, struct text s,
                             enum marks marks)
{
    for (size_t k = 0; k < FORMS; k++)
        l->hinted[k] = l->hinted[k] || holds(s, forms[k]->hint);
    if (!l->t)
        return ST_OK;
    for (size_t i = 0; i < s.n;) {
        size_t len = marker_len(s.s + i, s.n - i, marks);
        int32_t id = len ? tok_find(l->t, s.s + i, len) : -1;
        enum tok_type type = id < 0 ? TOK_NORMAL : tok_type_of(l->t, id);

        if (len && type != TOK_CONTROL && type != TOK_USER)
            return bad_marker(l, key, s.s + i, len);
        i += len ? len : 1;
    }
    return ST_OK;
}

/* The first special token in `s`; -1 when there is none. */
static enum st first_special(struct load *l, struct text s, int32_t *out)
{
    struct ids ids;
    enum st st;

    *out = -1;
    ids_init(&ids, 1u << 16);
    st = tok_encode(l->t, TOK_MARKUP, s.s, s.n, &ids, l->e);
    for (size_t i = 0; i < ids.n && !st && *out < 0; i++) {
        enum tok_type type = tok_type_of(l->t, ids.p[i]);

        if (type == TOK_CONTROL || type == TOK_USER)
            *out = ids.p[i];
    }
    ids_release(&ids);
    return st;
}

/* A string at the top; *out stays empty when the key is absent. */
static enum st take_string(struct load *l, const char *key, enum marks marks,
                           struct text *out)
{
    const struct json *v = get(l, key);

    if (!v)
        return ST_OK;
    if (v->type != JSON_STR)
        return bad(l, key, "must be a string");
    *out = v->str;
    return check_markers(l, key, v->str, marks);
}

/* [first, second]; *found says whether the key is there. */
static enum st take_pair(struct load *l, const char *key, struct text out[2],
                         bool *found)
{
    const struct json *v = get(l, key);
    enum st st;

    *found = v != NULL;
    if (!v)
        return ST_OK;
    if (v->type != JSON_ARR || v->n != 2 || v->child->type != JSON_STR ||
        v->child->next->type != JSON_STR)
        return bad(l, key, "must be two strings: [prefix, suffix]");
    out[0] = v->child->str;
    out[1] = v->child->next->str;
    st = check_markers(l, key, out[0], MARKS_BARS);
    return st ? st : check_markers(l, key, out[1], MARKS_BARS);
}

static enum st take_turns(struct load *l)
{
    static const struct {
        enum chat_role role;
        const char *key;
    } roles[] = {
        {ROLE_SYSTEM, "system"},
        {ROLE_USER, "user"},
        {ROLE_ASSISTANT, "assistant"},
    };

    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
        struct role_turn *turn = &l->c->turns[roles[i].role];
        struct text pair[2] = {{NULL, 0}, {NULL, 0}};
        enum st st = take_pair(l, roles[i].key, pair, &turn->known);

        if (st)
            return st;
        turn->prefix = pair[0];
        turn->suffix = pair[1];
    }
    l->f->caps.system = l->c->turns[ROLE_SYSTEM].known;
    return ST_OK;
}

static enum st take_stop(struct load *l)
{
    struct text stop = {NULL, 0};
    int32_t id;
    enum st st = take_string(l, "stop", MARKS_BARS, &stop);

    if (st || !l->t)
        return st;
    if (!stop.n)
        stop = l->c->turns[ROLE_ASSISTANT].suffix;
    st = first_special(l, stop, &id);
    if (!st && id < 0)
        return bad(l, "stop", "nothing ends a generated turn: neither stop "
                              "nor the assistant's suffix has a special "
                              "token");
    if (!st)
        l->f->stop_ids[l->f->n_stop_ids++] = id;
    return st;
}

static enum st take_flag(struct load *l, const char *key, bool *out)
{
    const struct json *v = get(l, key);

    if (v && v->type != JSON_BOOL)
        return bad(l, key, "must be true or false");
    *out = v && v->boolean;
    return ST_OK;
}

/* The keys that say more about reasoning than [open, close]. */
static enum st take_think_more(struct load *l)
{
    struct format *f = l->f;
    const struct json *v = get(l, "think_default");
    enum st st = take_string(l, "think_off", MARKS_BARS, &l->c->think_off);

    if (!st)
        st = take_flag(l, "think_history", &l->c->think_history);
    if (st)
        return st;
    if (!f->caps.think) {
        if (v || l->c->think_off.n || l->c->think_history)
            return bad(l, "think", "is missing, but other think keys are "
                                   "there");
        return ST_OK;
    }
    f->caps.think_forced = !l->c->think_off.n;
    l->c->think_default = THINK_ON;
    if (!v || json_is(v, "on"))
        return ST_OK;
    if (json_is(v, "model"))
        l->c->think_default = THINK_DEFAULT;
    else if (json_is(v, "off") && l->c->think_off.n)
        l->c->think_default = THINK_OFF;
    else
        return bad(l, "think_default",
                   "must be on, model, or (with think_off) off");
    return ST_OK;
}

static enum st take_think(struct load *l)
{
    struct format *f = l->f;
    enum st st = take_pair(l, "think", f->think, &f->caps.think);

    if (st)
        return st;
    if (f->caps.think && (!f->think[0].n || !f->think[1].n))
        return bad(l, "think", "must be two strings, not empty: [open, close]");
    for (int i = 0; i < 2 && f->caps.think && l->t; i++) {
        st = first_special(l, f->think[i], &f->think_id[i]);
        if (st)
            return st;
        if (f->think_id[i] < 0)
            return bad(l, "think", "has a side without a special token of "
                                   "this vocabulary");
    }
    f->cut = f->think[1];
    return take_think_more(l);
}

/* The text with every {} replaced by the level, its first letter large. */
static enum st effort_turn(struct load *l, struct text form, const char *level,
                           struct text *out)
{
    struct buf b;
    char *s = NULL;

    buf_init(&b, BUF_EVENT);
    for (size_t i = 0; i < form.n; i++) {
        if (i + 1 < form.n && form.s[i] == '{' && form.s[i + 1] == '}') {
            buf_putc(&b, (char)(level[0] - 'a' + 'A'));
            buf_puts(&b, level + 1);
            i++;
        } else {
            buf_putc(&b, form.s[i]);
        }
    }
    if (!b.failed)
        s = arena_dup(&l->f->arena, b.p, b.n);
    *out = (struct text){s, s ? b.n : 0};
    buf_release(&b);
    return s ? ST_OK : bad(l, "effort", "is too long");
}

static enum st take_effort(struct load *l)
{
    struct text form = {NULL, 0};
    enum st st = take_string(l, "effort", MARKS_BARS, &form);

    if (st || !get(l, "effort"))
        return st;
    if (!holds(form, "{}"))
        return bad(l, "effort", "must hold {}, where the level goes");
    for (size_t i = 0; i < CHATJSON_EFFORTS && !st; i++)
        st = effort_turn(l, form, levels[i], &l->c->efforts[i]);
    l->f->caps.efforts = levels;
    return st;
}

static enum st take_image(struct load *l)
{
    struct text *image = &l->c->image;
    int32_t id = 0;
    enum st st = take_string(l, "image", MARKS_ALL, image);

    if (!st && image->n && l->t)
        st = first_special(l, *image, &id);
    if (!st && id < 0)
        return bad(l, "image", "has no special token of this vocabulary, which "
                               "an image could take the place of");
    l->f->caps.images = image->n > 0;
    return st;
}

/* --- native tool forms --------------------------------------------------- */

static bool all_tokens(const struct tok *t, const char *const *markers)
{
    while (*markers && format_marker_id(t, *markers) >= 0)
        markers++;
    return !*markers;
}

/* Does the model know this form? Every marker, or none of it is used. */
static bool knows(const struct load *l, size_t k)
{
    if (!l->t)
        return l->hinted[k];
    return all_tokens(l->t, forms[k]->dialect->markers) &&
           all_tokens(l->t, forms[k]->frame);
}

static enum st bad_tools(struct load *l)
{
    struct buf b;
    enum st st;

    buf_init(&b, BUF_MESSAGE);
    buf_puts(&b, "must be");
    for (size_t k = 0; k < FORMS; k++)
        buf_printf(&b, "%s %s", k ? " or" : "", forms[k]->dialect->name);
    buf_puts(&b, "; without the key the vocabulary decides");
    st = bad(l, "tools", b.p);
    buf_release(&b);
    return st;
}

static enum st take_tools(struct load *l)
{
    const struct json *v = get(l, "tools");
    struct format *f = l->f;
    bool named = false;

    for (size_t k = 0; k < FORMS && !l->c->tools; k++) {
        if (v && !json_is(v, forms[k]->dialect->name))
            continue;
        named = true;
        if ((v && !l->t) || knows(l, k))
            l->c->tools = forms[k];
    }
    if (v && !named)
        return bad_tools(l);
    if (v && !l->c->tools)
        return bad(l, "tools", "names a form whose markers are not all special "
                               "tokens of this vocabulary");
    if (!l->c->tools)
        return ST_OK;
    f->caps.tools = true;
    f->dialect = l->c->tools->dialect;
    f->strict_end = true;
    return ST_OK;
}

static enum st take_all(struct load *l)
{
    enum st st = take_turns(l);

    if (!st)
        st = take_string(l, "open", MARKS_BARS, &l->c->open);
    if (st)
        return st;
    if (!l->c->open.n)
        return bad(l, "open", "is missing: nothing hands the floor to the "
                              "model; accepted is a string, not empty");
    if (!l->c->turns[ROLE_USER].known)
        return bad(l, "user", "is missing: there must be a user turn, "
                              "[prefix, suffix]");
    st = take_stop(l);
    if (!st)
        st = take_string(l, "prelude", MARKS_ALL, &l->c->prelude);
    if (!st)
        st = take_think(l);
    if (!st)
        st = take_effort(l);
    if (!st)
        st = take_image(l);
    return st ? st : take_tools(l);
}

static const struct format_kind kind = {
    .name = "chatjson",
    .render = chatjson_render,
};

enum st format_chatjson(struct format **out, const char *json, size_t n,
                        const char *source, const struct tok *t,
                        struct err *e)
{
    struct format *f = format_new(&kind, "chatjson", source);
    struct load l = {.f = f, .name = source, .t = t, .e = e};
    struct err inner = {0};
    enum st st;

    *out = NULL;
    f->tok = t;
    l.c = f->data = arena_alloc(&f->arena, sizeof(*l.c));
    BUG_ON(!l.c);
    st = json_parse(&l.root, &f->arena, json, n, &inner);
    if (st) {
        char text[sizeof(inner.text) + 32];

        snprintf(text, sizeof(text), "cannot be read: %s", inner.text);
        st = bad(&l, "", text);
    } else if (l.root->type != JSON_OBJ) {
        st = bad(&l, "", "must be a JSON object");
    } else {
        st = take_all(&l);
    }
    if (!st) {
        *out = f;
        f = NULL;
    }
    format_free(f);
    return st;
}
