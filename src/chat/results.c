#include "chat/format_int.h"

enum st format_sort_results(const struct chat_msg **out,
                            const struct chat_req *r, struct arena *a,
                            struct err *e)
{
    (void)a;
    (void)e;
    *out = r->messages;
    return ST_OK;
}
