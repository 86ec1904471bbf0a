#include "config.h"
#include "gram/expr_int.h"

#include <string.h>

const struct gx *gx_list(struct gxs *w, const struct gx *const *of,
                         const bool *required, size_t n,
                         const struct gx *between, const struct gx *more)
{
    struct gx *x = gxs_alloc(w, 1, sizeof(*x));
    struct gx_list *l = gxs_alloc(w, 1, sizeof(*l));
    const struct gx **copy = gxs_alloc(w, n + 1, sizeof(*copy));
    bool *flags = gxs_alloc(w, n + 1, sizeof(*flags));

    if (!x || !l || !copy || !flags || !gxs_work(w, n + 1))
        return gx_none(w);
    *l = (struct gx_list){copy, flags, between, more, n, 0};
    x->kind = GXK_LIST;
    x->has = between->has | more->has;
    x->list = l;
    for (size_t i = 0; i < n; i++) {
        copy[i] = of[i];
        flags[i] = required[i];
        x->has |= of[i]->has;
        if (required[i])
            l->free = i + 1;
    }
    return x;
}
