/* Settings: file, options, and messages that name place and range. */
#include "fcgi/conf.h"

#include "api/reason.h"
#include "t/lib/tap.h"

#include <unistd.h>

static char path[] = "/tmp/penstock-conf-XXXXXX";

static enum st load(struct conf *c, const char *text,
                    const char *const *more, int n, struct err *e)
{
    const char *argv[16] = {"penstockd", "--config", path};
    enum conf_do what;
    FILE *f = fopen(path, "w");

    fputs(text, f);
    fclose(f);
    for (int i = 0; i < n; i++)
        argv[3 + i] = more[i];
    return conf_load(c, &what, 3 + n, (char **)argv, e);
}

static void test_good(void)
{
    const char *more[] = {"--threads", "3", "--thinking=off"};
    struct conf c;
    struct err e;

    ok(!load(&c, "# comment\n\n  threads 2\nbody-max 2m  \r\nmodel a b.gguf\n"
                 "pattern-stop 64:2:8\nsocket-mode 0600\nlog-level warn\n"
                 "cors-origin HTTPS://A.example, http://[::1]:3000", more,
             3, &e),
       "a file and options");
    is_int(c.threads, 3, "the option wins");
    is_int(c.body_max, 2 << 20, "2m");
    is_int(c.socket_mode, 0600, "octal");
    is_int(c.pattern[0] * 10000 + c.pattern[1] * 100 + c.pattern[2], 640208,
           "pattern");
    is_int(c.log_level, 2, "level");
    is_str(c.model, "a b.gguf", "a value may hold spaces");
    is_str(c.cors_origin, "https://a.example, http://[::1]:3000",
           "origins as browsers write them");
    ok(!c.thinking, "--key=value");
    is_int(c.drain_timeout, 60, "a default");
    /* spec tandem.md 5.1 and 8; settled.md, comment lines */
    is_int(c.wait_line_ms, 10000, "a waiting line from 10 s");
    is_int(c.prefill_line_ms, 5000, "a prefill line from 5 s");
    is_int(c.request_timeout, 3600, "an hour for a request");
    is_int(c.max_queue, 64, "places in the queue");
    is_int(c.default_max_tokens, 4096, "the answer's limit");
    is_int(c.answer_reserve, -1, "auto");
    ok(c.think_stall && c.usage_default && c.structured_outputs,
       "on where nobody says off");
    is_str(c.reasoning_format, REASON_MAP_DEFAULT, "as a server without it");
    conf_release(&c);
}

static void test_bad(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"threads many\n", "from 0 to 256"},
        {"\nthreads 257\n", "from 0 to 256"},
        {"cpus 0-3,\n", "numbers of CPUs"},
        {"thread 2\n", "no key 'thread'"},
        {"thinking yes\n", "on or off"},
        {"body-max 1\n", "1024 to"},
        {"body-max 9999999999g\n", "1024 to"},
        {"socket-mode 0888\n", "octal"},
        {"socket-mode 1777\n", "octal"},
        {"pattern-stop 2:3:4\n", "MAX:MIN:COUNT"},
        {"pattern-stop 2:3\n", "MAX:MIN:COUNT"},
        {"pattern-stop 8:2:1\n", "COUNT from 2 to 64"},
        {"pattern-stop 8:2:65\n", "COUNT from 2 to 64"},
        {"answer-reserve some\n", "auto or a whole number from 0"},
        {"answer-reserve -1\n", "auto or a whole number from 0"},
        {"answer-reserve 16777217\n", "to 16777216"},
        {"log-level loud\n", "debug, info"},
        {"listen 127.0.0.1:65536\n", "1 to 65535"},
        {"listen 127.0.0.1\n", "HOST:PORT"},
        {"listen :9000\n", "HOST:PORT"},
        {"cors-origin https://a.example, b.example\n", "'b.example'"},
        {"cors-origin https://a.example/\n", "nothing behind it"},
        {"cors-origin https://a.example:443\n", "leave the scheme's own"},
        {"cors-origin https://a.example:0\n", "scheme://host:port"},
        {"cors-origin https://\n", "scheme://host"},
        {"cors-origin http://a@b.example\n", "scheme://host"},
        {"cors-origin http://a.example,*\n", "stands alone"},
        {"cors-origin http://a.example,\n", "not ''"},
        {"cors-origin null\n", "'null'"},
        {"cors-origin\n", "not ''"},
        {"model\n", "needs a value"},
        {"config x\n", "no key 'config'"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char where[64];
        struct conf c;
        struct err e = {0};

        is_int(load(&c, cases[i].text, NULL, 0, &e), ST_USAGE, "%s refused",
               cases[i].says);
        snprintf(where, sizeof(where), "%s:%d", path, i == 1 ? 2 : 1);
        is_str(e.where, where, "names the line");
        ok(strstr(e.text, cases[i].says), "says %s (%s)", cases[i].says,
           e.text);
        conf_release(&c);
    }
}

static void test_options(void)
{
    const char *unknown[] = {"--thread", "1"}, *missing[] = {"--threads"};
    const char *bare[] = {"model.gguf"};
    struct conf c;
    struct err e = {0};

    is_int(load(&c, "", unknown, 2, &e), ST_USAGE, "unknown option");
    conf_release(&c);
    is_int(load(&c, "", missing, 1, &e), ST_USAGE, "option without value");
    conf_release(&c);
    is_int(load(&c, "", bare, 1, &e), ST_USAGE, "a word that is no option");
    conf_release(&c);
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0)
        skip_all("no temporary file");
    close(fd);
    test_good();
    test_bad();
    test_options();
    unlink(path);
    return done();
}
