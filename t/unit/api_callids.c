/*
 * Calls that must come, id by id: what the masks of a vocabulary and the ids
 * that must come let a model write, the reply parser reads back as calls of
 * offered functions whose arguments fit. The same forms and tools as in
 * api_callgram.c; here markers are ids, pieces have several bytes and cut
 * characters, and the path is the engine's (api/shape.h, api/guide_grammar.h,
 * chat/reply.h). The same of strict functions that the model may call or not.
 */
#include "api/guide_grammar.h"
#include "api/guides.h"
#include "api/shape.h"
#include "base/ascii.h"
#include "chat/reply.h"
#include "gen/guide_trigger.h"
#include "t/lib/callforms.h"

#define WALKS 8
#define IDS_MAX 4000

static const char pieces[] =
    "\"name\": \"</parameter>\n\n<function=hard}} ]] \\n\\u true 12 \xe6\xbc\xa2";

static struct lexicons *lexicons;
static struct grammars *grammars;

struct idwalk {
    struct req q;
    struct shape shape;
    struct lexicon *l;
    struct guide *g;
    void *state;
    struct catalog_model model;
    struct guides guides;      /* behind a reasoning */
    bool thinks;
    const char *said;          /* before the calls; NULL: nothing can be */
    int32_t ids[IDS_MAX];
    size_t n;
};

/* One that comes to an end: a closing one every few ids. */
static int32_t pick(const struct idwalk *w, const uint32_t *mask, size_t n_ids)
{
    static const char closers[] = "\"}]<,\n";
    int32_t list[TOY_MAX];
    size_t n = 0, few = 0;

    for (size_t i = 0; i < n_ids; i++)
        if (mask[i / 32] >> (i % 32) & 1)
            list[n++] = (int32_t)i;
    if (!n)
        return -1;
    if (!rnd(w->n > 300 ? 2 : 5))
        for (size_t i = 0; i < n; i++) {
            struct span s = lexicon_piece(w->l, list[i]);

            if (!s.n || strchr(closers, s.s[0]))
                list[few++] = list[i];
        }
    return list[rnd((uint32_t)(few ? few : n))];
}

/* A reasoning, anything at all, and its close. */
static void think(struct idwalk *w)
{
    const struct ids *close = &w->guides.close;

    for (int i = 0; i < 9; i++)
        w->ids[w->n++] = toy_id(&toy, &"{\"x<\n ab}"[i], 1);
    for (size_t i = 0; i < close->n; i++)
        w->ids[w->n++] = close->p[i];
    for (size_t i = 0; i < w->n; i++)
        BUG_ON(guide_accept(w->g, w->state, w->ids[i]) == GUIDE_STOP);
}

/* Ids as an engine commits them; false: no end. */
static bool walk(struct idwalk *w)
{
    const size_t n_ids = tok_count(toy.tok), words = (n_ids + 31) / 32;
    uint32_t *mask = mem_array(uint32_t, words);
    enum guide_next next = GUIDE_GO;
    bool ended = false;

    w->n = 0;
    w->said = NULL;
    guide_init(w->g, w->state);
    if (w->thinks)
        think(w);
    while (w->n < IDS_MAX && next == GUIDE_GO && !ended) {
        int32_t id;

        if (!guide_forced(w->g, w->state, &id, 1)) {
            memset(mask, 0xff, words * sizeof(*mask));
            if (n_ids % 32)
                mask[words - 1] >>= 32 - n_ids % 32;
            guide_allowed(w->g, w->state, mask, n_ids);
            id = pick(w, mask, n_ids);
        }
        if (id < 0)
            break;
        ended = id == w->model.stop_ids[0];
        w->ids[w->n++] = id;
        next = guide_accept(w->g, w->state, id);
    }
    free(mask);
    return ended || next == GUIDE_STOP;
}

/* --- calls of strict functions, where the model may choose ---------------- */

static void take(struct idwalk *w, int32_t id)
{
    w->ids[w->n++] = id;
    BUG_ON(guide_accept(w->g, w->state, id) == GUIDE_STOP);
}

static void say(struct idwalk *w, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        take(w, toy_id(&toy, s + i, 1));
}

static bool is_free(const struct idwalk *w)
{
    const size_t n_ids = tok_count(toy.tok), words = (n_ids + 31) / 32;
    uint32_t *mask = mem_array(uint32_t, words);
    int32_t id;
    bool narrowed = guide_allowed(w->g, w->state, mask, n_ids);

    free(mask);
    return !narrowed && !guide_forced(w->g, w->state, &id, 1);
}

/* What the form has up to the trigger, which the model writes of its own. */
static void say_open(struct idwalk *w, const struct format *f)
{
    const char *const *markers = format_dialect(f)->markers;
    const char *s = format_callform(f)->open;

    while (*s && is_free(w)) {
        size_t len = 1;
        int32_t id = toy_id(&toy, s, 1);

        for (int k = 0; markers[k]; k++)
            if (format_mark_id(f, k) >= 0 &&
                !strncmp(s, markers[k], strlen(markers[k]))) {
                len = strlen(markers[k]);
                id = format_mark_id(f, k);
            }
        take(w, id);
        s += len;
    }
}

/* Behind the trigger, until anything may come again. */
static bool walk_call(struct idwalk *w)
{
    const size_t n_ids = tok_count(toy.tok), words = (n_ids + 31) / 32;
    uint32_t *mask = mem_array(uint32_t, words);
    int32_t id = 0;

    while (id >= 0 && w->n < IDS_MAX && !is_free(w)) {
        if (!guide_forced(w->g, w->state, &id, 1)) {
            memset(mask, 0xff, words * sizeof(*mask));
            if (n_ids % 32)
                mask[words - 1] >>= 32 - n_ids % 32;
            guide_allowed(w->g, w->state, mask, n_ids);
            id = pick(w, mask, n_ids);
        }
        if (id >= 0)
            take(w, id);
    }
    free(mask);
    return id >= 0 && w->n < IDS_MAX;
}

/* Words, a call or several one after the other, and the model's own end. */
static bool walk_freely(struct idwalk *w, const struct format *f)
{
    const char *lead = format_callform(f)->lead;
    size_t n = 1 + rnd(3);

    w->n = 0;
    guide_init(w->g, w->state);
    if (w->thinks)
        think(w);
    BUG_ON(!is_free(w));
    w->said = rnd(3) ? "" : "Yes.";
    say(w, w->said, strlen(w->said));
    for (size_t i = 0; i < n; i++) {
        if (ascii_blank(lead, strlen(lead)))
            say(w, lead, strlen(lead));
        say_open(w, f);
        if (is_free(w) || !walk_call(w))
            return false;
    }
    w->ids[w->n++] = w->model.stop_ids[0];
    return guide_accept(w->g, w->state, w->model.stop_ids[0]) == GUIDE_GO;
}

static bool is_read(struct idwalk *w, const struct format *f, size_t most,
                    size_t *calls)
{
    const struct reply_config c = {
        .tok = toy.tok, .format = f, .tools = w->q.tools,
        .parallel_calls = true, .stop_ids = w->model.stop_ids,
        .n_stop_ids = 1, .think_open = w->thinks,
    };
    struct reply *r = reply_new(&c);
    struct buf reasoning, content, text;
    const struct calls *list;
    struct span said;
    bool fine;

    buf_init(&reasoning, BUF_ANSWER);
    buf_init(&content, BUF_ANSWER);
    buf_init(&text, BUF_ANSWER);
    for (size_t i = 0; i < w->n; i++)
        if (reply_feed(r, w->ids[i], &reasoning, &content))
            break;
    reply_end(r, true, &reasoning, &content);
    list = reply_calls(r);
    said = ascii_trim(content.n ? content.p : "", w->said ? content.n : 0);
    fine = list->shown >= 1 && list->shown <= most &&
           span_is(said, w->said ? w->said : "") &&
           (w->said || !content.n) &&
           !reasoning.n == !w->thinks;
    for (size_t k = 0; k < list->n; k++)
        fine = fine && (list->p[k]->withdrawn || call_fits(&w->q, list->p[k]));
    *calls += list->shown;
    for (size_t i = 0; i < w->n && !fine; i++) {
        struct span s = tok_piece(toy.tok, w->ids[i]);

        buf_add(&text, s.s, s.n);
    }
    if (!fine)
        printf("# %zu calls from:\n%.*s\n# content: %.*s\n", list->shown,
               (int)text.n, text.p, (int)content.n, content.n ? content.p : "");
    for (size_t k = 0; k < list->n && !fine; k++)
        printf("# %s %.*s\n", list->p[k]->name, (int)list->p[k]->args.n,
               list->p[k]->args.p);
    buf_release(&reasoning);
    buf_release(&content);
    buf_release(&text);
    reply_free(r);
    return fine;
}

static void walks(const struct format *f, const char *more, size_t most,
                  const char *what)
{
    static struct idwalk w;
    int32_t end = toy_id(&toy, "<|im_end|>", 10);
    size_t ended = 0, calls = 0;
    bool fine = true;

    w.model = (struct catalog_model){
        .tok = toy.tok, .format = f, .stop_ids = &end, .n_stop = 1,
    };
    if (!open_req(&w.q, f, more) ||
        lexicons_get(lexicons, &w.model, &w.l, &err) ||
        shape_open(&w.shape, grammars, NULL, f, &w.q.body, false, &err)) {
        printf("Bail out! %s: %s: %s\n", what, err.where, err.text);
        exit(1);
    }
    w.g = guide_grammar_new(w.shape.g, w.l, w.shape.mark);
    w.state = mem_zalloc(guide_state_bytes(w.g));
    for (int i = 0; i < WALKS && fine; i++)
        if (walk(&w)) {
            ended++;
            fine = is_read(&w, f, most, &calls);
        }
    ok(fine && ended, "%s: %zu walks, %zu calls", what, ended, calls);
    free(w.state);
    guide_free(w.g);
    shape_release(&w.shape);
    lexicon_unref(w.l);
    close_req(&w.q);
}

static size_t again; /* calls behind others */

static struct span piece_of(const void *lexicon, int32_t id)
{
    return lexicon_piece(lexicon, id);
}

static void freely(const struct format *f, const char *tools, const char *what)
{
    static struct idwalk w;
    int32_t end = toy_id(&toy, "<|im_end|>", 10);
    size_t ended = 0, calls = 0;
    bool fine = true;

    w.model = (struct catalog_model){
        .tok = toy.tok, .format = f, .stop_ids = &end, .n_stop = 1,
    };
    BUG_ON(!open_req(&w.q, f, tools));
    w.q.body.strict_calls = true;
    if (!shape_waits(&w.q.body, f)) {
        printf("# %s: no token that means calls\n", what);
        close_req(&w.q);
        return;
    }
    BUG_ON(lexicons_get(lexicons, &w.model, &w.l, &err) ||
           shape_open(&w.shape, grammars, NULL, f, &w.q.body, false,
                      &err));
    w.g = guide_trigger_new(&(struct trigger_config){
        .first = w.shape.trigger.first, .last = w.shape.trigger.last,
        .text = w.shape.trigger.text, .piece = piece_of, .piece_arg = w.l,
    }, guide_grammar_new(w.shape.g, w.l, w.shape.mark));
    w.state = mem_zalloc(guide_state_bytes(w.g));
    for (int i = 0; i < WALKS && fine; i++)
        if (walk_freely(&w, f)) {
            ended++;
            fine = is_read(&w, f, 128, &calls);
        }
    ok(fine && ended, "%s, where it may: %zu walks, %zu calls", what, ended,
       calls);
    again += calls - ended;
    free(w.state);
    guide_free(w.g);
    shape_release(&w.shape);
    lexicon_unref(w.l);
    close_req(&w.q);
}

/* The same behind a reasoning that the prompt opened, by all guides of a
 * request. */
static void thinks(struct format *f, const char *what, bool may)
{
    static struct idwalk w;
    const struct api_config config = {.answer_reserve = 0};
    struct guides_kept kept = {
        .lexicons = lexicons_new(), .grammars = grammars_new(),
    };
    int32_t end = toy_id(&toy, "<|im_end|>", 10);
    struct ids prompt;
    struct run r;
    size_t ended = 0, calls = 0;
    bool fine = true;

    w.model = (struct catalog_model){
        .tok = toy.tok, .format = f, .stop_ids = &end, .n_stop = 1,
    };
    r = (struct run){.model = &w.model, .format = f, .think_open = true};
    ids_init(&prompt, 8);
    BUG_ON(!open_req(&w.q, f, may ? "\"tools\":[" PLAIN "]"
                                  : "\"tool_choice\":\"required\","
                                    "\"tools\":[" PLAIN "]"));
    w.q.body.chat.think = THINK_ON;
    w.q.body.strict_calls = may;
    w.thinks = true;
    if (guides_open(&w.guides, &r, &config, &kept, &w.q.body, &err) ||
        guides_make(&w.guides, &w.g, &prompt, 2000, &err) ||
        lexicons_get(kept.lexicons, &w.model, &w.l, &err)) {
        printf("Bail out! %s: %s: %s\n", what, err.where, err.text);
        exit(1);
    }
    w.state = mem_zalloc(guide_state_bytes(w.g));
    for (int i = 0; i < WALKS && fine; i++)
        if (may ? walk_freely(&w, f) : walk(&w)) {
            ended++;
            fine = is_read(&w, f, may ? 128 : 1, &calls);
        }
    ok(fine && ended, "%s, behind a reasoning%s: %zu walks, %zu calls", what,
       may ? ", where it may" : "", ended, calls);
    free(w.state);
    guide_free(w.g);
    guides_release(&w.guides);
    lexicon_unref(w.l);
    close_req(&w.q);
    ids_release(&prompt);
    grammars_free(kept.grammars);
    lexicons_free(kept.lexicons);
}

static void test_thinks(void)
{
    static const char *const names[] = {
        "Qwen-Qwen3-0.6B", "GLM-4.6", "deepseek-ai-DeepSeek-V4", "MiMo-VL",
        "StepFun3.5-Flash",
    };
    struct format *f = NULL;

    BUG_ON(format_xtml(&f, toy.tok, &err));
    thinks(f, "xtml", false);
    thinks(f, "xtml", true);
    format_free(f);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        f = template_load(names[i], toy.tok);
        if (format_caps(f)->think) {
            thinks(f, names[i], false);
            thinks(f, names[i], true);
        }
        format_free(f);
    }
}

static void test_form(const char *name, bool is_template)
{
    struct format *f = is_template ? template_load(name, toy.tok)
                                   : bare(name, toy.tok);

    /* one model after another at one address */
    lexicons = lexicons_new();
    grammars = grammars_new();
    walks(f, "\"tool_choice\":\"required\",\"tools\":[" PLAIN "]", 1, name);
    walks(f, "\"tool_choice\":\"required\",\"tools\":[" HARD "]", 1, name);
    walks(f, "\"tool_choice\":\"required\",\"tools\":[" HARD "," PLAIN "]"
             MANY, 128, name);
    freely(f, "\"tools\":[" PLAIN "]", name);
    freely(f, "\"tools\":[" HARD "," PLAIN "]", name);
    grammars_free(grammars);
    lexicons_free(lexicons);
    format_free(f);
}

int main(void)
{
    toy_open(&toy, specials, pieces, sizeof(pieces) - 1);
    for (size_t i = 0; call_dialects[i]; i++)
        test_form(call_dialects[i], false);
    for (size_t i = 0; call_templates[i]; i++)
        test_form(call_templates[i], true);
    ok(again > 99, "%zu calls behind others of the same answer", again);
    test_thinks();
    toy_close(&toy);
    return done();
}
