#include "api/body_int.h"

void body_tree(struct body_parse *p, struct body_tree *t, enum json_type type)
{
    *t = (struct body_tree){.v = arena_alloc(p->a, sizeof(*t->v))};
    t->failed = !t->v;
    if (t->failed)
        return;
    t->v->type = type;
    t->link = &t->v->child;
}

void body_put(struct body_parse *p, struct body_tree *t, const char *key,
              const struct json *v)
{
    struct json *copy;

    if (!v || t->failed)
        return;
    copy = arena_alloc(p->a, sizeof(*copy));
    t->failed = !copy;
    if (t->failed)
        return;
    *copy = *v;
    copy->next = NULL;
    copy->key = key ? (struct text){key, strlen(key)} : (struct text){0};
    *t->link = copy;
    t->link = &copy->next;
    t->v->n++;
}

void body_put_text(struct body_parse *p, struct body_tree *t, const char *key,
                   struct text text)
{
    const struct json v = {.type = JSON_STR, .str = text};

    body_put(p, t, key, &v);
}

void body_put_word(struct body_parse *p, struct body_tree *t, const char *key,
                   const char *word)
{
    body_put_text(p, t, key, (struct text){word, strlen(word)});
}
