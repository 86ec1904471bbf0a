#include "fcgi/conf.h"

#include "acct/limits.h"
#include "api/cors.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/num.h"

enum kind {
    K_TEXT,    /* a line */
    K_INT,
    K_BYTES,   /* with k, m or g */
    K_OCTAL,
    K_SWITCH,  /* on, off */
    K_LEVEL,
    K_PATTERN, /* MAX:MIN:COUNT or off */
    K_PORT,    /* HOST:PORT, as text */
    K_ORIGINS, /* *, or web origins with commas, as text */
    K_CPUS,    /* 0-3,8, as text */
    K_RESERVE, /* whole number or auto (-1) */
    K_KV_TYPE, /* f16, q8_0 */
};

#define CONF_FILE_MAX (1u << 20)
#define CPUS_MAX 256

struct key {
    const char *name;
    enum kind kind;
    size_t at;            /* offset in struct conf */
    const char *value;    /* default as one would write it; NULL: none */
    int64_t min, max;     /* K_INT, K_BYTES, K_OCTAL */
    const char *arg, *help;
};

#define AT(field) offsetof(struct conf, field)

static const struct key keys[] = {
    {"config", K_TEXT, AT(config), NULL, 0, 0, "FILE",
     "read these settings first (option only)"},
    {"model", K_TEXT, AT(model), NULL, 0, 0, "FILE", "the GGUF file to serve"},
    {"model-id", K_TEXT, AT(model_id), NULL, 0, 0, "NAME",
     "the model's name for clients; default: its file name without .gguf"},
    {"chat-format", K_TEXT, AT(chat_format), NULL, 0, 0, "NAME|FILE",
     "a chat format's name, a chat.json or a *.jinja; default: found out"},
    {"db", K_TEXT, AT(db), "/var/lib/penstock/penstock.db", 0, 0, "FILE",
     "keys and ledger (SQLite)"},
    {"socket", K_TEXT, AT(socket), "/run/penstock/penstock.sock", 0, 0, "PATH",
     "Unix socket for the web server, at most 107 bytes"},
    {"socket-mode", K_OCTAL, AT(socket_mode), "0660", 0, 0777, "MODE",
     "permissions of the socket, octal"},
    {"socket-group", K_TEXT, AT(socket_group), NULL, 0, 0, "GROUP",
     "group of the socket: the web server's, www-data on Debian"},
    {"listen", K_PORT, AT(listen), NULL, 0, 0, "HOST:PORT",
     "FastCGI over TCP instead of the socket; keep it on loopback"},
    {"replace", K_SWITCH, AT(replace), "off", 0, 0, "on|off",
     "take the socket over from a running penstockd, then end that one"},
    {"handlers", K_INT, AT(handlers), "4", 2, 8, "N",
     "threads that read requests"},
    {"max-connections", K_INT, AT(max_connections), "4096", 8, 1000000, "N",
     "connections of the web server at a time"},
    {"threads", K_INT, AT(threads), "0", 0, 256, "N",
     "threads of the engine; 0: one per CPU"},
    {"repack", K_SWITCH, AT(repack), "on", 0, 0, "on|off",
     "interleave the weights at start; off: slower, the file is used as it is"},
    {"pack-cache", K_TEXT, AT(pack_cache), "auto", 0, 0,
     "auto|off|beside|DIR", "where interleaved weights are kept"},
    {"cpus", K_CPUS, AT(cpus), NULL, 0, 0, "LIST",
     "one engine thread on each of these CPUs: 0-3,8"},
    {"parallel", K_INT, AT(parallel), "4", 1, 256, "N",
     "generations that run together"},
    {"side-slots", K_INT, AT(side_slots), "1", 0, 16, "N",
     "short requests that may run beside them; 0: none"},
    {"context", K_INT, AT(context), "0", 0, 16777216, "TOKENS",
     "window of one request; 0: the model's own"},
    {"kv-memory", K_BYTES, AT(kv_memory), "0", 0, (int64_t)1 << 44, "BYTES",
     "keys and values of all requests (k, m, g); 0: at most 1g, or one context"},
    {"kv-type", K_KV_TYPE, AT(kv_type), "f16", 0, 0, "f16|q8_0",
     "numbers of keys and values; q8_0 takes about half the memory"},
    {"mem-ceiling", K_BYTES, AT(mem_ceiling), "0", 0, (int64_t)1 << 44,
     "BYTES", "memory held between requests (k, m, g); 0: 9/10 of mem-peak"},
    {"mem-peak", K_BYTES, AT(mem_peak), "0", 0, (int64_t)1 << 44, "BYTES",
     "memory held at any time; 0: 9/10 of what the machine or cgroup allows"},
    {"mem-slack", K_BYTES, AT(mem_slack), "256m", 0, (int64_t)1 << 44, "BYTES",
     "memory of pages that nobody uses, kept for the next request"},
    {"spool", K_TEXT, AT(spool), "off", 0, 0, "off|DIR",
     "folder where keys and values of prompts outlive memory and restarts"},
    {"spool-max", K_BYTES, AT(spool_max), "8g", 1 << 20, (int64_t)1 << 50,
     "BYTES", "size of that folder (k, m, g)"},
    {"spool-ttl", K_INT, AT(spool_ttl), "168", 0, 87600, "HOURS",
     "what was not used for so long is removed; 0: kept"},
    {"max-queue", K_INT, AT(max_queue), "64", 0, 100000, "N",
     "requests that may wait; more are answered 503"},
    {"queue-timeout", K_INT, AT(queue_timeout), "120", 0, 604800, "SECONDS",
     "longest wait of a request that is not streamed, then 429; 0: none"},
    {"limit-requests", K_INT, AT(limit_requests), "0", 0, LIMIT_MAX, "N",
     "requests per minute of a key that has no limit of its own; 0: none"},
    {"limit-tokens", K_INT, AT(limit_tokens), "0", 0, LIMIT_MAX, "N",
     "tokens per minute of such a key, prompts and answers; 0: none"},
    {"limit-tokens-day", K_INT, AT(limit_tokens_day), "0", 0, LIMIT_MAX, "N",
     "tokens per day (UTC) of such a key; 0: none"},
    {"limit-concurrent", K_INT, AT(limit_concurrent), "0", 0, LIMIT_MAX, "N",
     "requests of such a key at a time; 0: none"},
    {"default-max-tokens", K_INT, AT(default_max_tokens), "4096", 1, 16777216,
     "TOKENS", "answer limit of requests that give none"},
    {"body-max", K_BYTES, AT(body_max), "64m", 1024, 1 << 30, "BYTES",
     "largest request body (k, m, g); client_max_body_size in nginx"},
    {"request-timeout", K_INT, AT(request_timeout), "3600", 0, 604800,
     "SECONDS", "longest life of a request; 0: no limit"},
    {"thinking", K_SWITCH, AT(thinking), "on", 0, 0, "on|off",
     "let models think when a request does not say"},
    {"think-stall", K_SWITCH, AT(think_stall), "on", 0, 0, "on|off",
     "close a reasoning that goes in circles"},
    {"answer-reserve", K_RESERVE, AT(answer_reserve), "auto", 0, 16777216,
     "TOKENS|auto",
     "kept for the answer when a request limits its reasoning; auto: the "
     "smaller of 2048 and a quarter of the answer limit"},
    {"reasoning-format", K_TEXT, AT(reasoning_format),
     "*=reasoning_content,hermes=tags", 0, 0, "[KIND=]FORM,...",
     "tags, reasoning_content or both, by kind of client, when a request does "
     "not say"},
    {"structured-outputs", K_SWITCH, AT(structured_outputs), "on", 0, 0,
     "on|off",
     "hold answers to the JSON, choice or regex that a request asks for, and "
     "calls to their tools; off: such a request is refused"},
    {"usage-default", K_SWITCH, AT(usage_default), "on", 0, 0, "on|off",
     "usage in the finish chunk of streams that do not ask for it"},
    {"responses-keep", K_INT, AT(responses_keep), "0", 0, 3650, "DAYS",
     "answers of /v1/responses are stored for so long, with their input; 0: "
     "nothing is stored"},
    {"wait-line-ms", K_INT, AT(wait_line_ms), "10000", 50, 3600000, "MS",
     "comment line in a waiting stream, first and next"},
    {"prefill-line-ms", K_INT, AT(prefill_line_ms), "5000", 50, 3600000, "MS",
     "first comment line of a long prefill; 1000 behind Apache"},
    {"pattern-stop", K_PATTERN, AT(pattern), "off", 0, 0, "MAX:MIN:COUNT",
     "end an answer that repeats a block of MIN to MAX tokens COUNT times"},
    {"cors-origin", K_ORIGINS, AT(cors_origin), NULL, 0, 0, "ORIGIN,...",
     "web origins whose pages may call from browsers, or *"},
    {"log-level", K_LEVEL, AT(log_level), "info", 0, 0, "LEVEL",
     "debug, info, warn or error; the log is standard error"},
    {"drain-timeout", K_INT, AT(drain_timeout), "60", 0, 86400, "SECONDS",
     "time for open streams to end after SIGTERM"},
};
#define KEYS (sizeof(keys) / sizeof(keys[0]))

/* --- one value ----------------------------------------------------------- */

static bool parse_bytes(const char *s, int64_t *out)
{
    size_t n = strlen(s);
    int shift = 0;
    int64_t v;

    if (n && strchr("kK", s[n - 1]))
        shift = 10;
    else if (n && strchr("mM", s[n - 1]))
        shift = 20;
    else if (n && strchr("gG", s[n - 1]))
        shift = 30;
    if (!num_parse_i64(s, shift ? n - 1 : n, 0, INT64_MAX >> 30, &v) ||
        v > INT64_MAX >> shift)
        return false;
    *out = v << shift;
    return true;
}

static bool parse_octal(const char *s, int64_t *out)
{
    int64_t v = 0;

    if (!*s || strlen(s) > 5)
        return false;
    for (; *s; s++) {
        if (*s < '0' || *s > '7')
            return false;
        v = v * 8 + (*s - '0');
    }
    *out = v;
    return true;
}

static bool parse_pattern(const char *s, int64_t out[3])
{
    const char *end;

    out[0] = out[1] = out[2] = 0;
    if (!strcmp(s, "off"))
        return true;
    for (int i = 0; i < 3; i++) {
        end = i < 2 ? strchr(s, ':') : s + strlen(s);
        if (!end || !num_parse_i64(s, (size_t)(end - s), 1, 256, &out[i]))
            return false;
        s = end + 1;
    }
    return out[1] <= out[0] && out[2] >= 2 && out[2] <= 64;
}

/* The C library takes the low 16 bits of a larger port. */
static bool parse_port(const char *s)
{
    const char *colon = strrchr(s, ':');
    int64_t port;

    return colon && colon > s &&
           num_parse_i64(colon + 1, strlen(colon + 1), 1, 65535, &port);
}

/* Browsers write origins in lower case and compare the answer byte by byte. */
static char *lower(const char *s)
{
    char *p = mem_dup(s);

    for (char *c = p; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    return p;
}

static enum st bad(const struct key *k, const char *where, const char *value,
                   struct err *e)
{
    struct err why;

    switch (k->kind) {
    case K_INT:
        return err_set(e, ST_USAGE, where,
                       "%s takes a whole number from %lld to %lld, not '%s'",
                       k->name, (long long)k->min, (long long)k->max, value);
    case K_BYTES:
        return err_set(e, ST_USAGE, where,
                       "%s takes %lld to %lld bytes (also 512k, 64m, 1g), "
                       "not '%s'",
                       k->name, (long long)k->min, (long long)k->max, value);
    case K_OCTAL:
        return err_set(e, ST_USAGE, where,
                       "%s takes octal permissions up to 0777, not '%s'",
                       k->name, value);
    case K_PATTERN:
        return err_set(e, ST_USAGE, where,
                       "%s takes off or MAX:MIN:COUNT with 1 <= MIN <= MAX <= "
                       "256 and COUNT from 2 to 64, not '%s'",
                       k->name, value);
    case K_PORT:
        return err_set(e, ST_USAGE, where,
                       "%s takes HOST:PORT with a port from 1 to 65535, not "
                       "'%s'",
                       k->name, value);
    case K_CPUS:
        return err_set(e, ST_USAGE, where,
                       "%s takes numbers of CPUs such as 0-3,8, not '%s'",
                       k->name, value);
    case K_ORIGINS:
        BUG_ON(!cors_check(value, &why));
        return err_set(e, ST_USAGE, where, "%s takes * or origins with "
                       "commas between them, not %s",
                       k->name, why.text);
    case K_RESERVE:
        return err_set(e, ST_USAGE, where,
                       "%s takes auto or a whole number from %lld to %lld, "
                       "not '%s'",
                       k->name, (long long)k->min, (long long)k->max, value);
    case K_KV_TYPE:
        return err_set(e, ST_USAGE, where, "%s takes f16 or q8_0, not '%s'",
                       k->name, value);
    case K_TEXT:
        return err_set(e, ST_USAGE, where, "%s needs a value", k->name);
    default:
        return err_set(e, ST_USAGE, where, "%s takes %s, not '%s'", k->name,
                       k->kind == K_SWITCH ? "on or off"
                                           : "debug, info, warn or error",
                       value);
    }
}

static bool parse_value(const struct key *k, void *to, const char *value)
{
    int64_t *number = to;
    enum log_level level;
    struct err why;
    int list[CPUS_MAX], n;
    bool ok = true;

    switch (k->kind) {
    case K_TEXT:
        free(*(char **)to);
        *(char **)to = mem_dup(value);
        return *value != '\0';
    case K_PORT:
        free(*(char **)to);
        *(char **)to = mem_dup(value);
        return parse_port(value);
    case K_CPUS:
        free(*(char **)to);
        *(char **)to = mem_dup(value);
        return num_parse_list(value, CPUS_MAX, list, CPUS_MAX, &n);
    case K_ORIGINS:
        free(*(char **)to);
        *(char **)to = lower(value);
        return !cors_check(value, &why);
    case K_SWITCH:
        *(bool *)to = !strcmp(value, "on");
        return *(bool *)to || !strcmp(value, "off");
    case K_LEVEL:
        ok = log_level_parse(value, &level);
        *number = ok ? (int64_t)level : 0;
        return ok;
    case K_KV_TYPE:
        *number = !strcmp(value, "q8_0") ? CONF_KV_Q8_0 : CONF_KV_F16;
        return *number == CONF_KV_Q8_0 || !strcmp(value, "f16");
    case K_PATTERN:
        return parse_pattern(value, number);
    case K_RESERVE:
        *number = -1;
        if (!strcmp(value, "auto"))
            return true;
        return num_parse_i64(value, strlen(value), k->min, k->max, number);
    case K_INT:
        return num_parse_i64(value, strlen(value), k->min, k->max, number);
    case K_BYTES:
        ok = parse_bytes(value, number);
        break;
    case K_OCTAL:
        ok = parse_octal(value, number);
        break;
    }
    return ok && *number >= k->min && *number <= k->max;
}

static enum st set(struct conf *c, const struct key *k, const char *where,
                   const char *value, struct err *e)
{
    return parse_value(k, (char *)c + k->at, value) ? ST_OK
                                                    : bad(k, where, value, e);
}

static const struct key *find(const char *name, size_t n)
{
    for (size_t i = 0; i < KEYS; i++)
        if (strlen(keys[i].name) == n && !memcmp(keys[i].name, name, n))
            return &keys[i];
    return NULL;
}

/* --- the file ------------------------------------------------------------ */

static bool is_space(char ch)
{
    return ch == ' ' || ch == '\t' || ch == '\r';
}

/* One line, NUL-terminated: nothing, a comment, or key and value. */
static enum st read_line(struct conf *c, const char *where, char *line,
                         struct err *e)
{
    const struct key *k;
    size_t n = 0;
    char *end;

    while (is_space(*line))
        line++;
    if (!*line || *line == '#')
        return ST_OK;
    while (line[n] && !is_space(line[n]))
        n++;
    k = find(line, n);
    if (!k || k->at == AT(config))
        return err_set(e, ST_USAGE, where,
                       "there is no key '%.*s'; see penstockd --help",
                       (int)(n < 40 ? n : 40), line);
    line += n;
    while (is_space(*line))
        line++;
    end = line + strlen(line);
    while (end > line && is_space(end[-1]))
        end--;
    *end = '\0';
    return set(c, k, where, line, e);
}

static enum st read_file(struct conf *c, const char *path, struct err *e)
{
    struct buf file;
    int number = 1;
    enum st st;

    buf_init(&file, CONF_FILE_MAX);
    st = buf_read_file(&file, path, e);
    for (char *line = file.p, *end; !st && line && *line; line = end) {
        char where[sizeof(e->where)];

        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        else
            end = line + strlen(line);
        snprintf(where, sizeof(where), "%s:%d", path, number++);
        st = read_line(c, where, line, e);
    }
    buf_release(&file);
    return st;
}

/* --- options ------------------------------------------------------------- */

static enum st read_option(struct conf *c, int argc, char **argv, int *i,
                           bool config_only, struct err *e)
{
    const char *name = argv[*i], *value, *eq;
    const struct key *k = NULL;
    char where[64];

    eq = strchr(name, '=');
    if (!strncmp(name, "--", 2))
        k = find(name + 2, eq ? (size_t)(eq - name) - 2 : strlen(name) - 2);
    if (!k)
        return err_set(e, ST_USAGE, "", "there is no option '%s'; see --help",
                       name);
    if (eq)
        value = eq + 1;
    else if (*i + 1 < argc)
        value = argv[++*i];
    else
        return err_set(e, ST_USAGE, "", "--%s needs a value: %s", k->name,
                       k->arg);
    if (config_only != (k->at == AT(config)))
        return ST_OK;
    snprintf(where, sizeof(where), "--%s", k->name);
    return set(c, k, where, value, e);
}

static enum st read_options(struct conf *c, int argc, char **argv,
                            bool config_only, struct err *e)
{
    for (int i = 1; i < argc; i++) {
        enum st st = read_option(c, argc, argv, &i, config_only, e);

        if (st)
            return st;
    }
    return ST_OK;
}

enum st conf_load(struct conf *c, enum conf_do *what, int argc, char **argv,
                  struct err *e)
{
    enum st st;

    *c = (struct conf){0};
    *what = CONF_RUN;
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].value)
            BUG_ON(set(c, &keys[i], "default", keys[i].value, NULL));
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help"))
            *what = CONF_HELP;
        else if (!strcmp(argv[i], "--sample-config"))
            *what = CONF_SAMPLE;
        else if (!strcmp(argv[i], "--version"))
            *what = CONF_VERSION;
    }
    if (*what != CONF_RUN)
        return ST_OK;
    st = read_options(c, argc, argv, true, e);
    if (!st && c->config)
        st = read_file(c, c->config, e);
    if (!st)
        st = read_options(c, argc, argv, false, e);
    return st;
}

void conf_release(struct conf *c)
{
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].kind == K_TEXT || keys[i].kind == K_PORT ||
            keys[i].kind == K_ORIGINS || keys[i].kind == K_CPUS)
            free(*(char **)((char *)c + keys[i].at));
    *c = (struct conf){0};
}

/* --- for people ---------------------------------------------------------- */

void conf_print_help(void)
{
    puts("Usage: penstockd --model FILE [--config FILE] [--KEY VALUE]...\n\n"
         "Serves an OpenAI-compatible API over FastCGI, for nginx in front.\n"
         "Every KEY can stand in the configuration file as a line 'KEY "
         "VALUE'.\n");
    for (size_t i = 0; i < KEYS; i++) {
        char left[64];

        snprintf(left, sizeof(left), "--%s %s", keys[i].name, keys[i].arg);
        printf("  %-28s %s", left, keys[i].help);
        if (keys[i].value)
            printf(" [%s]", keys[i].value);
        putchar('\n');
    }
    puts("  --help                       this text\n"
         "  --sample-config              a configuration file with every key\n"
         "  --version                    the version");
}

void conf_print_sample(void)
{
    puts("# penstock.conf - settings of penstockd, one 'key value' per line.\n"
         "# Lines that start with # are comments; here they show defaults.");
    for (size_t i = 0; i < KEYS; i++) {
        if (keys[i].at == AT(config))
            continue;
        printf("\n# %s\n", keys[i].help);
        printf("#%s %s\n", keys[i].name,
               keys[i].value ? keys[i].value : keys[i].arg);
    }
}
