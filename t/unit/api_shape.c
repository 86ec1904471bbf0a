/*
 * What a request says of its answers becomes a grammar, a vocabulary, a guide
 * (api/shape.h, api/lexicon.h, api/guide_grammar.h), with the demo model's
 * vocabulary. Expectations: spec tandem.md 7 and checks 48, 50, 52; cases C26
 * to C29; fields and kept numbers are our written decisions.
 */
#include "api/guide_grammar.h"
#include "api/shape.h"
#include "gram/machine.h"
#include "t/lib/apit.h"
#include "text/tok.h"

#include <pthread.h>

#define M "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],"
#define FORMAT(schema)                                                         \
    M "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":"        \
      "{\"schema\":" schema "}}}"
#define THREADS 4
#define STEPS 300

static struct apit t;
static struct grammars *cache;
static struct lexicons *lexicons;
static struct memory *accounts; /* NULL: none */
static uint64_t seed = 88172645463325252u;

static uint64_t draw(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static enum st shape_of(struct shape *s, const char *json, bool space,
                        struct err *e)
{
    struct arena a;
    struct body b;
    enum st st;

    arena_init(&a, 8u << 20);
    *e = (struct err){0};
    st = body_parse_chat(&b, &a, (struct text){json, strlen(json)}, e);
    BUG_ON(st);
    st = shape_open(s, cache, accounts, t.format, &b, space, e);
    arena_release(&a);
    return st;
}

/* --- what is kept -------------------------------------------------------- */

static void kept(void)
{
    struct grammars *all = cache;
    struct grammars_figures f;
    struct shape s[20];
    struct err e;
    char json[200];

    cache = grammars_new();
    for (int i = 0; i < 20; i++) {
        snprintf(json, sizeof(json),
                 M "\"structured_outputs\":{\"regex\":\"a{%d}\"}}", i + 1);
        is_int(shape_of(&s[i], json, false, &e), ST_OK, "a regex (%s)",
               e.text);
    }
    grammars_figures(cache, &f);
    ok(f.misses == 20 && !f.hits && f.kept == GRAMMARS_MAX && f.bytes,
       "the newest are kept");
    for (int i = 19; i >= 0; i--) {
        struct shape again;

        snprintf(json, sizeof(json),
                 M "\"structured_outputs\":{\"regex\":\"a{%d}\"}}", i + 1);
        if (i < 20 - GRAMMARS_MAX)
            break;
        is_int(shape_of(&again, json, false, &e), ST_OK, "again");
        ok(again.g == s[i].g, "the same");
        shape_release(&again);
    }
    grammars_figures(cache, &f);
    is_int(f.hits, GRAMMARS_MAX, "hits");
    for (int i = 0; i < 20; i++)
        shape_release(&s[i]);
    grammars_free(cache);
    cache = all;
}

static struct grammar *made(size_t bytes)
{
    struct grammar *g = mem_new(struct grammar);

    g->bytes = bytes;
    g->refs = 1;
    return g;
}

/* What is kept is bounded in bytes too; the newest always stays. */
static void kept_bytes(void)
{
    static const size_t mib[] = {30, 20, 10, 10, 62, 80};
    static const size_t kept_then[] = {1, 2, 3, 3, 1, 1};
    struct grammars *c = grammars_new();
    struct grammars_figures f;
    uint8_t key[GRAMMAR_KEY] = {0};

    for (size_t i = 0; i < sizeof(mib) / sizeof(*mib); i++) {
        struct grammar *g = made(mib[i] << 20);

        key[0] = (uint8_t)i;
        ok(!grammars_find(c, key), "one of %zu MiB is new", mib[i]);
        grammars_end(c, key, g);
        gram_unref(g);
        grammars_figures(c, &f);
        is_int(f.kept, kept_then[i], "then so many are kept");
    }
    is_int(f.bytes, (size_t)80 << 20, "their bytes");
    grammars_free(c);
}

static bool is_kept(struct grammars *c, const uint8_t key[GRAMMAR_KEY])
{
    struct grammar *g = grammars_find(c, key);

    if (!g)
        grammars_end(c, key, NULL);
    gram_unref(g);
    return g;
}

/* The one that was used longest ago goes first. */
static void kept_used(void)
{
    struct grammars *c = grammars_new();
    uint8_t key[GRAMMAR_KEY] = {0};

    for (int i = 0; i <= GRAMMARS_MAX; i++) {
        struct grammar *g = made(100);

        key[0] = 0;
        if (i == GRAMMARS_MAX)
            ok(is_kept(c, key), "the first is used again");
        key[0] = (uint8_t)i;
        BUG_ON(grammars_find(c, key));
        grammars_end(c, key, g);
        gram_unref(g);
    }
    key[0] = 0;
    ok(is_kept(c, key), "and stays");
    key[0] = 1;
    ok(!is_kept(c, key), "the second goes for it");
    key[0] = 2;
    ok(is_kept(c, key), "the third does not");
    key[GRAMMAR_KEY - 1] = 1;
    ok(!is_kept(c, key), "all of a key is looked at");
    grammars_free(c);
}

struct waiter {
    struct grammars *c;
    struct grammar *g;
    _Atomic bool begun;
};

static void *wait_for(void *arg)
{
    static const uint8_t key[GRAMMAR_KEY] = {7};
    struct waiter *w = arg;

    w->begun = true;
    w->g = grammars_find(w->c, key);
    if (!w->g)
        grammars_end(w->c, key, NULL);
    return NULL;
}

/* Who waits while another makes it has that one. */
static void kept_waits(void)
{
    static const uint8_t key[GRAMMAR_KEY] = {7};
    struct waiter w = {.c = grammars_new()};
    struct grammar *g = made(100);
    pthread_t id;

    BUG_ON(grammars_find(w.c, key));
    BUG_ON(pthread_create(&id, NULL, wait_for, &w));
    while (!w.begun)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    grammars_end(w.c, key, g);
    pthread_join(id, NULL);
    ok(w.g == g, "who waited for it has it");
    gram_unref(w.g);
    gram_unref(g);
    grammars_free(w.c);
}

/* A compilation is in the accounts, and takes what there is. */
static void counted(void)
{
    static const char small[] = M "\"structured_outputs\":{\"regex\":\"ab\"}}",
                      large[] = M "\"structured_outputs\":{\"regex\":"
                                  "\"[a-z\\\\p{L}]{300}\"}}";
    struct grammars *all = cache;
    struct memory m;
    struct shape s;
    struct err e;

    cache = grammars_new();
    is_int(memory_init(&m, 0, (size_t)4096 << 20, 0, &e), ST_OK, "accounts");
    accounts = &m;
    is_int(shape_of(&s, large, false, &e), ST_OK, "a large one (%s)", e.text);
    shape_release(&s);
    grammars_free(cache);
    cache = grammars_new();
    memory_set(&m, MEM_KV, m.peak - memory_held(&m) - SHAPE_ROOM_MIN);
    is_int(shape_of(&s, large, false, &e), ST_NOMEM, "no room for it: %s",
           e.text);
    ok(strstr(e.text, "peak 4096 MiB"), "in figures");
    is_int(shape_of(&s, small, false, &e), ST_OK, "but for a small one");
    shape_release(&s);
    memory_set(&m, MEM_KV, m.peak);
    is_int(shape_of(&s, small, false, &e), ST_OK, "one that is kept takes none");
    shape_release(&s);
    grammars_free(cache);
    cache = grammars_new();
    is_int(shape_of(&s, small, false, &e), ST_NOMEM, "no room at all");
    is_int(atomic_load(&m.bytes[MEM_REQUESTS]), 0, "all is given back");
    grammars_free(cache);
    cache = all;
    accounts = NULL;
}

/* What differs in anything that matters is another grammar. */
static void keys(void)
{
    static const char *const bodies[] = {
        M "\"structured_outputs\":{\"regex\":\"\\\\{\\\\}\"}}",
        M "\"structured_outputs\":{\"choice\":[\"{}\"]}}",
        M "\"structured_outputs\":{\"choice\":[\"{\",\"}\"]}}",
        M "\"structured_outputs\":{\"choice\":[\"}\",\"{\"]}}",
        M "\"structured_outputs\":{\"json_object\":true}}",
        FORMAT("{}"),
        FORMAT("{\"type\":\"object\",\"properties\":"
               "{\"a\":{\"const\":1},\"b\":{\"const\":2}}}"),
        FORMAT("{\"type\":\"object\",\"properties\":"
               "{\"b\":{\"const\":2},\"a\":{\"const\":1}}}"),
        M "\"structured_outputs\":{\"regex\":\"ab\"}}",
        M "\"structured_outputs\":{\"choice\":[\"ab\"]}}",
    };
    enum { N = sizeof(bodies) / sizeof(*bodies) };
    struct shape s[2 * N], plain;
    size_t same = 0;
    struct err e;

    for (size_t i = 0; i < 2 * N; i++)
        if (shape_of(&s[i], bodies[i % N], i >= N, &e))
            printf("# %s: %s\n", e.where, e.text);
    for (size_t i = 0; i < 2 * N; i++)
        for (size_t k = 0; k < i; k++)
            same += !s[i].g || s[i].g == s[k].g;
    is_int(same, 0, "order, kind and space matter");
    is_int(shape_of(&plain, M "\"response_format\":{\"type\":\"json_schema\","
                              "\"json_schema\":{\"name\":\"x\","
                              "\"schema\":{ } }}}", false, &e), ST_OK,
           "white space and the name do not");
    ok(plain.g == s[5].g, "they are no part of the schema");
    shape_release(&plain);
    for (size_t i = 0; i < 2 * N; i++)
        shape_release(&s[i]);
    is_int(shape_of(&plain, M "\"temperature\":0}", false, &e), ST_OK, "text");
    ok(!plain.g, "has no grammar");
}

/* Calls: which tools, which of them, how many. */
static void call_keys(void)
{
#define TOOL(name, type)                                                       \
    "{\"type\":\"function\",\"function\":{\"name\":\"" name                     \
    "\",\"parameters\":{\"type\":\"object\",\"properties\":{\"a\":{"            \
    "\"type\":\"" type "\"}}}}}"
#define NAMED(name)                                                            \
    "{\"type\":\"function\",\"function\":{\"name\":\"" name "\"}}"
#define ONE TOOL("f", "string")
#define TWO ONE "," TOOL("g", "null")
    static const char *const bodies[] = {
        M "\"tools\":[" TWO "],\"tool_choice\":\"required\"}",
        M "\"tools\":[" TWO "],\"tool_choice\":\"required\","
          "\"parallel_tool_calls\":true}",
        M "\"tools\":[" TWO "],\"tool_choice\":" NAMED("f") "}",
        M "\"tools\":[" TWO "],\"tool_choice\":" NAMED("g") "}",
        M "\"tools\":[" ONE "],\"tool_choice\":\"required\"}",
        M "\"tools\":[" TOOL("f", "integer") "],"
          "\"tool_choice\":\"required\"}",
        M "\"tools\":[" ONE "],\"response_format\":"
          "{\"type\":\"json_object\"}}",
        M "\"response_format\":{\"type\":\"json_object\"}}",
        M "\"tools\":[" ONE "],\"tool_choice\":\"none\",\"response_format\":"
          "{\"type\":\"json_object\"}}",
    };
    enum { N = sizeof(bodies) / sizeof(*bodies) };
    struct shape s[N];
    size_t same = 0;
    struct err e;

    for (size_t i = 0; i < N; i++)
        if (shape_of(&s[i], bodies[i], false, &e))
            printf("# %s: %s\n", e.where, e.text);
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < i; k++)
            same += !s[i].g || (s[i].g == s[k].g && i < N - 1);
    is_int(same, 0, "tools, their choice and how many calls matter");
    ok(s[N - 1].g == s[N - 2].g, "tools that may not be called do not");
    for (size_t i = 0; i < N; i++)
        shape_release(&s[i]);
}

/* --- errors -------------------------------------------------------------- */

static void errors(void)
{
    static const char schema[] = "response_format.json_schema.schema";
    static const struct {
        const char *body, *where, *text;
    } rows[] = {
        {FORMAT("{\"type\":\"array\",\"uniqueItems\":true}"), schema,
         "uniqueItems at #"},
        {FORMAT("{\"properties\":{\"a\":{\"uniqueItems\":true}}}"), schema,
         "uniqueItems at #/properties/a"},
        {FORMAT("{\"type\":\"what\"}"), schema, "type at #"},
        {FORMAT("{\"$ref\":\"#/$defs/none\"}"), schema, "#/$defs/none"},
        {FORMAT("{\"enum\":[]}"), schema, ""},
        {M "\"structured_outputs\":{\"json\":{\"items\":"
           "{\"uniqueItems\":true}}}}",
         "structured_outputs.json", "uniqueItems at #/items"},
        {M "\"structured_outputs\":{\"regex\":\"foo**\"}}",
         "structured_outputs.regex", ""},
        {M "\"structured_outputs\":{\"regex\":\"(?<=x)y\"}}",
         "structured_outputs.regex", ""},
        {M "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":"
           "{\"name\":\"colour\",\"strict\":true,\"schema\":{\"type\":"
           "\"object\",\"properties\":{\"shade\":{\"type\":\"object\"}},"
           "\"required\":[\"shade\"],\"additionalProperties\":false}}}}",
         schema,
         "Invalid schema for response_format 'colour': In context="
         "('properties', 'shade'), 'additionalProperties' is required to be "
         "supplied and to be false."},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        for (int space = 0; space < 2; space++) {
            struct shape s;
            struct err e;
            enum st st = shape_of(&s, rows[i].body, space, &e);

            ok((st == ST_INVALID || st == ST_LIMIT) && !s.g, "refused");
            is_str(e.where, rows[i].where, "names the field");
            ok(strstr(e.text, rows[i].text), "says why: %s", e.text);
            shape_release(&s);
        }
}

/* --- a vocabulary -------------------------------------------------------- */

static void vocabulary(void)
{
    struct lexicon *l, *again;
    struct lexicons_figures f;
    size_t wrong = 0;
    struct err e;

    is_int(lexicons_get(lexicons, t.catalog.models, &l, &e), ST_OK,
           "a vocabulary");
    is_int(lexicons_get(lexicons, t.catalog.models, &again, &e), ST_OK,
           "again");
    ok(l == again, "is made once");
    lexicon_unref(again);
    ok(!lexicon_piece(l, t.end_id).n, "an end has no text");
    ok(!lexicon_piece(l, format_think_close_id(t.format)).n,
       "nor has a marker");
    ok(!lexicon_piece(l, -1).n && !lexicon_piece(l, 1 << 24).n,
       "nor what is no id");
    for (size_t i = 0; i < l->n_begins; i++) {
        struct span s = lexicon_piece(l, l->begins[i]);
        size_t k = 0;

        while (k < s.n && s.s[k] == '\n')
            k++;
        wrong += !s.n || s.s[0] != '\n' || (k == s.n) != (i < l->n_breaks);
    }
    ok(!wrong && l->n_breaks, "newlines (%zu, %zu)", l->n_breaks,
       l->n_begins);
    lexicons_figures(lexicons, &f);
    ok(f.bytes && f.built_us > 0, "%zu bytes, %lld us", f.bytes,
       (long long)f.built_us);
    lexicon_unref(l);
}

/* --- guides -------------------------------------------------------------- */

struct walk {
    struct lexicon *l;
    struct shape shape;
    struct guide *g;
    void *state;
    uint32_t *mask;
    size_t n, words;
    struct buf text;
    bool over;
};

static void walk_start(struct walk *w, const char *json)
{
    struct err e;

    *w = (struct walk){0};
    BUG_ON(lexicons_get(lexicons, t.catalog.models, &w->l, &e));
    if (shape_of(&w->shape, json, false, &e)) {
        printf("Bail out! %s: %s\n", e.where, e.text);
        exit(1);
    }
    w->g = guide_grammar_new(w->shape.g, w->l, NULL);
    w->state = mem_zalloc(guide_state_bytes(w->g));
    guide_init(w->g, w->state);
    w->n = tok_count(t.tok);
    w->words = (w->n + 31) / 32;
    w->mask = mem_array(uint32_t, w->words);
    buf_init(&w->text, 1 << 20);
}

static void walk_end(struct walk *w)
{
    guide_free(w->g);
    shape_release(&w->shape);
    lexicon_unref(w->l);
    free(w->state);
    free(w->mask);
    buf_release(&w->text);
}

/* Ids that may come; how many. */
static size_t look(struct walk *w)
{
    size_t n = 0;

    memset(w->mask, 0xff, w->words * sizeof(*w->mask));
    if (w->n % 32)
        w->mask[w->words - 1] >>= 32 - w->n % 32;
    guide_allowed(w->g, w->state, w->mask, w->n);
    for (size_t i = 0; i < w->words; i++)
        n += (size_t)__builtin_popcount(w->mask[i]);
    return n;
}

static bool has(const struct walk *w, int32_t id)
{
    return w->mask[id / 32] >> id % 32 & 1;
}

static int32_t pick(const struct walk *w, size_t k)
{
    for (int32_t id = 0;; id++)
        if (has(w, id) && !k--)
            return id;
}

static void put(struct walk *w, int32_t id)
{
    struct span s = lexicon_piece(w->l, id);

    buf_add(&w->text, s.s, s.n);
    w->over = guide_accept(w->g, w->state, id) == GUIDE_STOP;
}

/* Drafts of right and wrong ids, taken back: nothing of them is left. */
static bool drafts_leave_nothing(struct walk *w)
{
    size_t bytes = guide_state_bytes(w->g);
    void *saved = mem_zalloc(bytes);
    uint32_t *mask = mem_array(uint32_t, w->words);
    bool same;

    guide_fork(w->g, saved, w->state);
    look(w);
    memcpy(mask, w->mask, w->words * sizeof(*mask));
    for (int i = 0; i < 4; i++) {
        size_t n = look(w);
        int32_t id = n && draw() % 4 ? pick(w, draw() % n)
                                     : (int32_t)(draw() % w->n);

        if (guide_accept(w->g, w->state, id) == GUIDE_STOP)
            break;
    }
    guide_rollback(w->g, w->state, saved);
    look(w);
    same = !memcmp(mask, w->mask, w->words * sizeof(*mask)) &&
           !memcmp(saved, w->state, bytes);
    free(mask);
    free(saved);
    return same;
}

/* Forced ids one by one: each may come, and the text goes on. */
static size_t follow(struct walk *w)
{
    int32_t ids[8];
    size_t n = guide_forced(w->g, w->state, ids, 8), wrong = 0;

    for (size_t i = 0; i < n && !w->over; i++) {
        look(w);
        wrong += !has(w, ids[i]);
        put(w, ids[i]);
    }
    return wrong;
}

/* Any ids that may come, to the end. Ends are taken when they may come. */
static void random_text(const char *name, const char *json,
                        bool (*good)(const struct buf *text))
{
    struct walk w;
    size_t wrong = 0, left = 0, empty = 0;
    int steps = 0;

    walk_start(&w, json);
    while (!w.over && steps++ < STEPS) {
        size_t n;

        left += !drafts_leave_nothing(&w);
        wrong += follow(&w);
        if (w.over)
            break;
        n = look(&w);
        empty += !n;
        if (!n)
            break;
        put(&w, has(&w, t.end_id) ? t.end_id : pick(&w, draw() % n));
    }
    is_int(left, 0, "%s: drafts leave nothing", name);
    is_int(wrong, 0, "%s: what is forced may come", name);
    is_int(empty, 0, "%s: there is always an id", name);
    ok(!w.over || good(&w.text), "%s: a good text (%s)", name,
       w.over ? "whole" : "not at its end");
    walk_end(&w);
}

static bool is_capital(const struct buf *text)
{
    struct arena a;
    const struct json *v, *city;
    bool good;

    arena_init(&a, 1 << 20);
    good = !json_parse(&v, &a, text->p, text->n, NULL) &&
           v->type == JSON_OBJ && v->n == 2;
    city = good ? json_get(v, "city") : NULL;
    good = city && (json_is(city, "Paris") || json_is(city, "Lodz")) &&
           json_get(v, "sure") && json_get(v, "sure")->type == JSON_BOOL;
    arena_release(&a);
    return good;
}

static bool is_year(const struct buf *text)
{
    return text->n == 6 && (!memcmp(text->p, "in19", 4) ||
                            !memcmp(text->p, "in20", 4));
}

static bool is_word(const struct buf *text)
{
    return buf_text(text).n == 3 ? text_is(buf_text(text), "red")
                                 : text_is(buf_text(text), "redder");
}

static bool is_any(const struct buf *text)
{
    struct arena a;
    const struct json *v;
    bool good;

    arena_init(&a, 4u << 20);
    good = !json_parse(&v, &a, text->p, text->n, NULL) &&
           v->type == JSON_OBJ;
    arena_release(&a);
    return good;
}

static void guides(void)
{
    for (int i = 0; i < 4; i++) {
        random_text("a schema", FORMAT(
            "{\"type\":\"object\",\"properties\":{\"city\":{\"enum\":"
            "[\"Paris\",\"Lodz\"]},\"sure\":{\"type\":\"boolean\"}},"
            "\"required\":[\"city\",\"sure\"],"
            "\"additionalProperties\":false}"), is_capital);
        random_text("a regex", M "\"structured_outputs\":{\"regex\":"
                                 "\"in(19|20)[0-9]{2}\"}}", is_year);
        random_text("a choice", M "\"structured_outputs\":{\"choice\":"
                                  "[\"red\",\"redder\"]}}", is_word);
        random_text("any object", M "\"response_format\":{\"type\":"
                                    "\"json_object\"}}", is_any);
    }
}

/* The answer is over when only white space could follow, and not before. */
static void over(void)
{
    static const struct {
        const char *schema, *text;
        bool over;
    } of[] = {
        {"{\"type\":\"boolean\"}", "true", true},
        {"{\"type\":\"boolean\"}", "tru", false},
        {"{\"type\":\"integer\"}", "12", false},
        {"{\"type\":\"integer\"}", "12 ", true},
        {"{\"enum\":[\"a\",\"ab\"]}", "\"a", false},
        {"{\"enum\":[\"a\",\"ab\"]}", "\"a\"", true},
        {"{\"type\":\"array\",\"maxItems\":1}", "[]", true},
        {"{\"type\":\"array\",\"maxItems\":1}", "[", false},
    };
    char json[256];
    struct walk w;

    for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
        snprintf(json, sizeof(json), "%s\"structured_outputs\":{\"json\":%s}}",
                 "" M, of[i].schema);
        walk_start(&w, json);
        for (const char *c = of[i].text; *c; c++) {
            int32_t id = 0;
            struct span s;

            do
                s = lexicon_piece(w.l, id);
            while ((s.n != 1 || s.s[0] != *c) && ++id < (int32_t)w.n);
            look(&w);
            if (!has(&w, id))
                ok(false, "'%c' of %s may come", *c, of[i].text);
            put(&w, id);
        }
        is_int(w.over, of[i].over, "%s of %s is %s", of[i].text,
               of[i].schema, of[i].over ? "over" : "not over");
        walk_end(&w);
    }
    walk_start(&w, M "\"structured_outputs\":{\"regex\":\"a*\"}}");
    for (int32_t id = 0; id < (int32_t)w.n && !w.over; id++) {
        struct span s = lexicon_piece(w.l, id);

        if (s.n && s.s[0] != 'a')
            put(&w, id);
    }
    ok(!w.over, "where it may end, only an end id ends it");
    put(&w, t.end_id);
    ok(w.over, "and does");
    walk_end(&w);
}

/* Ids of others, ends, and what comes behind an end. */
static void others(void)
{
    struct walk w;
    int32_t close = format_think_close_id(t.format), id;

    walk_start(&w, M "\"structured_outputs\":{\"choice\":[\"ab\",\"abc\"]}}");
    put(&w, close);
    put(&w, t.end_id);
    ok(!w.over, "ids of others change nothing");
    look(&w);
    ok(!has(&w, t.end_id) && !has(&w, close), "nor may they come");
    for (const char *s = "ab"; *s; s++)
        put(&w, tok_find(t.tok, s, 1));
    look(&w);
    ok(has(&w, t.end_id) && has(&w, tok_find(t.tok, "c", 1)) &&
           !has(&w, tok_find(t.tok, "d", 1)), "an end, or what is longer");
    put(&w, t.end_id);
    ok(w.over, "the end");
    ok(!guide_forced(w.g, w.state, &id, 1) && look(&w) == w.n,
       "behind it anything may come");
    put(&w, 5);
    ok(w.over, "and it is over again");
    walk_end(&w);
}

/* --- threads ------------------------------------------------------------- */

static void *ask(void *arg)
{
    static const char *const bodies[] = {
        M "\"structured_outputs\":{\"regex\":\"[a-z]+@[a-z]+\"}}",
        M "\"structured_outputs\":{\"regex\":\"[0-9]+\"}}",
        M "\"structured_outputs\":{\"regex\":\"x\"}}",
    };
    size_t *bad = arg;

    for (int i = 0; i < 60; i++) {
        struct lexicon *l = NULL;
        struct grammars_figures f;
        struct lexicons_figures v;
        struct shape s;
        struct err e;

        *bad += lexicons_get(lexicons, t.catalog.models, &l, &e) ||
                shape_of(&s, bodies[i % 3], i % 2, &e) || !s.g;
        grammars_figures(cache, &f);
        lexicons_figures(lexicons, &v);
        shape_release(&s);
        lexicon_unref(l);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t id[THREADS];
    size_t bad[THREADS] = {0}, all = 0;

    for (int i = 0; i < THREADS; i++)
        BUG_ON(pthread_create(&id[i], NULL, ask, &bad[i]));
    for (int i = 0; i < THREADS; i++) {
        pthread_join(id[i], NULL);
        all += bad[i];
    }
    is_int(all, 0, "several at a time");
}

int main(void)
{
    struct scripted_config gen = {.fail_after = -1, .context = 512};
    const char *why;

    if (!apit_open(&t, &gen, NULL, &why))
        skip_all(why);
    cache = grammars_new();
    lexicons = lexicons_new();
    threads(); /* first: they make the vocabulary */
    kept();
    kept_bytes();
    kept_used();
    kept_waits();
    counted();
    keys();
    call_keys();
    errors();
    vocabulary();
    guides();
    over();
    others();
    lexicons_free(lexicons);
    grammars_free(cache);
    apit_close(&t);
    return done();
}
