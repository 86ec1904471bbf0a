/*
 * api/cache_stats.h - what is kept of earlier requests, as JSON (internal to
 * api). Members of open objects.
 */
#ifndef API_CACHE_STATS_H
#define API_CACHE_STATS_H

#include "gen/gen.h"
#include "json/write.h"

/* "prefix", "states" and "disk": every count of struct gen_cache. */
void cache_stats_members(struct jw *w, const struct gen_cache *c);

#endif
