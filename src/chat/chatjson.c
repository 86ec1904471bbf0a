#include "chat/chatjson.h"

#include "json/read.h"

/* One file on its way to a format. */
struct load {
    struct format *f;
    struct chatjson *c;   /* its data */
    const struct json *root;
    const char *name;     /* of the file, for messages */
    const struct tok *t;  /* NULL: markers are not checked */
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

/* Length of the marker that p[0..n) begins with; 0 when it does not. */
static size_t marker_len(const char *p, size_t n)
{
    static const char *const words[] = {"<think>", "</think>"};
    static const char *const bars[] = {"|", "\xef\xbd\x9c"}; /* U+FF5C */

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t len = strlen(words[i]);

        if (n >= len && !memcmp(p, words[i], len))
            return len;
    }
    if (!n || *p != '<')
        return 0;
    for (size_t b = 0; b < sizeof(bars) / sizeof(bars[0]); b++) {
        size_t bar = strlen(bars[b]);

        if (n < bar + 1 || memcmp(p + 1, bars[b], bar))
            continue;
        for (size_t i = bar + 1; i < n && p[i] != '>'; i++)
            if (n - i > bar && !memcmp(p + i, bars[b], bar))
                return p[i + bar] == '>' ? i + bar + 1 : 0;
    }
    return 0;
}

/* Every marker of `s` must be one token, or the model never saw it. */
static enum st check_markers(struct load *l, const char *key, struct text s)
{
    struct ids ids;
    enum st st = ST_OK;

    if (!l->t)
        return ST_OK;
    for (size_t i = 0; i < s.n && !st;) {
        size_t len = marker_len(s.s + i, s.n - i);
        size_t n;

        if (!len) {
            i++;
            continue;
        }
        ids_init(&ids, 4096);
        st = tok_encode(l->t, TOK_MARKUP, s.s + i, len, &ids, l->e);
        n = ids.n;
        ids_release(&ids);
        if (!st && n != 1) {
            char text[256];

            snprintf(text, sizeof(text),
                     "%.*s is %zu tokens of this vocabulary and must be one: "
                     "the tokenizer and the chat format disagree",
                     len > 60 ? 60 : (int)len, s.s + i, n);
            st = bad(l, key, text);
        }
        i += len;
    }
    return st;
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
static enum st take_string(struct load *l, const char *key, struct text *out)
{
    const struct json *v = get(l, key);

    if (!v)
        return ST_OK;
    if (v->type != JSON_STR)
        return bad(l, key, "must be a string");
    *out = v->str;
    return check_markers(l, key, v->str);
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
    st = check_markers(l, key, out[0]);
    return st ? st : check_markers(l, key, out[1]);
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
        struct turn *turn = &l->c->turns[roles[i].role];
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
    enum st st = take_string(l, "stop", &stop);

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
    enum st st = take_string(l, "think_off", &l->c->think_off);

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
    return take_think_more(l);
}

static bool has_slot(struct text t)
{
    for (size_t i = 0; i + 1 < t.n; i++)
        if (t.s[i] == '{' && t.s[i + 1] == '}')
            return true;
    return false;
}

static enum st take_all(struct load *l)
{
    struct text effort = {NULL, 0}, image = {NULL, 0};
    enum st st = take_turns(l);

    if (!st)
        st = take_string(l, "open", &l->c->open);
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
        st = take_string(l, "prelude", &l->c->prelude);
    if (!st)
        st = take_think(l);
    /* checked so that a broken file is known at once; not used yet */
    if (!st)
        st = take_string(l, "effort", &effort);
    if (!st && get(l, "effort") && !has_slot(effort))
        st = bad(l, "effort", "must hold {}, where the level goes");
    if (!st)
        st = take_string(l, "image", &image);
    return st;
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
