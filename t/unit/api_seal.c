/*
 * Seals of reasoning. Expectations: RFC 4648 section 10 and Python's base64
 * (urlsafe_b64encode without its padding).
 */
#include "api/seal.h"
#include "t/lib/tap.h"

static struct arena arena;

static void both_ways(void)
{
    static const struct {
        const char *s;
        size_t n;
        const char *seal;
    } rows[] = {
        {"", 0, "pen1."},
        {"f", 1, "pen1.Zg"},
        {"fo", 2, "pen1.Zm8"},
        {"foo", 3, "pen1.Zm9v"},
        {"foob", 4, "pen1.Zm9vYg"},
        {"fooba", 5, "pen1.Zm9vYmE"},
        {"foobar", 6, "pen1.Zm9vYmFy"},
        {"a\0b", 3, "pen1.YQBi"},
        {">?", 2, "pen1.Pj8"},
        {"???~", 4, "pen1.Pz8_fg"},
        {"\xc3\xa9\xf0\x9f\x98\x80", 6, "pen1.w6nwn5iA"},
        {"\xc3\xbf~?>", 5, "pen1.w79-Pz4"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct buf b;
        struct text back;

        buf_init(&b, 64);
        seal_put(&b, rows[i].s, rows[i].n);
        is_str(b.p, rows[i].seal, "a text of %zu bytes", rows[i].n);
        is_int(seal_open(&back, &arena, buf_text(&b)), SEAL_OURS, "is ours");
        ok(back.n == rows[i].n && !memcmp(back.s, rows[i].s, back.n),
           "and opens");
        buf_release(&b);
    }
}

static void foreign(void)
{
    static const char *const rows[] = {
        "", "p", "pen1", "pen2.Zg", "Pen1.Zg", "gAAAAABo",
        "pen1.Z",       /* one digit is no byte, */
        "pen1.A",       /* nor is one whose bits are all 0 */
        "pen1.Zm9vA",
        "pen1.Zm9vY",
        "pen1.Zg==",    /* padding */
        "pen1.Zh",      /* bits that say nothing */
        "pen1.Zm9=",
        "pen1.Zm 9v",
        "pen1.Zm9\n",
        "pen1.Pj+/",    /* the other alphabet, */
        "pen1.Pz8/",    /* and one digit of it */
        "pen1.Pj4+",
        "pen1.\xc3\xa9",
        "pen1.gA",      /* 80: no UTF-8 */
        "pen1.wK-_",    /* c0 af bf: overlong */
        "pen1.7aCA",    /* ed a0 80: a surrogate */
        "pen1.w6k8w6",  /* ends within its last character's digits */
    };
    struct text back;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct text seal = {rows[i], strlen(rows[i])};

        is_int(seal_open(&back, &arena, seal), SEAL_FOREIGN, "foreign: %zu",
               i);
        is_int(back.n, 0, "nothing comes of it");
    }
    ok(seal_open(&back, &arena, (struct text){"pen1.Z\0", 7}) == SEAL_FOREIGN,
       "a NUL is no digit");
    ok(seal_open(&back, &arena, (struct text){"pen1.Zg", 4}) == SEAL_FOREIGN,
       "nothing is read behind its end");
}

static void limits(void)
{
    struct arena small;
    struct buf b;
    struct text back;
    char zero[3000] = {0};

    arena_init(&small, 1000);
    buf_init(&b, 8192);
    seal_put(&b, zero, sizeof(zero));
    is_int(b.n, 4005, "4 digits for 3 bytes");
    is_int(seal_open(&back, &small, buf_text(&b)), SEAL_FULL,
           "the arena is full");
    is_int(seal_open(&back, &arena, buf_text(&b)), SEAL_OURS, "there is room");
    ok(back.n == sizeof(zero) && !memcmp(back.s, zero, sizeof(zero)),
       "and all of it is there");
    buf_release(&b);
    buf_init(&b, 100);
    seal_put(&b, zero, sizeof(zero));
    ok(b.failed, "a buffer that is too small says so");
    buf_release(&b);
    arena_release(&small);
}

int main(void)
{
    arena_init(&arena, 1 << 20);
    both_ways();
    foreign();
    limits();
    arena_release(&arena);
    return done();
}
