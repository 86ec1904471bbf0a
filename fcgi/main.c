/*
 * penstockd: the boot story, top to bottom. Settings, lock, database, keys,
 * models, api, threads, listener; then signals until the end; then drain.
 *
 * Threads: main (here: signals, keys, drain), io (front), handlers, writer,
 * one per engine, the database writer. All signals are blocked everywhere
 * and read here, before FCGX_Init can install handlers that swallow SIGTERM.
 */
#include "acct/limits.h"
#include "api/api.h"
#include "base/log.h"
#include "base/thread.h"
#include "fcgi/conf.h"
#include "fcgi/front.h"
#include "fcgi/handler.h"
#include "fcgi/listen.h"
#include "fcgi/wire.h"
#include "fcgi/writer.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#define DB_QUEUE_MAX 10000
#define DB_CLOSE_MS 5000
#define LEDGER_WAIT_MS 100
#define SETTLE_MS 1000 /* requests that were still in a backlog */
#define CUT_MS 2000    /* streams that are told to end */

struct daemon {
    struct conf conf;
    struct memory memory;
    sigset_t signals;
    struct listener listener;
    struct db_writer *db;
    struct ledger *ledger;
    struct keys *keys;
    struct limits *limits;
    struct responses *responses;
    struct wire *wire;
    struct api *api;
    struct writer writer;
    struct handlers handlers;
    struct front front;
    bool hurry; /* a second SIGTERM came */
};

/* --- start --------------------------------------------------------------- */

/* 0: go on; else the exit status plus one. */
static int read_settings(struct daemon *d, int argc, char **argv)
{
    enum conf_do what;
    struct err e;

    if (conf_load(&d->conf, &what, argc, argv, &e)) {
        fprintf(stderr, "penstockd: %s%s%s\n", e.where, e.where[0] ? ": " : "",
                e.text);
        return 1 + (e.st == ST_USAGE ? 2 : 1);
    }
    if (what == CONF_HELP)
        conf_print_help();
    else if (what == CONF_SAMPLE)
        conf_print_sample();
    else if (what == CONF_VERSION)
        puts("penstockd " PACKAGE_VERSION);
    log_set_level((enum log_level)d->conf.log_level);
    return what == CONF_RUN ? 0 : 1;
}

static void block_signals(struct daemon *d)
{
    sigemptyset(&d->signals);
    sigaddset(&d->signals, SIGTERM);
    sigaddset(&d->signals, SIGINT);
    sigaddset(&d->signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &d->signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file over the limit is an error of write */
    out_library_init(); /* installs handlers: after the mask, on purpose */
}

static struct listen_config listen_settings(const struct conf *c)
{
    return (struct listen_config){.path = c->socket,
                                  .tcp = c->listen,
                                  .mode = (unsigned)c->socket_mode,
                                  .group = c->socket_group,
                                  .replace = c->replace};
}

static enum st open_store(struct daemon *d, struct err *e)
{
    const struct limit_set limits = {
        .requests = d->conf.limit_requests,
        .tokens = d->conf.limit_tokens,
        .tokens_day = d->conf.limit_tokens_day,
        .concurrent = d->conf.limit_concurrent,
    };
    size_t died = 0, cut_off = 0;
    enum st st = db_writer_open(&d->db, d->conf.db, DB_QUEUE_MAX, e);

    if (!st)
        st = ledger_open(&d->ledger, d->db, &died, e);
    if (!st)
        st = responses_open(&d->responses, d->db, d->conf.db, &cut_off, e);
    if (!st)
        st = keys_open(&d->keys, d->conf.db, e);
    if (!st)
        st = limits_open(&d->limits, d->conf.db, &limits, epoch_ms(), e);
    if (!st && died)
        log_warn("ledger", "rows_of_a_dead_daemon=%zu", died);
    if (!st && cut_off)
        log_warn("responses", "rows_of_a_dead_daemon=%zu", cut_off);
    return st;
}

static enum st open_api(struct daemon *d, struct err *e)
{
    const struct conf *c = &d->conf;
    const struct api_config ac = {
        .catalog = wire_catalog(d->wire),
        .keys = d->keys,
        .ledger = d->ledger,
        .memory = &d->memory,
        .limits = d->limits,
        .responses = d->responses,
        .responses_keep = c->responses_keep,
        .writer = d->db,
        .body_max = (uint64_t)c->body_max,
        .default_max_tokens = (int32_t)c->default_max_tokens,
        .request_timeout_ms = c->request_timeout * 1000,
        .queue_timeout_ms = c->queue_timeout * 1000,
        .wait_line_ms = c->wait_line_ms,
        .prefill_line_ms = c->prefill_line_ms,
        .ledger_wait_ms = LEDGER_WAIT_MS,
        .think_default = c->thinking,
        .think_stall = c->think_stall,
        .answer_reserve = (int32_t)c->answer_reserve,
        .reasoning_format = c->reasoning_format,
        .structured_off = !c->structured_outputs,
        .usage_default = c->usage_default,
        .pattern_max = (int)c->pattern[0],
        .pattern_min = (int)c->pattern[1],
        .pattern_count = (int)c->pattern[2],
        .cors_origin = c->cors_origin,
    };

    return api_new(&d->api, &ac, e);
}

static enum st start_threads(struct daemon *d, struct err *e)
{
    enum st st = writer_start(&d->writer, e);

    if (!st)
        st = handlers_start(&d->handlers, d->api, (int)d->conf.handlers,
                            d->listener.is_public ? PEER_MAY_BE_ANYBODY
                                                  : PEER_IS_SERVER,
                            e);
    if (!st)
        st = front_start(&d->front, d->listener.fd,
                         (int)d->conf.max_connections, &d->handlers,
                         &d->writer, e);
    return st;
}

static enum st check_room(struct daemon *d, struct err *e)
{
    bool given_up;
    enum st st = memory_loaded(&d->memory, &given_up, e);

    if (!st && given_up)
        log_warn("memory", "held_mb=%zu the model leaves no room under "
                 "mem-peak's default; nothing is limited",
                 memory_held(&d->memory) / 1000000);
    return st;
}

/* The lock first, the listener last: whoever finds the socket is served,
 * and a second copy by mistake touches nothing. */
static enum st start(struct daemon *d, struct err *e)
{
    const struct listen_config lc = listen_settings(&d->conf);
    enum st st = d->conf.model
                     ? listen_lock(&d->listener, &lc, e)
                     : err_set(e, ST_USAGE, "model",
                               "no model is given; see penstockd --help");

    if (!st)
        st = open_store(d, e);
    if (!st)
        st = memory_init(&d->memory, (size_t)d->conf.mem_ceiling,
                         (size_t)d->conf.mem_peak,
                         (size_t)d->conf.mem_slack, e);
    if (!st)
        st = wire_open(&d->wire, &d->conf, &d->memory, e);
    if (!st)
        st = check_room(d, e);
    if (!st)
        st = open_api(d, e);
    if (!st)
        st = listen_open(&d->listener, &lc, e);
    if (!st)
        st = start_threads(d, e);
    if (st)
        return st;
    log_info("ready", "on=\"%s\" pid=%d", d->listener.what, (int)getpid());
    if (d->listener.is_public && !keys_any(d->keys))
        log_warn("open_door", "on=\"%s\" no key is configured: every client "
                 "is refused until `penstock key add`",
                 d->listener.what);
    if (d->listener.before)
        kill(d->listener.before, SIGTERM);
    return ST_OK;
}

/* --- run ----------------------------------------------------------------- */

/* The next signal, 0 after `ms`. */
static int next_signal(struct daemon *d, int64_t ms)
{
    const struct timespec ts = {ms / 1000, ms % 1000 * 1000000};
    int sig = sigtimedwait(&d->signals, NULL, &ts);

    return sig > 0 ? sig : 0;
}

static void run(struct daemon *d)
{
    for (;;) {
        int sig = next_signal(d, 1000);

        if (sig == SIGTERM || sig == SIGINT) {
            log_info("signal", "name=%s", sig == SIGTERM ? "TERM" : "INT");
            return;
        }
        if (sig == SIGHUP)
            log_info("signal", "name=HUP nothing is reloaded; restart instead");
        memory_sample(&d->memory);
        keys_refresh(d->keys);
        responses_tick(d->responses, epoch_ms());
        listen_relock(&d->listener);
    }
}

/* --- end ----------------------------------------------------------------- */

/* Wait until *count is 0; false after `ms` or at a second signal. */
static bool settle(struct daemon *d, _Atomic int *count, int64_t ms)
{
    int64_t end = mono_ms() + ms;

    while (atomic_load_explicit(count, memory_order_acquire) > 0) {
        int64_t left = end - mono_ms();
        int sig;

        if (left <= 0)
            return false;
        sig = next_signal(d, left < 20 ? left : 20);
        if ((sig == SIGTERM || sig == SIGINT) && !d->hurry) {
            log_info("signal", "second one: ending now");
            d->hurry = true;
            return false;
        }
    }
    return true;
}

/*
 * Nobody new, then wait. The path goes first (if a successor has not taken
 * it over), then what the kernel has queued is accepted and served.
 */
static void drain(struct daemon *d)
{
    listen_unlink(&d->listener);
    front_stop(&d->front);
    settle(d, &d->front.listening, SETTLE_MS);
    if (!settle(d, &d->front.open, SETTLE_MS) && !d->hurry) {
        api_drain(d->api);
        log_info("drain", "open=%d timeout_s=%lld",
                 atomic_load_explicit(&d->front.open, memory_order_relaxed),
                 (long long)d->conf.drain_timeout);
        settle(d, &d->front.open, d->conf.drain_timeout * 1000);
    }
    api_drain(d->api);
    if (atomic_load_explicit(&d->front.busy, memory_order_acquire) > 0) {
        writer_cut(&d->writer);
        if (!settle(d, &d->front.open, CUT_MS))
            log_warn("drain", "left=%d",
                     atomic_load_explicit(&d->front.open,
                                          memory_order_relaxed));
    }
}

/* Threads end from the outside in; what late wakes may touch goes last. */
static void stop(struct daemon *d)
{
    front_end(&d->front);
    handlers_stop(&d->handlers);
    writer_stop(&d->writer);
    wire_stop(d->wire);
    db_writer_close(d->db, DB_CLOSE_MS);
    ledger_free(d->ledger); /* queued posts point into these until here */
    responses_free(d->responses);
    api_free(d->api);
    limits_close(d->limits);
    keys_close(d->keys);
    wire_close(d->wire);
    front_release(&d->front);
    writer_release(&d->writer);
    listen_close(&d->listener);
    log_info("end", "pid=%d", (int)getpid());
}

int main(int argc, char **argv)
{
    static struct daemon d;
    struct err e;
    int rc = read_settings(&d, argc, argv);

    if (rc)
        return rc - 1;
    /* fixed, or glibc keeps what the first large requests took */
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    block_signals(&d);
    if (start(&d, &e)) {
        log_error("start", "%s%s%s", e.where, e.where[0] ? ": " : "", e.text);
        listen_unlink(&d.listener);
        return e.st == ST_USAGE ? 2 : 1;
    }
    run(&d);
    drain(&d);
    stop(&d);
    conf_release(&d.conf);
    return 0;
}
