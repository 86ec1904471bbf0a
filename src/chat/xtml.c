#include "chat/format_int.h"

enum st format_xtml(struct format **out, const struct tok *t, struct err *e)
{
    *out = NULL;
    (void)t;
    return err_set(e, ST_UNSUPPORTED, "chat format",
                   "XTML are not in this version");
}
