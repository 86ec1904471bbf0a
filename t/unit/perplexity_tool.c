/*
 * A tool of t/2910: how surprised is a model by a text?
 *
 *     perplexity_tool MODEL IDS WINDOW [ROWS]
 *
 * IDS is a file of ids, lines with # are comments. Every WINDOW of them begins
 * with an empty context and its first id is not predicted. Prints one line per
 * window, the sum of -ln(probability) in nats. ROWS of a step [64].
 */
#include "base/num.h"
#include "engine/forward.h"

#include <math.h>

enum { IDS_MAX = 1 << 16, WINDOW_MAX = 1 << 14 };

struct tool {
    struct gguf *gguf;
    struct kern *kern;
    struct model *model;
    struct forward *forward;
    int64_t window, rows;
    int32_t *ids; /* [n] */
    size_t n;
    float *logits;
    int32_t pages[WINDOW_MAX / KV_PAGE];
};

static enum st read_ids(struct tool *t, const char *path, struct err *e)
{
    FILE *f = fopen(path, "r");
    char line[256], *p, *end;

    if (!f)
        return err_set(e, ST_IO, path, "cannot be opened");
    t->ids = mem_array(int32_t, IDS_MAX);
    while (fgets(line, sizeof(line), f)) {
        if (line[0] == '#')
            continue;
        for (p = line;; p = end) {
            long id = strtol(p, &end, 10);

            if (end == p)
                break;
            if (t->n < IDS_MAX)
                t->ids[t->n++] = (int32_t)id;
        }
    }
    fclose(f);
    return ST_OK;
}

static enum st open_all(struct tool *t, const char *path, struct err *e)
{
    const struct packs_config packs = {true, "off", 1, NULL, NULL};
    const struct kern_cpu_config c = {.threads = 1};
    int32_t pages = (int32_t)(t->window + KV_PAGE - 1) / KV_PAGE;
    enum st st = gguf_open(&t->gguf, path, e);

    if (!st)
        st = kern_cpu_new(&t->kern, &c, e);
    if (!st)
        st = model_open(&t->model, t->gguf, t->kern, &packs, e);
    if (!st)
        st = forward_new(&t->forward, t->model, (int32_t)t->rows,
                         (int32_t)t->rows, pages, e);
    if (st)
        return st;
    for (int32_t i = 0; i < pages; i++)
        t->pages[i] = pages - 1 - i;
    t->logits = mem_array(float, (size_t)t->model->vocab);
    return ST_OK;
}

static double surprise(struct tool *t, int32_t id)
{
    double sum = 0, most = -INFINITY;

    for (int32_t i = 0; i < t->model->vocab; i++)
        most = fmax(most, t->logits[i]);
    for (int32_t i = 0; i < t->model->vocab; i++)
        sum += exp(t->logits[i] - most);
    return most + log(sum) - t->logits[id];
}

/* ids[0..n), n > 1, from position 0. */
static double one_window(struct tool *t, const int32_t *ids, int32_t n)
{
    int32_t pos[WINDOW_MAX], seq[WINDOW_MAX] = {0}, out[WINDOW_MAX];
    double sum = 0;

    for (int32_t at = 0; at < n - 1; at += (int32_t)t->rows) {
        int32_t rows = n - 1 - at < t->rows ? n - 1 - at : (int32_t)t->rows;
        struct kern_rows r = {
            .n = rows, .ids = ids + at, .pos = pos, .seq = seq, .n_seqs = 1,
            .max_pages = WINDOW_MAX / KV_PAGE, .pages = t->pages,
            .n_out = rows, .out = out};

        for (int32_t i = 0; i < rows; i++) {
            pos[i] = at + i;
            out[i] = i;
        }
        forward_run(t->forward, &r);
        for (int32_t i = 0; i < rows; i++) {
            forward_logits(t->forward, i, t->logits);
            sum += surprise(t, ids[at + i + 1]);
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    static struct tool t;
    struct err e;
    enum st st;

    t.rows = 64;
    if (argc < 4 ||
        !num_parse_i64(argv[3], strlen(argv[3]), 2, WINDOW_MAX, &t.window) ||
        (argc > 4 && !num_parse_i64(argv[4], strlen(argv[4]), 1, 4096,
                                    &t.rows))) {
        fputs("usage: perplexity_tool MODEL IDS WINDOW [ROWS]\n", stderr);
        return 2;
    }
    st = read_ids(&t, argv[2], &e);
    if (!st)
        st = open_all(&t, argv[1], &e);
    for (size_t i = 0; !st && i < t.n; i++)
        if (t.ids[i] < 0 || t.ids[i] >= t.model->vocab)
            st = err_set(&e, ST_INVALID, argv[2], "id %d is none", t.ids[i]);
    for (size_t at = 0; !st && at + 1 < t.n; at += (size_t)t.window) {
        size_t n = t.n - at;

        n = n < (size_t)t.window ? n : (size_t)t.window;
        printf("%.9g\n", one_window(&t, t.ids + at, (int32_t)n));
    }
    if (st)
        fprintf(stderr, "%s: %s\n", e.where, e.text);
    forward_free(t.forward);
    model_close(t.model);
    kern_free(t.kern);
    gguf_close(t.gguf);
    free(t.ids);
    free(t.logits);
    return st ? 1 : 0;
}
