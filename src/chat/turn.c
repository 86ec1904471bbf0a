#include "chat/turn.h"

static void add_mark(struct turn *t, const char *spelled)
{
    BUG_ON(t->n_marks == TURN_MARKS_MAX);
    t->marks[t->n_marks++] = spelled;
}

enum st turn_open(struct turn *t, const struct turn_config *c)
{
    const struct dialect_config dc = {c->tools, c->think_open};
    bool channels = c->dialect && c->dialect->channels;

    *t = (struct turn){.dialect = c->dialect};
    t->reasoning = c->think_open && !channels;
    t->skip_newlines = t->reasoning;
    calls_init(&t->calls, !c->tools ? 0 : c->parallel_calls ? CALLS_MAX : 1,
               c->id_seed);
    for (int k = 0; t->dialect && t->dialect->markers[k]; k++)
        add_mark(t, t->dialect->markers[k]);
    t->think = t->n_marks;
    for (int side = 0; side < THINK_MARKS && !channels; side++)
        add_mark(t, c->think[side]);
    if (!t->dialect)
        return ST_OK;
    t->calls.form = t->dialect->id_form;
    t->state = t->dialect->open(&dc);
    return t->state ? ST_OK : ST_NOMEM;
}

void turn_close(struct turn *t)
{
    if (t->state)
        t->dialect->free(t->state);
    t->state = NULL;
    calls_release(&t->calls);
}

/* Around what the dialect does with one piece of its input. */
struct step {
    struct dialect_out o;
    size_t content, calls; /* what there was before */
};

static struct step begin_step(struct turn *t)
{
    return (struct step){
        .o = {t->to_reasoning, t->to_content, &t->calls, false},
        .content = t->to_content->n,
        .calls = t->calls.n,
    };
}

/* A call found in one piece stands before the content of the same piece: no
 * dialect writes content and then finds a call in one step. */
static void end_step(struct turn *t, const struct step *s)
{
    calls_settle(&t->calls, s->calls, t->content);
    t->content += t->to_content->n - s->content;
}

static void add_content(struct turn *t, const char *p, size_t n)
{
    struct step s = begin_step(t);

    while (t->skip_newlines && n && *p == '\n') {
        p++;
        n--;
    }
    if (!n)
        return;
    t->skip_newlines = false;
    if (t->dialect)
        t->dialect->text(t->state, p, n, &s.o);
    else
        buf_add(t->to_content, p, n);
    end_step(t, &s);
    t->done = s.o.done;
}

static void add_reasoning(struct turn *t, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '\n') {
            t->newlines += !t->skip_newlines;
            continue;
        }
        for (; t->newlines; t->newlines--)
            buf_putc(t->to_reasoning, '\n');
        t->skip_newlines = false;
        buf_putc(t->to_reasoning, p[i]);
    }
}

void turn_text(struct turn *t, const char *p, size_t n)
{
    if (t->done)
        return;
    if (t->reasoning)
        add_reasoning(t, p, n);
    else
        add_content(t, p, n);
}

bool turn_is_think(const struct turn *t, int k)
{
    return k >= t->think;
}

/* The other part begins; framing newlines are dropped. */
static void change(struct turn *t, bool reasoning)
{
    if (t->reasoning == reasoning)
        return;
    t->reasoning = reasoning;
    t->newlines = 0;
    t->skip_newlines = true;
}

void turn_marker(struct turn *t, int k)
{
    struct step s = begin_step(t);

    if (t->done)
        return;
    if (turn_is_think(t, k)) {
        change(t, k - t->think == THINK_OPEN);
    } else if (t->reasoning) {
        add_reasoning(t, t->marks[k], strlen(t->marks[k]));
    } else {
        t->dialect->marker(t->state, k, &s.o);
        end_step(t, &s);
        t->skip_newlines = false;
        t->done = s.o.done;
    }
}

void turn_end(struct turn *t, bool ended)
{
    struct step s = begin_step(t);

    for (; t->newlines; t->newlines--)
        buf_putc(t->to_reasoning, '\n');
    if (t->dialect)
        t->dialect->end(t->state, ended || t->done, &s.o);
    end_step(t, &s);
}
