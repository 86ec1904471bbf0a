#include "engine/arch.h"

static const struct arch *const all[] = {
    &arch_llama,
    &arch_qwen2,
    &arch_qwen3,
};

const struct arch *arch_find(struct span name)
{
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (span_is(name, all[i]->name))
            return all[i];
    return NULL;
}

const char *arch_names(void)
{
    return "llama, qwen2, qwen3";
}
