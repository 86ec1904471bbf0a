#include "kv/spool_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define ROOM 256

void spool_index_init(struct spool_index *x)
{
    *x = (struct spool_index){.unused = -1, .oldest = -1, .newest = -1};
}

void spool_index_release(struct spool_index *x)
{
    free(x->e);
    free(x->bucket);
    spool_index_init(x);
}

static int32_t *bucket_of(const struct spool_index *x,
                          const struct spool_digest *d)
{
    return &x->bucket[d->v[0] & (uint64_t)(x->room - 1)];
}

int32_t spool_index_find(const struct spool_index *x,
                         const struct spool_digest *d)
{
    int32_t i = x->room ? *bucket_of(x, d) : -1;

    while (i >= 0 && (x->e[i].d.v[0] != d->v[0] || x->e[i].d.v[1] != d->v[1]))
        i = x->e[i].hash_next;
    return i;
}

static void chain(struct spool_index *x, int32_t i)
{
    int32_t *b = bucket_of(x, &x->e[i].d);

    x->e[i].hash_next = *b;
    *b = i;
}

/* Called when all entries are in use. */
static bool grow(struct spool_index *x)
{
    int32_t old = x->room, room = old ? 2 * old : ROOM;
    struct spool_entry *e;
    int32_t *bucket;

    if (room > SPOOL_ENTRIES)
        return false;
    e = mem_try_array((size_t)room, sizeof(*e));
    bucket = mem_try_array((size_t)room, sizeof(*bucket));
    if (!e || !bucket) {
        free(e);
        free(bucket);
        return false;
    }
    if (old)
        memcpy(e, x->e, (size_t)old * sizeof(*e));
    memset(bucket, 0xff, (size_t)room * sizeof(*bucket)); /* all -1 */
    free(x->e);
    free(x->bucket);
    x->e = e;
    x->bucket = bucket;
    for (int32_t i = room - 1; i >= old; i--) {
        e[i].hash_next = x->unused;
        x->unused = i;
    }
    x->room = room;
    for (int32_t i = 0; i < old; i++)
        chain(x, i);
    return true;
}

int32_t spool_index_add(struct spool_index *x, const struct spool_digest *d)
{
    int32_t i;

    if (x->unused < 0 && !grow(x))
        return -1;
    i = x->unused;
    x->unused = x->e[i].hash_next;
    x->e[i] = (struct spool_entry){.d = *d, .older = -1, .newer = -1};
    chain(x, i);
    x->n++;
    return i;
}

static void take_out(struct spool_index *x, int32_t i)
{
    struct spool_entry *e = &x->e[i];

    if (e->older >= 0)
        x->e[e->older].newer = e->newer;
    else
        x->oldest = e->newer;
    if (e->newer >= 0)
        x->e[e->newer].older = e->older;
    else
        x->newest = e->older;
}

static void put_last(struct spool_index *x, int32_t i)
{
    x->e[i].older = x->newest;
    x->e[i].newer = -1;
    if (x->newest >= 0)
        x->e[x->newest].newer = i;
    else
        x->oldest = i;
    x->newest = i;
}

void spool_index_put(struct spool_index *x, int32_t i, uint64_t bytes,
                     int64_t used_s)
{
    spool_index_lose(x, i);
    x->e[i].there = true;
    x->e[i].stale = false;
    x->e[i].bytes = bytes;
    x->e[i].used_s = used_s;
    x->bytes += bytes;
    x->there++;
    put_last(x, i);
}

void spool_index_use(struct spool_index *x, int32_t i, int64_t used_s)
{
    if (!x->e[i].there)
        return;
    x->e[i].used_s = used_s;
    take_out(x, i);
    put_last(x, i);
}

void spool_index_lose(struct spool_index *x, int32_t i)
{
    if (!x->e[i].there)
        return;
    take_out(x, i);
    x->e[i].there = false;
    x->bytes -= x->e[i].bytes;
    x->there--;
}

void spool_index_drop(struct spool_index *x, int32_t i)
{
    int32_t *at;

    if (x->e[i].there || x->e[i].queued)
        return;
    at = bucket_of(x, &x->e[i].d);
    while (*at != i)
        at = &x->e[*at].hash_next;
    *at = x->e[i].hash_next;
    x->e[i].hash_next = x->unused;
    x->unused = i;
    x->n--;
}
