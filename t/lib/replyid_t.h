/*
 * t/lib/replyid_t.h - replies by token id, shown as dialect_t.h shows them.
 */
#ifndef T_REPLYID_T_H
#define T_REPLYID_T_H

#include "chat/reply.h"
#include "t/lib/format_t.h"
#include "t/lib/dialect_t.h"
#include "t/lib/toy_tok.h"

struct replyid_t {
    const struct format *f;
    const struct toy *toy;
    const struct tools *tools;
    bool think_open;
    bool ids;       /* show the ids of calls */
    bool cut;       /* the reply ends by a limit */
};

static inline char *replyid_fed(const struct replyid_t *t,
                                const struct ids *ids)
{
    struct reply_config c = {
        .tok = t->toy->tok, .format = t->f, .think_open = t->think_open,
        .tools = t->tools, .parallel_calls = true, .id_seed = 1,
    };
    const struct dialect_t dt = {.ids = t->ids};
    struct dialect_run *run = mem_new(struct dialect_run);
    struct reply *r;
    char *shown;

    c.stop_ids = format_stop_ids(t->f, &c.n_stop_ids);
    r = reply_new(&c);
    BUG_ON(!r);
    run->t = &dt;
    buf_init(&run->reasoning, BUF_ANSWER);
    buf_init(&run->content, BUF_ANSWER);
    for (size_t i = 0; i < ids->n && !run->out.done; i++)
        run->out.done = reply_feed(r, ids->p[i], &run->reasoning,
                                   &run->content);
    reply_end(r, !t->cut, &run->reasoning, &run->content);
    run->calls = *reply_calls(r);
    shown = dialect_run_shown(run);
    buf_release(&run->reasoning);
    buf_release(&run->content);
    reply_free(r);
    free(run);
    return shown;
}

/* One test point. `pieces`: names of special tokens stand for them, every
 * other piece is text in ordinary tokens. Ends with NULL. */
static inline bool replyid_is(const struct replyid_t *t,
                              const char *const *pieces, const char *want,
                              const char *name)
{
    struct ids ids;
    struct err e;
    bool same;
    char *got;

    ids_init(&ids, 1u << 20);
    for (; *pieces; pieces++) {
        size_t n = strlen(*pieces);
        int32_t id = format_marker_id(t->toy->tok, *pieces);

        if (id >= 0)
            ids_add(&ids, id);
        else
            BUG_ON(tok_encode(t->toy->tok, TOK_CONTENT, *pieces, n, &ids, &e));
    }
    got = replyid_fed(t, &ids);
    same = !strcmp(got, want);
    if (!ok(same, "%s", name))
        printf("#   got  %s\n#   want %s\n", got, want);
    free(got);
    ids_release(&ids);
    return same;
}

/*
 * Two test points: the assistant's turn that ends the conversation `json`,
 * as the format writes it, is read back as `want`: by id, and by spelling
 * for every cut. `suffix`: segments that close the turn.
 */
static inline void replyid_round(const struct replyid_t *t, const char *json,
                                 size_t suffix, const char *want,
                                 const char *name)
{
    const struct dialect_t dt = {
        .d = format_dialect(t->f), .tools = t->tools, .ids = t->ids,
    };
    struct chatreq q;
    struct segments s, turn;
    struct ids ids;
    struct buf b;
    struct err e = {0};
    bool think_open;
    size_t before;
    char *got;

    chatreq_open(&q, json);
    q.r.no_prompt = true;
    segments_init(&s, &q.a);
    segments_init(&turn, &q.a);
    ids_init(&ids, 1u << 20);
    buf_init(&b, BUF_FILE);
    q.r.n_messages--;
    BUG_ON(format_render(t->f, &q.r, &s, &think_open, &e));
    before = s.n;
    q.r.n_messages++;
    segments_init(&s, &q.a);
    if (format_render(t->f, &q.r, &s, &think_open, &e)) {
        printf("# %s: %s\n", e.where, e.text);
        BUG_ON(true);
    }
    for (size_t i = before + 1; i < s.n - suffix; i++) {
        segments_add(&turn, s.p[i].mode, s.p[i].text.s, s.p[i].text.n);
        buf_add(&b, s.p[i].text.s, s.p[i].text.n);
    }
    BUG_ON(segments_encode(&turn, t->toy->tok, &ids, &e));
    got = replyid_fed(t, &ids);
    if (!ok(!strcmp(got, want), "%s, by id", name))
        printf("#   got  %s\n#   want %s\n", got, want);
    free(got);
    dialect_is(&dt, b.p ? b.p : "", want, name);
    buf_release(&b);
    ids_release(&ids);
    chatreq_close(&q);
}

#endif
