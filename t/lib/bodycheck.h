/*
 * t/lib/bodycheck.h - what holds for every body that was accepted and every
 * error of one that was not, for fuzzers of body parsers. A breach aborts.
 */
#ifndef T_BODYCHECK_H
#define T_BODYCHECK_H

#include "api/body.h"
#include "api/compat.h"
#include "api/error.h"
#include "base/utf8.h"
#include "chat/history.h"
#include "json/read.h"

#include <math.h>

static inline void check_text(struct text t)
{
    BUG_ON(!utf8_valid(t.n ? t.s : "", t.n, NULL));
}

static inline void check_msg(const struct chat_msg *m)
{
    check_text(m->content);
    check_text(m->reasoning);
    check_text(m->call_id);
    for (size_t j = 0; j < m->n_calls; j++) {
        const struct chat_call *c = &m->calls[j];

        check_text(c->id);
        check_text(c->name);
        BUG_ON(!c->name.n || (c->raw.n && c->args));
        BUG_ON(c->args && c->args->type != JSON_OBJ);
    }
    BUG_ON(m->n_calls && m->role != ROLE_ASSISTANT);
    BUG_ON(m->tools && m->role != ROLE_SYSTEM);
}

static inline void check_tools(const struct body *b)
{
    const struct chat_req *r = &b->chat;

    BUG_ON(b->n_offered > TOOLS_MAX || r->n_tools > TOOLS_MAX);
    BUG_ON(r->n_tools ? r->tools->n != r->n_tools : r->tools != NULL);
    for (size_t i = 0; i < r->n_tools; i++) {
        BUG_ON(!r->tool_list[i].name.n);
        BUG_ON(r->tool_list[i].params &&
               r->tool_list[i].params->type != JSON_OBJ);
    }
    BUG_ON(r->tool_choice == TOOLS_REQUIRED && !b->n_offered);
    BUG_ON(r->tool_choice == TOOLS_NAMED && !b->n_offered);
}

static inline void check_sampling(const struct body *b)
{
    const struct sampling *s = &b->sampling;

    BUG_ON(!(s->top_p > 0 && s->top_p <= 1));
    BUG_ON(!(s->temperature >= 0 && s->temperature <= 2));
    BUG_ON(!(s->min_p >= 0 && s->min_p <= 1) || s->top_k < 0);
    BUG_ON(!(fabsf(s->presence) <= 2 && fabsf(s->frequency) <= 2));
    BUG_ON(!(s->repetition > 0 && s->repetition <= 100));
    BUG_ON(b->no_repeat_ngram < 0 || b->no_repeat_ngram == 1 ||
           b->no_repeat_ngram > 64);
    BUG_ON(b->n_bias > BIAS_MAX || (b->n_bias > 0) != (b->bias != NULL));
    for (size_t i = 0; i < b->n_bias; i++) {
        BUG_ON(b->bias[i].id < 0 ||
               (i && b->bias[i].id <= b->bias[i - 1].id));
        BUG_ON(!(fabsf(b->bias[i].value) <= 100 && b->bias[i].value != 0));
    }
}

static inline void check_logprobs(const struct body *b, bool completion)
{
    BUG_ON(b->top_logprobs < 0);
    BUG_ON(b->top_logprobs > (completion ? 5 : TOP_LOGPROBS_MAX));
    BUG_ON(b->top_logprobs && !b->logprobs);
}

static inline void check_choice(const struct body *b)
{
    size_t bytes = 0;

    BUG_ON(b->n_choice > CHOICES_MAX);
    BUG_ON(b->n_choice && b->chat.form != FORM_TEXT);
    for (size_t i = 0; i < b->n_choice; i++) {
        check_text(b->choice[i]);
        BUG_ON(!b->choice[i].n);
        bytes += b->choice[i].n;
        for (size_t k = 0; k < i; k++)
            BUG_ON(text_same(b->choice[i], b->choice[k]));
    }
    BUG_ON(bytes > CHOICE_BYTES_MAX);
}

static inline void check_think(const struct body *b)
{
    const struct think_ask *t = &b->think;
    const struct chat_req *r = &b->chat;
    bool effort = r->effort.n || r->effort_n >= 0;

    BUG_ON(t->cap < -1 || t->cap > (int64_t)1 << 31 || r->effort_n < -1);
    BUG_ON(t->word_cap < 0 || (t->word_cap && !r->effort.n));
    BUG_ON(r->effort.n && r->effort_n >= 0);
    BUG_ON(t->asked && r->think != THINK_ON);
    BUG_ON(effort && (r->think != THINK_ON || !t->asked));
    BUG_ON(t->field && r->think == THINK_DEFAULT);
    BUG_ON(!t->field && r->think == THINK_ON); /* off may be the default */
    BUG_ON(b->reasoning_format > REASON_BOTH);
}

/* Types of tools, for a header and a list. */
static inline void check_skipped(const struct body *b)
{
    size_t n = strlen(b->skipped);

    BUG_ON(n >= sizeof(b->skipped));
    BUG_ON(n != strspn(b->skipped, "abcdefghijklmnopqrstuvwxyz"
                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                   "0123456789_.-, "));
    BUG_ON(n && (b->skipped[0] == ',' || b->skipped[n - 1] == ' '));
}

static inline void check_body(const struct body *b, bool completion)
{
    bool user = false;

    BUG_ON(b->n < 1 || b->n > 16 || b->max_tokens < 0);
    BUG_ON(b->stream && (b->n > 1 || b->n_prompts > 1));
    check_skipped(b);
    check_sampling(b);
    check_logprobs(b, completion);
    check_choice(b);
    BUG_ON(b->n_stops > STOPS_MAX);
    for (size_t i = 0; i < b->n_stops; i++) {
        check_text(b->stops[i]);
        BUG_ON(!b->stops[i].n);
    }
    for (size_t i = 0; i < b->chat.n_messages; i++) {
        check_msg(&b->chat.messages[i]);
        user = user || b->chat.messages[i].role == ROLE_USER;
    }
    BUG_ON(!completion && !user);
    if (!completion) {
        check_tools(b);
        check_think(b);
    }
    (void)!history_check_strict(&b->chat, NULL);
    BUG_ON(completion && !b->n_prompts);
    BUG_ON(b->n_prompts * (size_t)b->n > PROMPTS_MAX);
    for (size_t i = 0; i < b->n_prompts; i++)
        BUG_ON(!b->prompts[i].n_ids && !b->prompts[i].text.n);
}

/* The body itself, or a path that begins with a field of the table. */
static inline void check_where(const struct err *e,
                               enum compat_wire wire)
{
    size_t n = strcspn(e->where, ".[");

    BUG_ON(!e->text[0]);
    for (const char *s = e->text; *s; s++)
        BUG_ON((unsigned char)*s < 0x20 || (unsigned char)*s > 0x7e);
    BUG_ON(e->where[strspn(e->where, "abcdefghijklmnopqrstuvwxyz"
                                     "0123456789_.[]")]);
    BUG_ON(n && !compat_known(wire, (struct text){e->where, n}));
}

static inline void check_error(const struct err *e,
                               enum compat_wire wire)
{
    struct arena a;
    struct buf out;
    struct err again = {0};
    const struct json *root;

    check_where(e, wire);
    arena_init(&a, 1u << 20);
    buf_init(&out, BUF_EVENT);
    api_error_json(&out, e);
    BUG_ON(out.failed || json_parse(&root, &a, out.p, out.n, &again));
    BUG_ON(api_error_of(e->st)->http != (e->st == ST_NOT_FOUND ? 404 : 400));
    buf_release(&out);
    arena_release(&a);
}

#endif
