/* Pages: lowest first, shared by count, never lost. */
#include "kv/pages.h"

#include "t/lib/tap.h"

int main(void)
{
    struct kv_pages *p = kv_pages_new(3, 1000);

    is_int(kv_pages_take(p), 0, "the lowest page comes first");
    is_int(kv_pages_take(p), 1, "then the next");
    is_int(kv_pages_take(p), 2, "and the last");
    is_int(kv_pages_take(p), -1, "a full pool gives none");
    is_int(kv_pages_bytes(p), 3000, "bytes are those of the used ones");

    kv_pages_ref(p, 1);
    kv_pages_unref(p, 1);
    is_int(kv_pages_used(p), 3, "a shared page outlives one of its users");
    kv_pages_unref(p, 1);
    kv_pages_unref(p, 0);
    is_int(kv_pages_used(p), 1, "and not the last");
    is_int(kv_pages_take(p), 0, "a freed low page is next");
    is_int(kv_pages_take(p), 1, "also after the one below it");
    kv_pages_hold(p, 1);
    is_int(kv_pages_refs(p, 1), 2, "the tree's reference counts");
    is_int(kv_pages_idle(p), 0, "a page that is in use is not idle");
    kv_pages_unref(p, 1);
    is_int(kv_pages_idle(p), 1, "and is when only the tree holds it");
    kv_pages_ref(p, 1);
    is_int(kv_pages_idle(p), 0, "until somebody takes it up");
    kv_pages_let(p, 1);
    is_int(kv_pages_used(p), 3, "who uses it keeps it");
    kv_pages_hold(p, 1);
    kv_pages_unref(p, 1);
    kv_pages_let(p, 1);
    is_int(kv_pages_idle(p), 0, "let go, it is free");
    is_int(kv_pages_used(p), 2, "at last");
    is_int(kv_pages_total(p), 3, "the total never changes");
    kv_pages_free(p);

    p = kv_pages_new(0, 1);
    is_int(kv_pages_take(p), -1, "an empty pool gives none");
    kv_pages_free(p);
    return done();
}
