#include "chat/history.h"

#include "base/utf8.h"

static enum st bad(struct err *e, const struct chat_msg *m, const char *field,
                   const char *text)
{
    char where[64];

    snprintf(where, sizeof(where), "messages[%zu].%s", m->sent_i, field);
    return err_set(e, ST_INVALID, where, "%s", text);
}

static enum st bad_call(struct err *e, const struct chat_msg *m, size_t j,
                        const char *text)
{
    char field[48];

    snprintf(field, sizeof(field), "tool_calls[%zu].id", j);
    return bad(e, m, field, text);
}

/* 1 to HISTORY_ID_MAX characters. */
static bool id_fits(struct text id)
{
    size_t chars = 0, i = 0;

    while (i < id.n && chars <= HISTORY_ID_MAX) {
        uint32_t cp;
        size_t len = utf8_decode(id.s + i, id.n - i, &cp);

        i += len ? len : 1;
        chars++;
    }
    return chars && chars <= HISTORY_ID_MAX;
}

static enum st check_calls(const struct chat_msg *m, struct err *e)
{
    if (m->n_calls > HISTORY_CALLS_MAX)
        return bad(e, m, "tool_calls", "at most 128 calls are accepted");
    for (size_t j = 0; j < m->n_calls; j++) {
        if (!id_fits(m->calls[j].id))
            return bad_call(e, m, j, "must have 1 to 256 characters");
        for (size_t k = 0; k < j; k++)
            if (text_same(m->calls[k].id, m->calls[j].id))
                return bad_call(e, m, j,
                                "another call of this message has this id");
    }
    return ST_OK;
}

/* One result among those before it in its round (from..at). */
static enum st check_result(const struct chat_msg *caller,
                            const struct chat_msg *from,
                            const struct chat_msg *at, struct err *e)
{
    bool known = false;

    if (!id_fits(at->call_id))
        return bad(e, at, "tool_call_id", "must have 1 to 256 characters");
    for (size_t j = 0; j < caller->n_calls; j++)
        known = known || text_same(caller->calls[j].id, at->call_id);
    if (!known)
        return bad(e, at, "tool_call_id",
                   "answers no call of the assistant's message before it");
    for (const struct chat_msg *m = from; m < at; m++)
        if (text_same(m->call_id, at->call_id))
            return bad(e, at, "tool_call_id", "this call is answered already");
    return ST_OK;
}

/* The results behind `caller`; *n of them. As every one answers another call,
 * enough of them answer all. */
static enum st check_round(const struct chat_msg *caller,
                           const struct chat_msg *end, size_t *n,
                           struct err *e)
{
    const struct chat_msg *from = caller + 1, *m = from;

    for (; m < end && m->role == ROLE_TOOL; m++) {
        enum st st = check_result(caller, from, m, e);

        if (st)
            return st;
    }
    *n = (size_t)(m - from);
    if (*n == caller->n_calls)
        return ST_OK;
    return bad(e, caller, "tool_calls",
               "tool messages must follow at once, one for each call");
}

enum st history_check_strict(const struct chat_req *r, struct err *e)
{
    const struct chat_msg *end;

    if (!r->n_messages)
        return ST_OK;
    end = r->messages + r->n_messages;
    for (const struct chat_msg *m = r->messages; m < end; m++) {
        size_t results = 0;
        enum st st = ST_OK;

        if (m->role == ROLE_TOOL)
            return bad(e, m, "role",
                       "a tool message must follow the assistant's message "
                       "whose calls it answers");
        if (m->n_calls)
            st = check_calls(m, e);
        if (m->n_calls && !st)
            st = check_round(m, end, &results, e);
        if (st)
            return st;
        m += results;
    }
    return ST_OK;
}
