#include "gen/catalog.h"

const struct catalog_model *catalog_find(const struct catalog *c,
                                         const char *name, size_t n)
{
    if (!c->n)
        return NULL;
    if (!name || !n)
        return &c->models[0];
    for (size_t i = 0; i < c->n; i++) {
        const char *id = c->models[i].id;

        if (strlen(id) == n && !memcmp(id, name, n))
            return &c->models[i];
    }
    return NULL;
}

void catalog_release(struct catalog *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->models[i].id);
        free(c->models[i].no_chat);
        free(c->models[i].stop_ids);
    }
    free(c->models);
    *c = (struct catalog){0};
}
