/* Parameters and bodies: whole or refused, and who is local. */
#include "fcgi/req.h"
#include "t/lib/tap.h"

struct feed {
    const char *s;
    size_t n, step;
    bool cut;
};

static size_t feed_read(void *arg, char *p, size_t n)
{
    struct feed *f = arg;

    n = n < f->step ? n : f->step;
    n = n < f->n ? n : f->n;
    memcpy(p, f->s, n);
    f->s += n;
    f->n -= n;
    return n;
}

static bool feed_ended(void *arg)
{
    return !((struct feed *)arg)->cut;
}

static enum st params(struct http_req *r, struct arena *a, const char *const *p)
{
    *r = (struct http_req){0};
    arena_release(a);
    return req_params(r, a, p, NULL);
}

static void test_fields(struct arena *a)
{
    const char *p[] = {"REQUEST_METHOD=POST", "REQUEST_URI=/v1/x?a=b?c",
                 "CONTENT_LENGTH=12", "HTTP_AUTHORIZATION=Bearer a=b",
                 "HTTP_X_API_KEY=pk-1", "HTTP_ANTHROPIC_VERSION=2023-06-01",
                 "HTTP_PROXY=", "HTTP_USER_AGENT=ua", "NOEQUALS", NULL};
    const char *bad_length[] = {"REQUEST_METHOD=POST", "REQUEST_URI=/v1/x",
                          "CONTENT_LENGTH=12x", NULL};
    const char *none[] = {"REQUEST_METHOD=POST", NULL};
    struct http_req r;

    ok(!params(&r, a, p), "usual parameters");
    ok(span_is(r.path, "/v1/x") && span_is(r.query, "a=b?c"), "path, query");
    ok(span_is(r.authorization, "Bearer a=b"), "a value may hold =");
    ok(span_is(r.api_key, "pk-1") &&
           span_is(r.anthropic_version, "2023-06-01"),
       "headers of other clients");
    ok(r.has_length && r.content_length == 12, "length");
    is_int(params(&r, a, bad_length), ST_INVALID, "a length with letters");
    is_int(params(&r, a, none), ST_INVALID, "no path");
}

static void test_local(struct arena *a)
{
    static const struct {
        const char *edge, *addr, *extra;
        bool local;
    } cases[] = {
        {"PENSTOCK_EDGE=nginx", "127.0.0.1", "X=", true},
        {"PENSTOCK_EDGE=nginx", "127.8.9.1", "X=", true},
        {"PENSTOCK_EDGE=nginx", "::1", "X=", true},
        {"PENSTOCK_EDGE=nginx", "::ffff:127.0.0.1", "X=", true},
        {"PENSTOCK_EDGE=nginx", "unix:", "X=", false},
        {"PENSTOCK_EDGE=nginx", "10.0.0.1", "X=", false},
        {"PENSTOCK_EDGE=nginx", "", "X=", false},
        {"PENSTOCK_EDGE=", "127.0.0.1", "X=", false},
        {"HTTP_PENSTOCK_EDGE=nginx", "127.0.0.1", "X=", false},
        {"PENSTOCK_EDGE=nginx", "127.0.0.1", "HTTP_X_FORWARDED_FOR=1", false},
        {"PENSTOCK_EDGE=nginx", "127.0.0.1", "HTTP_X_FORWARDED_HOST=a", false},
        {"PENSTOCK_EDGE=nginx", "127.0.0.1", "HTTP_X_REAL_IP=1", false},
        {"PENSTOCK_EDGE=nginx", "127.0.0.1", "HTTP_FORWARDED=for=1", false},
        {"PENSTOCK_EDGE=nginx", "127.0.0.1", "HTTP_VIA=1.1 x", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char addr[64], edge[64], extra[64];
        const char *p[] = {"REQUEST_METHOD=GET", "REQUEST_URI=/", edge, addr, extra,
                     NULL};
        struct http_req r;

        snprintf(addr, sizeof(addr), "REMOTE_ADDR=%s", cases[i].addr);
        snprintf(edge, sizeof(edge), "%s", cases[i].edge);
        snprintf(extra, sizeof(extra), "%s", cases[i].extra);
        ok(!params(&r, a, p) && r.local == cases[i].local,
           "%s %s %s is %slocal", edge, addr, extra,
           cases[i].local ? "" : "not ");
    }
}

static void test_caps(struct arena *a)
{
    char *big = mem_zalloc(REQ_PARAM_BYTES + 64);
    const char **many = mem_array(const char *, REQ_PARAMS_MAX + 2);
    const char *p[] = {"REQUEST_METHOD=GET", "REQUEST_URI=/", big, NULL};
    struct http_req r;

    memset(big, 'x', REQ_PARAM_BYTES - 100);
    memcpy(big, "HTTP_REFERER=", 13);
    ok(!params(&r, a, p) && r.referer.n == REQ_PARAM_BYTES - 113,
       "a long value arrives whole");
    memset(big, 'x', REQ_PARAM_BYTES);
    is_int(params(&r, a, p), ST_INVALID, "over the cap");
    for (size_t i = 0; i <= REQ_PARAMS_MAX; i++)
        many[i] = "A=b";
    is_int(params(&r, a, many), ST_INVALID, "too many");
    free(many);
    free(big);
}

static enum st body(struct http_req *r, struct buf *b, const char *s,
                    size_t step, bool cut, uint64_t cap)
{
    struct feed f = {s, strlen(s), step, cut};
    const struct req_source from = {feed_read, feed_ended, &f};

    buf_release(b);
    return req_body(r, b, cap, &from, NULL);
}

static void test_body(void)
{
    struct http_req r = {.has_length = true, .content_length = 10};
    struct http_req open_end = {0};
    struct buf b;

    buf_init(&b, 0);
    ok(!body(&r, &b, "0123456789", 3, false, 10) && r.body.n == 10, "exact");
    is_int(body(&r, &b, "012345678", 3, false, 10), ST_INVALID, "short");
    is_int(body(&r, &b, "0123456789", 3, true, 10), ST_INVALID, "cut off");
    is_int(body(&r, &b, "01234567890", 3, false, 99), ST_INVALID, "long");
    is_int(body(&r, &b, "0123456789", 3, false, 9), ST_TOO_LARGE, "declared");
    ok(!body(&open_end, &b, "0123456789", 4, false, 10), "without a length");
    is_int(body(&open_end, &b, "0123456789", 4, false, 9), ST_TOO_LARGE,
           "over the cap while reading");
    ok(!body(&open_end, &b, "", 4, false, 0) && open_end.body.s, "empty");
    buf_release(&b);
}

int main(void)
{
    struct arena a;

    arena_init(&a, 1u << 20);
    test_fields(&a);
    test_local(&a);
    test_caps(&a);
    test_body();
    arena_release(&a);
    return done();
}
