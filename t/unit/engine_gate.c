/*
 * The memory gate: levels in their order, each asked for what is missing by
 * then; who waits, who is refused, and in which figures.
 */
#include "engine/gate.h"

#include "t/lib/tap.h"

#define MIB ((size_t)1 << 20)
#define LEVELS 4

/* What each level can give, in MiB, and what it was asked for. */
static struct memory m;
static size_t has[LEVELS], asked[LEVELS], more;
static char order[LEVELS + 1];

static size_t give(int level, size_t bytes)
{
    size_t n = bytes < has[level] ? bytes : has[level];

    asked[level] = bytes;
    order[strlen(order)] = (char)('1' + level);
    has[level] -= n;
    memory_set(&m, MEM_PREFIX, has[0] + has[1] + has[2] + has[3]);
    memory_set(&m, MEM_OTHER, more); /* somebody else grew meanwhile */
    return n;
}

static size_t give_1(void *arg, size_t bytes)
{
    return arg == order ? give(0, bytes) : 0;
}

static size_t give_2(void *arg, size_t bytes)
{
    return arg == order ? give(1, bytes) : 0;
}

static size_t give_3(void *arg, size_t bytes)
{
    return arg == order ? give(2, bytes) : 0;
}

static size_t give_4(void *arg, size_t bytes)
{
    return arg == order ? give(3, bytes) : 0;
}

static const struct row {
    const char *name;
    size_t kv, has[LEVELS], more; /* MiB held */
    size_t need;
    bool settle, others;
    enum gate_answer answer;
    const char *order;     /* which levels were asked */
    size_t asked[LEVELS];  /* for how much */
    size_t held;           /* afterwards */
} rows[] = {
    /* peak 100, ceiling 80 */
    {"what fits asks nobody", 50, {10}, 0, 40, false, false, GATE_OK, "",
     {0}, 60},
    {"exactly the peak fits", 50, {10}, 0, 40, false, true, GATE_OK, "", {0},
     60},
    {"the first level is enough", 50, {10, 20}, 0, 30, false, false, GATE_OK,
     "1", {10}, 70},
    {"the second gives what the first had not", 50, {10, 20}, 0, 40, false,
     false, GATE_OK, "12", {20, 10}, 60},
    {"an empty level is passed", 50, {0, 0, 0, 30}, 0, 40, false, false,
     GATE_OK, "1234", {20, 20, 20, 20}, 60},
    {"all of them", 50, {5, 5, 5, 5}, 0, 50, false, false, GATE_OK, "1234",
     {20, 15, 10, 5}, 50},
    {"not enough: who is alone is refused", 50, {5, 5}, 0, 51, false, false,
     GATE_REFUSED, "1234", {11, 6, 1, 1}, 50},
    {"not enough: with others it waits", 50, {5, 5}, 0, 51, false, true,
     GATE_WAIT, "1234", {11, 6, 1, 1}, 50},
    {"what others take meanwhile counts", 50, {10, 10, 10}, 7, 30, false,
     false, GATE_OK, "12", {10, 7}, 70},
    {"held over the peak, nothing needed", 110, {0}, 0, 0, false, false,
     GATE_REFUSED, "1234", {10, 10, 10, 10}, 110},
    {"settled: nothing to do", 80, {0}, 0, 0, true, false, GATE_OK, "", {0},
     80},
    {"settled: under the ceiling", 60, {10, 20}, 0, 0, true, false, GATE_OK,
     "1", {10}, 80},
    {"settled: as far as it goes", 90, {2, 2}, 0, 0, true, false, GATE_OK,
     "1234", {14, 12, 10, 10}, 90},
};

static void table(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *r = &rows[i];
        struct gate g = {
            .memory = &m,
            .level = {{"free", give_1, 0},
                      {"states", give_2, 0},
                      {"disk", give_3, 0},
                      {"pages", give_4, 0}},
            .n_levels = LEVELS,
            .arg = order,
        };
        enum gate_answer got = GATE_OK;
        size_t given = 0, sum = 0;
        int wrong = 0;

        if (memory_init(&m, 80 * MIB, 100 * MIB, 0, NULL))
            return;
        memory_set(&m, MEM_KV, r->kv * MIB);
        for (int k = 0; k < LEVELS; k++) {
            has[k] = r->has[k] * MIB;
            sum += has[k];
            asked[k] = 0;
        }
        memory_set(&m, MEM_PREFIX, sum);
        memset(order, 0, sizeof(order));
        more = r->more * MIB;
        if (r->settle)
            gate_settle(&g);
        else
            got = gate_ask(&g, r->need * MIB, r->others, NULL);
        is_int(got, r->answer, "%s", r->name);
        is_str(order, r->order, "... asks in this order");
        for (int k = 0; k < LEVELS; k++) {
            wrong += asked[k] != r->asked[k] * MIB;
            given += g.level[k].given;
        }
        is_int(wrong, 0, "... for what is missing");
        is_int(memory_held(&m), r->held * MIB, "... and so much is held");
        is_int(given, sum - (has[0] + has[1] + has[2] + has[3]),
               "... counted");
        is_int(g.waits, r->answer == GATE_WAIT, "... as waiting");
        is_int(g.refusals, r->answer == GATE_REFUSED, "... or refused");
    }
}

static void words(void)
{
    struct gate g = {.memory = &m};
    struct err e = {0};

    is_int(memory_init(&m, 0, 512 * MIB, 0, NULL), ST_OK, "512 MiB");
    memory_set(&m, MEM_WEIGHTS, 200 * MIB);
    memory_set(&m, MEM_KV, 250 * MIB - 5);
    is_int(gate_ask(&g, 100 * MIB, false, &e), GATE_REFUSED, "refused");
    is_int(e.st, ST_NOMEM, "for want of memory");
    is_str(e.text,
           "not enough memory for this request: 450 MiB are held and 100 MiB "
           "needed; peak 512 MiB: weights 200, kv 250",
           "with held, needed and peak");
    memset(&e, 0, sizeof(e));
    is_int(gate_ask(&g, 100 * MIB, true, &e), GATE_WAIT, "who waits");
    is_int(e.st, ST_OK, "has no error");
    is_int(gate_ask(&g, SIZE_MAX, false, &e), GATE_REFUSED, "any number");
    memory_set(&m, MEM_KV, SIZE_MAX);
    is_int(gate_ask(&g, SIZE_MAX, false, &e), GATE_REFUSED, "or account");
    is_int(gate_ask(&g, 0, false, NULL), GATE_REFUSED, "without an error");
    is_int(g.refusals, 4, "four were refused");
    is_int(g.waits, 1, "one waited");
}

/* What was refused elsewhere: all of it, or nothing. */
static void room(void)
{
    struct gate g = {
        .memory = &m,
        .level = {{"free", give_1, 0}, {"pages", give_2, 0}},
        .n_levels = 2,
        .arg = order,
    };

    is_int(memory_init(&m, 80 * MIB, 100 * MIB, 0, NULL), ST_OK, "100 MiB");
    memset(order, 0, sizeof(order));
    more = 0;
    memset(has, 0, sizeof(has));
    has[0] = has[1] = 20 * MIB;
    memory_set(&m, MEM_KV, 50 * MIB);
    memory_set(&m, MEM_PREFIX, 40 * MIB);
    gate_room(&g, 10 * MIB);
    is_str(order, "", "what fits asks nobody");
    gate_room(&g, 51 * MIB);
    gate_room(&g, SIZE_MAX);
    is_str(order, "", "what would not fit without caches takes none of them");
    gate_room(&g, 35 * MIB);
    is_str(order, "12", "what would fit does");
    is_int(memory_held(&m), 65 * MIB, "no more than it needs");
    ok(memory_reserve(&m, 35 * MIB), "and then it does");
    is_int(g.waits + g.refusals, 0, "nobody waited here");
}

int main(void)
{
    room();
    table();
    words();
    return done();
}
