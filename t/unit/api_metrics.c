/*
 * /metrics: the text format by its rules, counts that add up, and the other
 * pages of figures. Format: Prometheus text exposition 0.0.4; names:
 * tandem.md 1.2.
 */
#include "api/context.h"
#include "api/metrics.h"
#include "base/thread.h"
#include "gen/memory.h"
#include "t/lib/apit.h"

#define LINES 1024

struct page { /* its lines, cut apart */
    struct call call;
    char *line[LINES];
    size_t n;
};

static void page_open(struct page *p, struct apit *t, const char *path)
{
    char *s, *end;

    memset(p, 0, sizeof(*p));
    call_do(&p->call, t, path, NULL);
    s = (char *)call_body(&p->call);
    for (; *s && p->n < LINES; s = end + 1) {
        end = strchr(s, '\n');
        if (!end)
            break;
        *end = '\0';
        p->line[p->n++] = s;
    }
}

/* The value of a series, as it is written there; -1: it is not. */
static double value(const struct page *p, const char *series)
{
    size_t n = strlen(series);

    for (size_t i = 0; i < p->n; i++)
        if (!strncmp(p->line[i], series, n) && p->line[i][n] == ' ')
            return strtod(p->line[i] + n + 1, NULL);
    return -1;
}

/* --- the format ---------------------------------------------------------- */

static size_t name_len(const char *s)
{
    return strspn(s, "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ:"
                     "0123456789");
}

/* {name="value",...} or nothing; what follows, NULL when it is broken. */
static const char *after_labels(const char *s)
{
    if (*s != '{')
        return s;
    do {
        s++;
        s += name_len(s);
        if (strncmp(s, "=\"", 2) != 0)
            return NULL;
        for (s += 2; *s != '"'; s++) {
            if (*s == '\\' && !strchr("\\\"n", *++s))
                return NULL;
            if (!*s)
                return NULL;
        }
        s++;
    } while (*s == ',');
    return *s == '}' ? s + 1 : NULL;
}

struct family {
    char name[128], type[16];
};

/* A sample line of the family that was announced last. */
static bool sample_ok(const char *line, const struct family *f)
{
    static const char *const ends[] = {"_bucket", "_sum", "_count"};
    size_t n = name_len(line), head = strlen(f->name);
    const char *s = after_labels(line + n);
    char *end;

    if (!s || *s != ' ' || strncmp(line, f->name, head) != 0)
        return false;
    strtod(s + 1, &end);
    if (*end || end == s + 1)
        return false;
    if (strcmp(f->type, "histogram") != 0)
        return n == head;
    for (size_t i = 0; i < 3; i++)
        if (n == head + strlen(ends[i]) &&
            !strncmp(line + head, ends[i], n - head))
            return true;
    return false;
}

static void strict(const struct page *p)
{
    struct family f = {"", ""};
    size_t bad = 0, families = 0, unnamed = 0, twice = 0;

    for (size_t i = 0; i < p->n; i++) {
        const char *l = p->line[i];

        if (!strncmp(l, "# HELP ", 7)) {
            snprintf(f.name, sizeof(f.name), "%.*s", (int)name_len(l + 7),
                     l + 7);
            families++;
            unnamed += strncmp(f.name, "penstock_", 9) != 0;
            for (size_t k = 0; k < i; k++)
                twice += !strncmp(p->line[k], l, 8 + strlen(f.name));
            l = p->line[++i];
            if (i == p->n || strncmp(l, "# TYPE ", 7) != 0 ||
                strncmp(l + 7, f.name, strlen(f.name)) != 0) {
                bad++;
                continue;
            }
            snprintf(f.type, sizeof(f.type), "%s", l + 8 + strlen(f.name));
            if (strcmp(f.type, "counter") != 0 &&
                strcmp(f.type, "gauge") != 0 &&
                strcmp(f.type, "histogram") != 0)
                bad++;
            if (!strcmp(f.type, "counter") &&
                strcmp(f.name + strlen(f.name) - 6, "_total") != 0)
                bad++;
        } else if (!sample_ok(l, &f)) {
            printf("#   bad line: %s\n", l);
            bad++;
        }
    }
    ok(families > 40 && !bad, "%zu families, every line of each well formed",
       families);
    ok(!unnamed && !twice, "each has our prefix and comes once");
}

/* Buckets only grow, and the last is the count. */
static void cumulative(const struct page *p, const char *name)
{
    char want[160];
    double last = 0, v, inf = -1;
    bool grows = true;
    size_t n, edges = 0;

    n = (size_t)snprintf(want, sizeof(want), "penstock_%s_bucket{le=\"", name);
    for (size_t i = 0; i < p->n; i++) {
        if (strncmp(p->line[i], want, n) != 0)
            continue;
        v = strtod(strchr(p->line[i], ' ') + 1, NULL);
        grows = grows && v >= last;
        last = v;
        edges++;
        if (!strncmp(p->line[i] + n, "+Inf", 4))
            inf = v;
    }
    snprintf(want, sizeof(want), "penstock_%s_count", name);
    ok(edges > 5 && grows && inf == last && inf == value(p, want),
       "%s: %zu buckets that add up", name, edges);
}

/* --- counts -------------------------------------------------------------- */

static void requests(struct apit *t)
{
    static const char *const bodies[] = {
        "{\"prompt\":\"a a a a\",\"max_tokens\":5}",
        "{\"prompt\":\"a a a a\",\"max_tokens\":7,\"stream\":true}",
        "{\"prompt\":\"a a a a\",\"max_tokens\":100}",
    };
    struct call c;

    for (size_t i = 0; i < 3; i++) {
        call_do(&c, t, "/v1/completions", bodies[i]);
        is_int(call_status(&c), 200, "request %zu", i);
        call_release(&c);
    }
    call_do(&c, t, "/v1/completions", "{}");
    call_release(&c);
    call_do(&c, t, "/v1/nothing", NULL);
    call_release(&c);
    /* who only counts asks for no answer: refusals of that are not counted */
    call_do(&c, t, "/v1/messages/count_tokens", "{}");
    is_int(call_status(&c), 400, "a count of nothing");
    call_release(&c);
    call_do(&c, t, "/v1/responses/input_tokens", "{}");
    is_int(call_status(&c), 400, "another");
    call_release(&c);
}

static void counts(struct apit *t)
{
    struct page p;
    char type[64];

    page_open(&p, t, "/metrics");
    is_int(call_status(&p.call), 200, "/metrics");
    is_str(call_header(&p.call, "Content-Type", type, sizeof(type)),
           "text/plain; version=0.0.4; charset=utf-8", "its type");
    strict(&p);
    ok(value(&p, "penstock_requests_total{finish_reason=\"length\"}") == 2 &&
           value(&p, "penstock_requests_total{finish_reason=\"stop\"}") == 1 &&
           value(&p, "penstock_requests_total{finish_reason=\"refused\"}") ==
               1,
       "requests by their end");
    ok(value(&p, "penstock_request_success_total") == 3, "three ended well");
    ok(value(&p, "penstock_requests_refused_total{reason=\"invalid\"}") == 1,
       "one was wrong");
    ok(value(&p, "penstock_generation_tokens_total") == 5 + 7 + 20 &&
           value(&p, "penstock_prompt_tokens_total") == 12,
       "tokens");
    ok(value(&p, "penstock_prompt_tokens_cached_total") == 6, "cached ones");
    ok(value(&p, "penstock_usage_ledger_rows_total") == 4,
       "a row for each, the refused one too");
    ok(value(&p, "penstock_http_requests_total{route=\"completions\","
                 "code=\"200\"}") == 3 &&
           value(&p, "penstock_http_requests_total{route=\"completions\","
                     "code=\"400\"}") == 1 &&
           value(&p, "penstock_http_requests_total{route=\"other\","
                     "code=\"404\"}") == 1,
       "answers by route and status");
    ok(value(&p, "penstock_up") == 1 &&
           value(&p, "penstock_requests_running") == 0,
       "gauges");
    ok(value(&p, "penstock_time_to_first_token_seconds_count") == 3 &&
           value(&p, "penstock_request_completion_tokens_sum") == 32 &&
           value(&p, "penstock_request_prompt_tokens_bucket{le=\"1\"}") == 0 &&
           value(&p, "penstock_request_prompt_tokens_bucket{le=\"16\"}") == 3,
       "histograms count what ended");
    cumulative(&p, "time_to_first_token_seconds");
    cumulative(&p, "e2e_request_latency_seconds");
    cumulative(&p, "request_completion_tokens");
    ok(value(&p, "penstock_memory_bytes{class=\"kv\"}") == 4096 &&
           value(&p, "penstock_memory_peak_bytes") == (double)(1 << 30),
       "memory by class");
    call_release(&p.call);
}

/* Of one request, rate times time is what was done. */
static void rates(void)
{
    int32_t ids[] = {100, 100, 100, 100, 100};
    struct scripted_config config = {
        .ids = ids, .n = 5, .fail_after = -1, .parallel = 1, .cached = 2,
        .prefill_us = 3000, .per_token_us = 1000,
    };
    const char *why;
    struct page p;
    struct call c;
    struct apit t;
    double rows, tokens;

    if (!ok(apit_open(&t, &config, NULL, &why), "one that takes its time"))
        return;
    call_do(&c, &t, "/v1/completions",
            "{\"prompt\":\"a a a a\",\"max_tokens\":5}");
    call_release(&c);
    page_open(&p, &t, "/metrics");
    rows = value(&p, "penstock_request_prefill_seconds_sum") *
           value(&p, "penstock_request_prefill_tokens_per_second_sum");
    tokens = value(&p, "penstock_time_per_output_token_seconds_sum") *
             value(&p, "penstock_request_decode_tokens_per_second_sum");
    ok(rows > 1.99 && rows < 2.01, "two rows were computed (%g)", rows);
    ok(tokens > 0.99 && tokens < 1.01, "a token at a time (%g)", tokens);
    call_release(&p.call);
    apit_close(&t);
}

static void other_pages(struct apit *t)
{
    const struct json *v;
    struct arena a;
    struct call c;
    struct page p;

    page_open(&p, t, "/metrics/up");
    is_int((int)p.n, 3, "/metrics/up is one gauge");
    ok(value(&p, "penstock_up") == 1, "that says 1");
    call_release(&p.call);

    call_do(&c, t, "/v1/cache/stats", NULL);
    v = call_json(&c, &a);
    ok(json_int(json_at(v, "last_prefill.reused")) == 2 &&
           json_int(json_at(v, "last_prefill.forwarded")) == 2 &&
           json_str_is(json_at(v, "last_prefill.kind"), "prefix"),
       "cache stats: the last prefill");
    ok(json_at(v, "prefix_cache.hits") &&
           json_at(v, "response_cache")->type == JSON_NULL,
       "the tree has counts; what is not there is null");
    arena_release(&a);
    call_release(&c);

    call_do(&c, t, "/health", NULL);
    v = call_json(&c, &a);
    ok(json_int(json_at(v, "inflight.served")) == 3 &&
           json_int(json_at(v, "inflight.refused")) == 1,
       "health: what became of requests");
    ok(json_int(json_at(v, "memory.classes.kv")) == 4096 &&
           json_int(json_at(v, "memory.held")) == 4096 &&
           json_int(json_at(v, "memory.peak")) == 1 << 30,
       "and the memory accounts");
    arena_release(&a);
    call_release(&c);
}

static void drained(struct apit *t)
{
    struct page p;

    api_drain(t->api);
    page_open(&p, t, "/metrics/up");
    ok(value(&p, "penstock_up") == 0, "0 while it drains");
    call_release(&p.call);
}

/* --- many ---------------------------------------------------------------- */

#define MANY 1000

static void many(void)
{
    struct call *c;
    int32_t one = 100;
    struct scripted_config config = {
        .ids = &one, .n = 1, .fail_after = -1, .parallel = 1,
        .max_queue = MANY, .loop = true,
    };
    const char *why;
    struct page p;
    struct apit t;

    if (!ok(apit_open(&t, &config, NULL, &why), "room for 1,000"))
        return;
    scripted_hold(t.gen);
    c = calls_waiting(&t, MANY);
    for (int i = 0; i < 3; i++) {
        int64_t t0 = mono_us();

        page_open(&p, &t, "/metrics");
        printf("# a scrape while %d wait: %lld us, %zu lines\n", MANY,
               (long long)(mono_us() - t0), p.n);
        call_release(&p.call);
    }
    calls_leave(c, MANY);
    page_open(&p, &t, "/metrics");
    ok(value(&p, "penstock_requests_total{finish_reason=\"abandoned\"}") ==
           MANY,
       "all that left are counted");
    call_release(&p.call);
    apit_close(&t);
}

static struct memory accounts;

static void with_memory(struct api_config *c)
{
    c->memory = &accounts;
}

int main(void)
{
    int32_t ids[20];
    struct scripted_config config = {
        .n = 20, .fail_after = -1, .parallel = 2, .max_queue = 8, .cached = 2,
    };
    const char *why;
    struct apit t;

    for (int i = 0; i < 20; i++)
        ids[i] = 100;
    config.ids = ids;
    accounts.peak = 1 << 30;
    memory_set(&accounts, MEM_KV, 4096);
    if (!apit_open(&t, &config, with_memory, &why))
        skip_all(why);
    /* a name that has everything that must be escaped */
    free(t.catalog.models[0].id);
    t.catalog.models[0].id = mem_dup("a\"b\\c");
    requests(&t);
    counts(&t);
    other_pages(&t);
    drained(&t);
    apit_close(&t);
    rates();
    many();
    return done();
}
