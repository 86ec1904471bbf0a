/*
 * The table of fields against the parser: every row, whatever its kind, and
 * the rules of sampling, penalties, biases and log-probabilities value by
 * value. Expectations: OpenAI's API reference; public trouble reports by their
 * case numbers.
 */
#include "api/body.h"
#include "api/compat.h"
#include "t/lib/tap.h"

#include <math.h>

#define OKAY NULL
#define M "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
#define P "\"prompt\":\"hi\""

static struct arena arena;
static struct body body;
static struct err err;

static enum st parse(enum compat_wire wire, const char *members)
{
    static char json[300000];
    int n = snprintf(json, sizeof(json), "{%s,%s}", wire ? P : M, members);
    struct text t = {json, (size_t)n};

    err = (struct err){0};
    arena_release(&arena);
    arena_init(&arena, 4u << 20);
    return wire ? body_parse_completion(&body, &arena, t, &err)
                : body_parse_chat(&body, &arena, t, &err);
}

static const struct row {
    enum compat_wire wire;
    const char *members;
    const char *where; /* NULL: accepted */
} rows[] = {
    /* penalties */
    {0, "\"presence_penalty\":2", OKAY},
    {0, "\"presence_penalty\":-2.0", OKAY},
    {0, "\"presence_penalty\":2.0001", "presence_penalty"},
    {0, "\"presence_penalty\":-2.0001", "presence_penalty"},
    {0, "\"frequency_penalty\":2.0001", "frequency_penalty"},
    {0, "\"presence_penalty\":\"1\"", "presence_penalty"},
    {0, "\"presence_penalty\":true", "presence_penalty"},
    {0, "\"frequency_penalty\":-2.1", "frequency_penalty"},
    {0, "\"frequency_penalty\":1e400", "frequency_penalty"},
    {0, "\"frequency_penalty\":0.5", OKAY},
    {1, "\"frequency_penalty\":3", "frequency_penalty"},
    {0, "\"repetition_penalty\":0", "repetition_penalty"},
    {0, "\"repetition_penalty\":-1", "repetition_penalty"},
    {0, "\"repetition_penalty\":1e400", "repetition_penalty"},
    {0, "\"repetition_penalty\":100.5", "repetition_penalty"},
    {0, "\"repetition_penalty\":100", OKAY},
    {0, "\"min_p\":1", OKAY},
    {0, "\"min_p\":1.0001", "min_p"},
    {0, "\"repetition_penalty\":1e-300", OKAY},
    {0, "\"repetition_penalty\":1.1", OKAY},
    {1, "\"repetition_penalty\":[1]", "repetition_penalty"},
    {0, "\"no_repeat_ngram_size\":0", OKAY},
    {0, "\"no_repeat_ngram_size\":1", "no_repeat_ngram_size"},
    {0, "\"no_repeat_ngram_size\":2", OKAY},
    {0, "\"no_repeat_ngram_size\":64", OKAY},
    {0, "\"no_repeat_ngram_size\":65", "no_repeat_ngram_size"},
    {0, "\"no_repeat_ngram_size\":-2", "no_repeat_ngram_size"},
    {0, "\"no_repeat_ngram_size\":2.5", "no_repeat_ngram_size"},
    {0, "\"draft_temperature\":2", OKAY},
    {0, "\"draft_temperature\":2.1", "draft_temperature"},
    {1, "\"draft_temperature\":\"0\"", "draft_temperature"},
    /* biases; ids are looked up in the vocabulary at admission */
    {0, "\"logit_bias\":{}", OKAY},
    {0, "\"logit_bias\":null", OKAY},
    {0, "\"logit_bias\":[]", "logit_bias"},
    {0, "\"logit_bias\":7", "logit_bias"},
    {0, "\"logit_bias\":{\"0\":100,\"2147483647\":-100.0}", OKAY},
    {0, "\"logit_bias\":{\"2147483648\":1}", "logit_bias"},
    {0, "\"logit_bias\":{\"99999999999999999999\":1}", "logit_bias"},
    {0, "\"logit_bias\":{\"x\":1}", "logit_bias"},
    {0, "\"logit_bias\":{\"\":1}", "logit_bias"},
    {0, "\"logit_bias\":{\"-1\":1}", "logit_bias"},
    {0, "\"logit_bias\":{\"+1\":1}", "logit_bias"},
    {0, "\"logit_bias\":{\"01\":1}", "logit_bias"},
    {0, "\"logit_bias\":{\"00\":1}", "logit_bias"},
    {0, "\"logit_bias\":{\" 1\":1}", "logit_bias"},
    {0, "\"logit_bias\":{\"1.0\":1}", "logit_bias"},
    {0, "\"logit_bias\":{\"1e1\":1}", "logit_bias"},
    {0, "\"logit_bias\":{\"1\\u0000\":1}", "logit_bias"},
    {0, "\"logit_bias\":{\"1\":101}", "logit_bias"},
    {0, "\"logit_bias\":{\"1\":-100.01}", "logit_bias"},
    {0, "\"logit_bias\":{\"1\":1e400}", "logit_bias"},
    {0, "\"logit_bias\":{\"1\":true}", "logit_bias"},
    {0, "\"logit_bias\":{\"1\":null}", "logit_bias"},
    {0, "\"logit_bias\":{\"1\":\"5\"}", "logit_bias"},
    {1, "\"logit_bias\":{\"1\":5}", OKAY},
    {1, "\"logit_bias\":{\"x\":5}", "logit_bias"},
    /* log-probabilities (C31) */
    {0, "\"logprobs\":true", OKAY},
    {0, "\"logprobs\":false,\"top_logprobs\":0", OKAY},
    {0, "\"logprobs\":\"yes\"", "logprobs"},
    {0, "\"logprobs\":1", "logprobs"},
    {0, "\"logprobs\":true,\"top_logprobs\":0", OKAY},
    {0, "\"logprobs\":true,\"top_logprobs\":20", OKAY},
    {0, "\"logprobs\":true,\"top_logprobs\":21", "top_logprobs"},
    {0, "\"logprobs\":true,\"top_logprobs\":-1", "top_logprobs"},
    {0, "\"logprobs\":true,\"top_logprobs\":true", "top_logprobs"},
    {0, "\"top_logprobs\":3", "top_logprobs"},
    {0, "\"logprobs\":false,\"top_logprobs\":3", "top_logprobs"},
    {0, "\"logprobs\":null,\"top_logprobs\":3", "top_logprobs"},
    {0, "\"top_logprobs\":null", OKAY},
    {1, "\"logprobs\":0", OKAY},
    {1, "\"logprobs\":5", OKAY},
    {1, "\"logprobs\":6", "logprobs"},
    {1, "\"logprobs\":-1", "logprobs"},
    {1, "\"logprobs\":true", "logprobs"},
    {1, "\"logprobs\":null,\"top_logprobs\":99", OKAY},
    /* choices of text */
    {0, "\"structured_outputs\":{\"choice\":[\"a\",\"b\",\"a\"]}", OKAY},
    {0, "\"structured_outputs\":{\"choice\":[\"a\",\"\"]}",
     "structured_outputs.choice[1]"},
    {0, "\"structured_outputs\":{\"choice\":[\"a\",\"b\",3]}",
     "structured_outputs.choice[2]"},
    {0, "\"structured_outputs\":{\"choice\":{\"a\":1}}",
     "structured_outputs.choice"},
    {0, "\"structured_outputs\":{\"choice\":[\"a\"]},"
        "\"response_format\":{\"type\":\"json_object\"}",
     "structured_outputs"},
    {0, "\"structured_outputs\":{\"choice\":[\"a\"]},"
        "\"response_format\":{\"type\":\"text\"}", OKAY},
    {0, "\"structured_outputs\":{\"choice\":[\"a\"],\"regex\":\"a\"}",
     "structured_outputs"},
    {0, "\"structured_outputs\":{\"choice\":[\"a\"],"
        "\"json_object\":false}", OKAY},
    {0, "\"structured_outputs\":{\"json\":{},\"json_object\":true}",
     "structured_outputs"},
    {0, "\"structured_outputs\":{\"json_object\":false}",
     "structured_outputs"},
    {0, "\"structured_outputs\":{\"regex\":\"\"}", OKAY},
    {1, "\"structured_outputs\":{\"regex\":\"a\"}", OKAY},
    {0, "\"structured_outputs\":{\"regex\":[\"a\"]}",
     "structured_outputs.regex"},
    {1, "\"structured_outputs\":{\"json\":{\"type\":\"object\"}}", OKAY},
    {0, "\"structured_outputs\":{\"json\":true}", "structured_outputs.json"},
    {0, "\"structured_outputs\":{\"json_object\":1}",
     "structured_outputs.json_object"},
    {0, "\"structured_outputs\":{\"json_object\":true},"
        "\"response_format\":{\"type\":\"json_object\"}",
     "structured_outputs"},
    {0, "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":"
        "{\"strict\":1,\"schema\":{}}}",
     "response_format.json_schema.strict"},
    {0, "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":"
        "{\"name\":1,\"schema\":{}}}",
     "response_format.json_schema.name"},
    {0, "\"structured_outputs\":{\"grammar\":\"root\"}",
     "structured_outputs.grammar"},
    {0, "\"structured_outputs\":{\"choice\":null}", "structured_outputs"},
    {1, "\"structured_outputs\":{\"choice\":[\"a\",\"b\"]}", OKAY},
    /* whole numbers, however they are written */
    {0, "\"max_tokens\":5.0", OKAY},
    {0, "\"max_tokens\":1e2", OKAY},
    {0, "\"max_tokens\":5.5", "max_tokens"},
    {0, "\"max_tokens\":1e30", "max_tokens"},
    {0, "\"max_tokens\":-0", "max_tokens"},
    {0, "\"max_tokens\":5.0,\"max_completion_tokens\":5", OKAY},
    {0, "\"n\":2.0", OKAY},
    {0, "\"seed\":-0", OKAY},
    {0, "\"seed\":1e400", "seed"},
    {1, "\"n\":2,\"best_of\":2.0", OKAY},
    {1, "\"best_of\":0", "best_of"},
    {1, "\"n\":16,\"best_of\":17", "best_of"},
    {1, "\"best_of\":true", "best_of"},
    {1, "\"best_of\":2", "best_of"},
    {1, "\"n\":3,\"best_of\":1", OKAY},
    /* within fields, what is not in the table passes too */
    {0, "\"stream_options\":{\"include_obfuscation\":false,\"x\":[]}", OKAY},
    {0, "\"response_format\":{\"type\":\"text\",\"x\":1}", OKAY},
    {1, "\"response_format\":{\"type\":\"json_object\"}",
     "response_format.type"},
    /* several faults: the order of the table, then that of body.c */
    {0, "\"top_k\":-1,\"temperature\":3", "temperature"},
    {0, "\"logit_bias\":7,\"top_logprobs\":3", "top_logprobs"},
    {0, "\"logit_bias\":7,\"verbosity\":\"low\"", "verbosity"},
    {0, "\"tool_choice\":\"x\",\"top_logprobs\":3", "top_logprobs"},
    {0, "\"structured_outputs\":{},\"tool_choice\":\"x\"", "tool_choice"},
    {0, "\"no_repeat_ngram_size\":1,\"tool_choice\":\"x\"", "tool_choice"},
    {0, "\"tool_choice\":\"x\",\"response_format\":{}",
     "response_format.type"},
    {0, "\"response_format\":{},\"n\":2,\"stream\":true", "n"},
};

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *r = &rows[i];
        enum st st = parse(r->wire, r->members);
        bool pass = !r->where ? st == ST_OK
                              : st == ST_INVALID && err.text[0] &&
                                    !strcmp(err.where, r->where);

        if (!ok(pass, "%s: %s", r->where ? r->where : "accepted", r->members))
            printf("#   got %s '%s' '%s'\n", st_name(st), err.where, err.text);
    }
}

/* Put the value at a dotted name. */
static const char *at(const char *name, const char *value)
{
    static char json[300];
    size_t used = 0, n, levels = 0;

    for (;; name += n + 1, levels++) {
        n = strcspn(name, ".");
        used += (size_t)snprintf(json + used, sizeof(json) - used,
                                 "%s\"%.*s\":", levels ? "{" : "", (int)n,
                                 name);
        if (!name[n])
            break;
    }
    used += (size_t)snprintf(json + used, sizeof(json) - used, "%s", value);
    while (levels--)
        used += (size_t)snprintf(json + used, sizeof(json) - used, "}");
    return json;
}

/* Did the table refuse it? Other rules have other words. */
static bool refused(const struct compat_field *f)
{
    return !strcmp(err.where, f->name) &&
           !strncmp(err.text, "accepted is ", 12);
}

/* What a row says is what happens: a value of every type, the ends of every
 * range. Rows without types have tests of their own. */
static void test_row(const struct compat_field *f, enum compat_wire w)
{
    static const struct {
        const char *json;
        unsigned type;
    } values[] = {
        {"true", TYPE_BOOL},
        {"\"zzz\"", TYPE_STR},
        {"[7]", 0},
        {"{\"q\":1}", TYPE_OBJ},
    };
    bool never = f->use[w] == USE_REFUSED;

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        enum st st = parse(w, at(f->name, values[i].json));

        if (f->use[w] == USE_NEUTRAL)
            is_int(st, ST_OK, "%s is neutral", f->name);
        else if (never || (f->types && !(f->types & values[i].type)))
            ok(st == ST_INVALID && refused(f), "%s: not %s", f->name,
               values[i].json);
        else if (f->types)
            ok(!refused(f), "%s: %s", f->name, values[i].json);
    }
    (void)parse(w, at(f->name, "null"));
    ok(!refused(f), "%s: null is absent", f->name);
}

static bool takes(const struct compat_field *f, enum compat_wire w, double d)
{
    char value[64];

    snprintf(value, sizeof(value), "%.17g", d);
    (void)parse(w, at(f->name, value));
    return !refused(f);
}

static void test_range(const struct compat_field *f, enum compat_wire w)
{
    double step = f->types & TYPE_INT ? 1 : 0.0001;

    if (!isinf(f->min)) {
        ok(!takes(f, w, f->min - step), "%s: below", f->name);
        ok(takes(f, w, f->min) == !f->above, "%s: the least", f->name);
        ok(takes(f, w, f->min + 2 * step), "%s: more", f->name);
    }
    if (!isinf(f->max)) {
        ok(!takes(f, w, f->max + step), "%s: above", f->name);
        ok(takes(f, w, f->max), "%s: the most", f->name);
    }
    (void)parse(w, at(f->name, "1e400"));
    ok(refused(f), "%s: infinite", f->name);
    (void)parse(w, at(f->name, "0.5"));
    ok(refused(f) == (f->types & TYPE_INT || f->min > 0.5),
       "%s: a fraction", f->name);
}

static void test_words(const struct compat_field *f, enum compat_wire w)
{
    for (size_t i = 0; f->words[i]; i++) {
        char value[40];

        snprintf(value, sizeof(value), "\"%s\"", f->words[i]);
        (void)parse(w, at(f->name, value));
        ok(!refused(f), "%s: %s", f->name, f->words[i]);
    }
}

static void test_table(void)
{
    size_t n;
    const struct compat_field *f = compat_fields(WIRE_CHAT, &n);

    ok(n >= 60, "sixty fields");
    for (size_t i = 0; i < n; i++)
        for (int w = 0; w <= WIRE_COMPLETION; w++) {
            bool used = f[i].use[w] == USE_HONOURED ||
                        f[i].use[w] == USE_EXTENSION;

            if (f[i].use[w] != USE_NONE)
                test_row(&f[i], (enum compat_wire)w);
            if (used && f[i].types & (TYPE_INT | TYPE_NUM))
                test_range(&f[i], (enum compat_wire)w);
            if (used && f[i].types & TYPE_WORD)
                test_words(&f[i], (enum compat_wire)w);
        }
}

/* A row of a member comes behind that of its object: else an object of the
 * wrong type would be named by nobody. */
static void test_parents(void)
{
    size_t n;
    const struct compat_field *f = compat_fields(WIRE_CHAT, &n);

    for (size_t i = 0; i < n; i++) {
        const char *dot = strrchr(f[i].name, '.');
        size_t len = dot ? (size_t)(dot - f[i].name) : 0;
        bool found = !dot;

        for (size_t k = 0; k < i && !found; k++)
            found = strlen(f[k].name) == len &&
                    !strncmp(f[k].name, f[i].name, len) &&
                    (f[k].types & TYPE_OBJ);
        ok(found, "%s: its object is a row before it", f[i].name);
    }
}

static void test_bias(void)
{
    char json[40000];
    size_t n = 0;

    is_int(parse(0, "\"logit_bias\":{\"30\":1.5,\"7\":0,\"4\":-100,"
                    "\"30\":2,\"8\":-0.0,\"9\":1e-300}"), ST_OK, "biases");
    ok(body.n_bias == 2 && body.bias[0].id == 4 && body.bias[1].id == 30,
       "ascending, without those that do nothing");
    ok(body.bias[0].value == -100 && body.bias[1].value == 2,
       "of a key that is there twice the last counts");
    is_int(parse(1, "\"logit_bias\":{\"3\":0}"), ST_OK, "nothing but zeros");
    ok(!body.n_bias && !body.bias, "is none");
    for (int most = BIAS_MAX; most <= BIAS_MAX + 1; most++) {
        n = (size_t)snprintf(json, sizeof(json), "\"logit_bias\":{");
        for (int i = most; i > 0; i--)
            n += (size_t)snprintf(json + n, sizeof(json) - n, "\"%d\":1%s",
                                  i, i > 1 ? "," : "}");
        is_int(parse(0, json), most > BIAS_MAX ? ST_INVALID : ST_OK,
               "%d biases", most);
        if (most == BIAS_MAX)
            ok(body.n_bias == BIAS_MAX && body.bias[0].id == 1,
               "all of them, sorted");
    }
}

static void test_values(void)
{
    is_int(parse(0, "\"presence_penalty\":0.5,\"frequency_penalty\":-1,"
                    "\"repetition_penalty\":1.25,"
                    "\"no_repeat_ngram_size\":3,\"logprobs\":true,"
                    "\"top_logprobs\":4"), ST_OK, "many fields");
    ok(body.sampling.presence == 0.5f && body.sampling.frequency == -1 &&
           body.sampling.repetition == 1.25f && body.no_repeat_ngram == 3,
       "penalties");
    ok(body.logprobs && body.top_logprobs == 4, "log-probabilities");
    is_int(parse(0, "\"logprobs\":true"), ST_OK, "C31: logprobs alone");
    ok(body.logprobs && !body.top_logprobs, "has no alternatives");
    is_int(parse(1, "\"logprobs\":0"), ST_OK, "of a completion 0");
    ok(body.logprobs && !body.top_logprobs, "is a wish, too");
    is_int(parse(1, "\"logprobs\":5"), ST_OK, "and 5");
    ok(body.logprobs && body.top_logprobs == 5, "is five");
    is_int(parse(0, "\"user\":\"u\""), ST_OK, "nothing asked");
    ok(!body.logprobs && !body.n_bias && !body.no_repeat_ngram &&
           body.sampling.presence == 0 && body.sampling.frequency == 0 &&
           body.sampling.repetition == 1, "is nothing");
    is_int(parse(0, "\"repetition_penalty\":1e-300"), ST_OK, "tiny");
    ok(body.sampling.repetition > 0 &&
           isfinite(1e4f / body.sampling.repetition),
       "a logit can be divided by it");
    is_int(parse(1, "\"structured_outputs\":{\"choice\":"
                    "[\"yes\",\"no\",\"yes\",\"a\\u0000\"]}"), ST_OK, "choices");
    ok(body.n_choice == 3 && text_is(body.choice[0], "yes") &&
           text_is(body.choice[1], "no") && body.choice[2].n == 2,
       "once each, in order");
    is_int(parse(0, "\"max_tokens\":1e2"), ST_OK, "1e2");
    is_int(body.max_tokens, 100, "is a hundred");
}

static void test_many_choices(void)
{
    char json[60000];
    size_t n;

    for (int most = CHOICES_MAX; most <= CHOICES_MAX + 1; most++) {
        n = (size_t)snprintf(json, sizeof(json),
                             "\"structured_outputs\":{\"choice\":[");
        for (int i = most; i > 0; i--)
            n += (size_t)snprintf(json + n, sizeof(json) - n, "\"%d\"%s", i,
                                  i > 1 ? "," : "]}");
        is_int(parse(0, json), most > CHOICES_MAX ? ST_INVALID : ST_OK,
               "%d choices", most);
    }
    is_str(err.where, "structured_outputs.choice", "too many");
}

/* Bytes of all choices together, and no byte of more is compared: what is
 * wrong further on is not reached. */
static void test_long_choices(void)
{
    static char json[CHOICE_BYTES_MAX + 100], x[CHOICE_BYTES_MAX];

    memset(x, 'x', sizeof(x) - 1);
    for (int more = 0; more <= 1; more++) {
        snprintf(json, sizeof(json), "\"structured_outputs\":{\"choice\":["
                 "\"%s\",\"%s\"%s]}", x, more ? "ab" : "a",
                 more ? ",1" : "");
        is_int(parse(0, json), more ? ST_INVALID : ST_OK,
               "%d KiB and %d bytes of choices", CHOICE_BYTES_MAX / 1024,
               more);
    }
    is_str(err.where, "structured_outputs.choice", "too much");
}

int main(void)
{
    arena_init(&arena, 4u << 20);
    test_rows();
    test_table();
    test_parents();
    test_bias();
    test_values();
    test_many_choices();
    test_long_choices();
    arena_release(&arena);
    return done();
}
