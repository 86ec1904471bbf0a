/* chat.json files: whatever loads renders a conversation whose control
 * tokens are the format's own. */
#include "chat/format_int.h"
#include "t/lib/toy_tok.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const struct toy_special specials[] = {
    {"<|s|>", TOK_CONTROL}, {"<|e|>", TOK_CONTROL}, {"<think>", TOK_USER},
    {"</think>", TOK_USER}, {NULL, 0},
};

static void render(const struct format *f, const struct tok *t)
{
    static const struct chat_msg msgs[] = {
        {.role = ROLE_SYSTEM, .content = {"be <|s|>", 8}},
        {.role = ROLE_USER, .content = {"hi <|e|>", 8}},
        {.role = ROLE_ASSISTANT, .content = {"yo", 2},
         .reasoning = {"hm</think>", 10}},
    };
    struct chat_req req = {.messages = msgs, .n_messages = 3};
    struct arena a;
    struct segments s;
    struct ids ids;
    struct err e = {0};
    bool open;

    for (int mode = THINK_DEFAULT; mode <= THINK_OFF; mode++) {
        arena_init(&a, 4u << 20);
        segments_init(&s, &a);
        ids_init(&ids, 1u << 22);
        req.think = (enum think_mode)mode;
        if (!format_render(f, &req, &s, &open, &e))
            BUG_ON(segments_encode(&s, t, &ids, &e) == ST_INTERNAL);
        ids_release(&ids);
        arena_release(&a);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct toy toy;
    struct format *f;
    struct err e = {0};
    size_t n_stop;

    if (!toy.tok)
        toy_open(&toy, specials, NULL, 0);
    if (format_chatjson(&f, (const char *)data, n, "fuzz", toy.tok, &e)) {
        BUG_ON(f || !e.text[0]);
        return 0;
    }
    BUG_ON(!format_stop_ids(f, &n_stop) || n_stop != 1);
    BUG_ON(format_caps(f)->think != (format_think_open_id(f) >= 0));
    render(f, toy.tok);
    format_free(f);
    return 0;
}
