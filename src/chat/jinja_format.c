#include "chat/format_int.h"

enum st format_jinja(struct format **out, const struct jinja_source *s,
                     const struct tok *t, struct err *e)
{
    *out = NULL;
    (void)s;
    (void)t;
    return err_set(e, ST_UNSUPPORTED, "chat format",
                   "Jinja templates are not in this version");
}
