/*
 * api/live_view.h - what the parts of the live page share (internal to
 * live_view.c and live_rows.c).
 */
#ifndef API_LIVE_VIEW_H
#define API_LIVE_VIEW_H

#include "api/context.h"
#include "api/live.h"
#include "json/write.h"

#define LIVE_LABEL 192

struct view { /* what every part of the page needs */
    struct api *api;
    const struct shot *shot;
    struct gen_limits limits;
    struct gen_state gen;
};

/* One element of "requests" and "recent". */
void live_row_write(struct jw *w, const struct live_row *r,
                    const struct view *v);

int64_t view_ms(int64_t us); /* not below 0 */
/* A member that is null when it is below 0, or empty. */
void view_int(struct jw *w, const char *key, int64_t v);
void view_str(struct jw *w, const char *key, const char *s);

#endif
