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

void arch_names(char *out, size_t n)
{
    size_t at = 0;

    for (size_t i = 0; i < sizeof(all) / sizeof(*all) && at < n; i++)
        at += (size_t)snprintf(out + at, n - at, "%s%s", i ? ", " : "",
                               all[i]->name);
}
