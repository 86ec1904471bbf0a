#include "fcgi/wire.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "chat/format.h"
#include "chat/vocab.h"

#define STOP_IDS_MAX 256

struct wire {
    struct gguf *gguf;
    struct tok *tok;
    struct format *format;
    struct gen *gen;
    struct catalog catalog;
    char *architecture; /* the catalog borrows it */
};

static char *default_id(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);

    if (n > 5 && !strcmp(name + n - 5, ".gguf"))
        n -= 5;
    return mem_dup_n(name, n);
}

/* The id stands in every answer and row: it must be text, and short. */
static enum st take_id(struct catalog_model *m, const struct conf *c,
                       struct err *e)
{
    size_t n;

    m->id = c->model_id ? mem_dup(c->model_id) : default_id(c->model);
    n = strlen(m->id);
    if (!n || n > CATALOG_ID_MAX || !utf8_valid(m->id, n, NULL))
        return err_set(e, ST_USAGE, "model-id",
                       "a model's id is 1 to %d bytes of UTF-8; this one has "
                       "%zu bytes: choose another with model-id",
                       CATALOG_ID_MAX, n);
    return ST_OK;
}

/* The type that holds most weights, and how many there are in all. */
static void describe(struct wire *w, struct catalog_model *m)
{
    const struct gguf *g = w->gguf;
    uint64_t per_type[64] = {0}, most = 0;
    struct span arch;

    for (size_t i = 0; i < gguf_tensor_count(g); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(g, i);
        uint64_t n = t->dims[0] * t->dims[1] * t->dims[2] * t->dims[3];

        m->parameters += n;
        per_type[t->type & 63] += n;
        if (per_type[t->type & 63] > most) {
            most = per_type[t->type & 63];
            m->weights = gguf_type_name(t->type);
        }
    }
    if (gguf_str(g, "general.architecture", &arch))
        w->architecture = mem_dup_n(arch.s, arch.n);
    m->architecture = w->architecture;
}

/* Ids that end a generation: the vocabulary's and the chat format's. */
static enum st stop_ids(struct wire *w, struct catalog_model *m, struct err *e)
{
    const int32_t *more;
    struct ids ids;
    size_t n = 0;
    enum st st;

    ids_init(&ids, STOP_IDS_MAX);
    st = vocab_stop_ids(w->gguf, w->tok, &ids, e);
    if (st) {
        ids_release(&ids);
        return st;
    }
    more = w->format ? format_stop_ids(w->format, &n) : NULL;
    for (size_t i = 0; i < n; i++) {
        size_t j = 0;

        while (j < ids.n && ids.p[j] != more[i])
            j++;
        if (j == ids.n)
            ids_add(&ids, more[i]);
    }
    m->stop_ids = ids.p; /* the catalog's from here on */
    m->n_stop = ids.n;
    return ST_OK;
}

/* A setting that is no name of a format is a file. */
static bool names_format(const char *setting)
{
    for (const char *const *n = format_names(); *n; n++)
        if (!strcmp(*n, setting))
            return true;
    return false;
}

/* One line: which format, from where, with which capabilities. */
static void log_format(const struct wire *w)
{
    struct buf caps;

    if (!w->format)
        return;
    buf_init(&caps, BUF_MESSAGE);
    format_describe(w->format, &caps);
    log_info("chat_format", "format=%s from=\"%s\" with=\"%s\"",
             format_name(w->format), format_source(w->format),
             caps.p ? caps.p : "");
    buf_release(&caps);
}

/* A model without a format serves completions; one whose format was asked
 * for by name is not served without it. */
static enum st open_format(struct wire *w, const struct conf *c,
                           struct err *e)
{
    bool name = c->chat_format && names_format(c->chat_format);
    const struct format_from from = {
        .name = name ? c->chat_format : NULL,
        .path = name ? NULL : c->chat_format,
        .model_path = c->model,
        .gguf = w->gguf,
        .tok = w->tok,
    };
    struct err why;

    if (!format_find(&w->format, &from, &why))
        return ST_OK;
    if (c->chat_format && strcmp(c->chat_format, "auto")) {
        *e = why;
        return why.st;
    }
    w->catalog.models[0].no_chat = mem_dup(why.text);
    log_warn("no_chat_format", "model=%s why=\"%s\"", c->model, why.text);
    return ST_OK;
}

static enum st open_model(struct wire *w, const struct conf *c,
                          struct memory *memory, struct err *e)
{
    struct catalog_model *m = mem_array(struct catalog_model, 1);
    struct gen_limits limits;
    enum st st;

    w->catalog = (struct catalog){m, 1};
    st = take_id(m, c, e);
    if (!st)
        st = gguf_open(&w->gguf, c->model, e);
    if (!st)
        st = vocab_open(&w->tok, w->gguf, e);
    if (st)
        return st;
    st = open_format(w, c, e);
    if (!st)
        st = stop_ids(w, m, e);
    if (!st)
        st = wire_gen_open(&w->gen, w->gguf, w->tok, c, memory, e);
    if (st)
        return st;
    w->gen->ops->limits(w->gen, &limits);
    m->gen = w->gen;
    m->tok = w->tok;
    m->format = w->format;
    m->context = limits.context;
    m->created = epoch_ms() / 1000;
    describe(w, m);
    return ST_OK;
}

enum st wire_open(struct wire **out, const struct conf *c,
                  struct memory *memory, struct err *e)
{
    struct wire *w;
    enum st st;

    *out = NULL;
    w = mem_new(struct wire);
    st = open_model(w, c, memory, e);
    if (st) {
        wire_close(w);
        return st;
    }
    log_info("model",
             "id=\"%s\" file=\"%s\" weights=%s context=%d",
             w->catalog.models[0].id, c->model,
             w->catalog.models[0].weights ? w->catalog.models[0].weights : "-",
             w->catalog.models[0].context);
    log_format(w);
    *out = w;
    return ST_OK;
}

const struct catalog *wire_catalog(const struct wire *w)
{
    return &w->catalog;
}

void wire_stop(struct wire *w)
{
    gen_free(w->gen);
    w->gen = NULL;
}

void wire_close(struct wire *w)
{
    if (!w)
        return;
    wire_stop(w);
    catalog_release(&w->catalog);
    format_free(w->format);
    tok_free(w->tok);
    gguf_close(w->gguf);
    free(w->architecture);
    free(w);
}
