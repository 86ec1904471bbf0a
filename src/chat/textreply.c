#include "chat/textreply.h"

#include "chat/scan.h"

struct textreply {
    struct turn turn;
    struct scan scan;
};

struct textreply *textreply_new(const struct turn_config *c)
{
    struct textreply *r = mem_try(sizeof(*r));

    if (!r)
        return NULL;
    if (turn_open(&r->turn, c)) {
        turn_close(&r->turn);
        free(r);
        return NULL;
    }
    scan_init(&r->scan, r->turn.marks, r->turn.n_marks);
    return r;
}

void textreply_free(struct textreply *r)
{
    if (!r)
        return;
    turn_close(&r->turn);
    scan_release(&r->scan);
    free(r);
}

static void on_text(void *arg, const char *p, size_t n)
{
    struct textreply *r = arg;

    turn_text(&r->turn, p, n);
}

static void on_marker(void *arg, int k)
{
    struct textreply *r = arg;

    turn_marker(&r->turn, k);
}

static struct scan_sink begin(struct textreply *r, struct buf *reasoning,
                              struct buf *content)
{
    r->turn.to_reasoning = reasoning;
    r->turn.to_content = content;
    return (struct scan_sink){on_text, on_marker, r};
}

void textreply_feed(struct textreply *r, const char *s, size_t n,
                    struct buf *reasoning, struct buf *content)
{
    const struct scan_sink sink = begin(r, reasoning, content);

    if (n)
        scan_feed(&r->scan, s, n, &sink);
}

void textreply_plain(struct textreply *r, const char *s, size_t n,
                     struct buf *reasoning, struct buf *content)
{
    const struct scan_sink sink = begin(r, reasoning, content);

    scan_flush(&r->scan, &sink);
    if (n)
        turn_text(&r->turn, s, n);
}

void textreply_token(struct textreply *r, const char *s, size_t n,
                     struct buf *reasoning, struct buf *content)
{
    for (int k = 0; k < r->turn.n_marks; k++) {
        const char *m = r->turn.marks[k];

        if (!m || strlen(m) != n || memcmp(m, s, n) != 0)
            continue;
        textreply_plain(r, "", 0, reasoning, content);
        turn_marker(&r->turn, k);
        return;
    }
    textreply_plain(r, s, n, reasoning, content);
}

void textreply_end(struct textreply *r, bool ended, struct buf *reasoning,
                   struct buf *content)
{
    const struct scan_sink sink = begin(r, reasoning, content);

    scan_flush(&r->scan, &sink);
    turn_end(&r->turn, ended);
}

bool textreply_over(const struct textreply *r)
{
    return r->turn.done;
}

const struct calls *textreply_calls(const struct textreply *r)
{
    return &r->turn.calls;
}
