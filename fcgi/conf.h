/*
 * fcgi/conf.h - penstockd's settings: one table makes the file, the options,
 * --help and the sample file.
 *
 * penstock.conf has one `key value` per line; # starts a comment line. Every
 * key is also an option `--key value` (or --key=value), which wins over the
 * file. An unknown key or a bad value names file and line, and what is
 * accepted.
 */
#ifndef FCGI_CONF_H
#define FCGI_CONF_H

#include "base/mem.h"

enum conf_kv { CONF_KV_F16, CONF_KV_Q8_0 };

struct conf {
    char *config;              /* the file itself; options only */
    char *model, *model_id, *chat_format, *db; /* owned; NULL or text */
    char *pack_cache;          /* see packs_config.cache */
    char *socket, *listen, *socket_group, *cors_origin, *cpus;
    int64_t socket_mode;       /* permission bits */
    int64_t threads, parallel, side_slots, context, max_queue;
    int64_t queue_timeout;     /* seconds, 0: none */
    int64_t limit_requests, limit_tokens; /* of each key, per minute; 0: none */
    int64_t limit_tokens_day, limit_concurrent;
    int64_t mem_ceiling, mem_peak, mem_slack; /* bytes; 0: auto */
    char *spool;               /* a folder, or "off" */
    int64_t spool_max;         /* bytes */
    int64_t spool_ttl;         /* hours, 0: no limit */
    int64_t kv_memory;         /* bytes, 0: see engine_config.kv_bytes */
    int64_t kv_type;           /* enum conf_kv */
    int64_t default_max_tokens;
    int64_t body_max;          /* bytes */
    int64_t request_timeout;   /* seconds, 0: none */
    int64_t handlers, max_connections;
    int64_t wait_line_ms, prefill_line_ms;
    int64_t pattern[3];        /* max, min, count; 0: off */
    int64_t responses_keep;    /* days, 0: nothing is stored */
    int64_t log_level;         /* enum log_level */
    int64_t drain_timeout;     /* seconds */
    char *reasoning_format;    /* see api/reason.h; owned */
    int64_t answer_reserve;    /* tokens; -1: auto */
    bool thinking, think_stall, usage_default, replace, repack;
    bool structured_outputs;
};

enum conf_do { CONF_RUN, CONF_HELP, CONF_SAMPLE, CONF_VERSION };

/*
 * Defaults, then the file of --config, then the options.
 * Errors: ST_USAGE, ST_IO (the file).
 */
enum st conf_load(struct conf *c, enum conf_do *what, int argc, char **argv,
                  struct err *e) MUST_CHECK;
void conf_release(struct conf *c);

void conf_print_help(void);   /* to standard output */
void conf_print_sample(void); /* a penstock.conf with every key */

#endif
