#include "chat/dialect.h"

static const struct dialect *const all[] = {
    &dialect_xtml, &dialect_kimi, &dialect_glm, &dialect_dsml, &dialect_qwen,
    &dialect_llama3, &dialect_mistral, &dialect_deepseek,
};

static const char *const names[] = {
    "xtml", "kimi", "glm", "dsml", "qwen", "hermes", "llama3", "mistral",
    "deepseek", NULL,
};

const struct dialect *dialect_find(const char *name)
{
    if (!strcmp(name, "hermes"))
        return &dialect_qwen;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (!strcmp(all[i]->name, name))
            return all[i];
    return NULL;
}

const char *const *dialect_names(void)
{
    return names;
}
