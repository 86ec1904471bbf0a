#include "t/lib/handgram.h"

enum { LIST, STRING, WORD, RULES };
enum { L0, L1, L2, L3, L4, S0, S1, S2, SA, SB, SC, SD, SE, SF, SG, W0, W1, W2,
       W3, W4, W5, W6, STATES };

#define N GRAM_COUNTS
#define W GRAM_SPACE

static struct gram_edge edges[] = {
    /* L0: 0 */ {'[', '[', L1},
    /* L1: 1 */ {9, 10, L1 | W}, {13, 13, L1 | W}, {32, 32, L1 | W},
    /* L2: 4 */ {9, 10, L2 | W}, {13, 13, L2 | W}, {32, 32, L2 | W},
    {',', ',', L3}, {']', ']', L4},
    /* L3: 9 */ {9, 10, L3 | W}, {13, 13, L3 | W}, {32, 32, L3 | W},
    /* S0: 12 */ {'"', '"', S1},
    /* S1: 13 */ {0x20, 0x21, S1 | N}, {'"', '"', S2}, {0x23, 0x5b, S1 | N},
    {0x5d, 0x7f, S1 | N}, {0xc2, 0xdf, SA}, {0xe0, 0xe0, SB}, {0xe1, 0xec, SC},
    {0xed, 0xed, SD}, {0xee, 0xef, SC}, {0xf0, 0xf0, SE}, {0xf1, 0xf3, SF},
    {0xf4, 0xf4, SG},
    /* SA: 25 */ {0x80, 0xbf, S1 | N},
    /* SB: 26 */ {0xa0, 0xbf, SA},
    /* SC: 27 */ {0x80, 0xbf, SA},
    /* SD: 28 */ {0x80, 0x9f, SA},
    /* SE: 29 */ {0x90, 0xbf, SC},
    /* SF: 30 */ {0x80, 0xbf, SC},
    /* SG: 31 */ {0x80, 0x8f, SC},
    /* W0: 32 */ {'"', '"', W1},
    /* W1: 33 */ {'a', 'z', W2},
    /* W2: 34 */ {'a', 'z', W3},
    /* W3: 35 */ {'a', 'z', W4},
    /* W4: 36 */ {'"', '"', W5}, {'a', 'z', W4},
    /* W5: 38 */ {258, 258, W6},
};

static struct gram_call calls[] = {
    {LIST, L2 | N}, {STRING, L2 | N}, {WORD, L2 | N},
};

#define ANY GX_MANY
static struct gram_state states[STATES] = {
    [L0] = {.edges = 0, .n_edges = 1, .rule = LIST, .height = 1, .least = 1,
            .most = ANY},
    [L1] = {.edges = 1, .n_edges = 3, .n_calls = 3, .rule = LIST, .height = 1,
            .least = 1, .most = ANY},
    [L2] = {.edges = 4, .n_edges = 5, .rule = LIST, .height = 1, .most = ANY,
            .n_levels = 1},
    [L3] = {.edges = 9, .n_edges = 3, .n_calls = 3, .rule = LIST, .height = 1,
            .least = 1, .most = ANY},
    [L4] = {.rule = LIST, .accept = true},
    [S0] = {.edges = 12, .n_edges = 1, .rule = STRING, .most = ANY},
    [S1] = {.edges = 13, .n_edges = 12, .rule = STRING, .most = ANY},
    [S2] = {.rule = STRING, .accept = true},
    [SA] = {.edges = 25, .n_edges = 1, .rule = STRING, .least = 1, .most = ANY},
    [SB] = {.edges = 26, .n_edges = 1, .rule = STRING, .least = 1, .most = ANY},
    [SC] = {.edges = 27, .n_edges = 1, .rule = STRING, .least = 1, .most = ANY},
    [SD] = {.edges = 28, .n_edges = 1, .rule = STRING, .least = 1, .most = ANY},
    [SE] = {.edges = 29, .n_edges = 1, .rule = STRING, .least = 1, .most = ANY},
    [SF] = {.edges = 30, .n_edges = 1, .rule = STRING, .least = 1, .most = ANY},
    [SG] = {.edges = 31, .n_edges = 1, .rule = STRING, .least = 1, .most = ANY},
    [W0] = {.edges = 32, .n_edges = 1, .rule = WORD},
    [W1] = {.edges = 33, .n_edges = 1, .rule = WORD},
    [W2] = {.edges = 34, .n_edges = 1, .rule = WORD},
    [W3] = {.edges = 35, .n_edges = 1, .rule = WORD},
    [W4] = {.edges = 36, .n_edges = 2, .rule = WORD},
    [W5] = {.edges = 38, .n_edges = 1, .rule = WORD},
    [W6] = {.rule = WORD, .accept = true},
};

static struct gram_level levels[] = {{0, 0, 0}};

#define BIT(c) (UINT64_C(1) << ((c) & 63))
static struct gram_rule rules[RULES] = {
    [LIST] = {.start = L0, .counted = true, .min = 1, .max = 3, .least_max = 1,
              .height = 2, .first = {0, BIT('[')}},
    [STRING] = {.start = S0, .counted = true, .min = 0, .max = 5,
                .least_max = 1, .height = 1, .first = {BIT('"')}},
    [WORD] = {.start = W0, .max = ANY, .height = 1, .first = {BIT('"')}},
};

struct grammar handgram = {
    .states = states,
    .edges = edges,
    .calls = calls,
    .rules = rules,
    .levels = levels,
    .n_states = STATES,
    .n_edges = sizeof(edges) / sizeof(*edges),
    .n_calls = 3,
    .n_rules = RULES,
    .n_levels = 1,
    .root = LIST,
    .id = UINT64_C(1) << 60,
    .refs = 1,
};
