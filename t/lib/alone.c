/*
 * t/lib/alone.c - the engine by itself: t/0040-engine-alone.t builds it with
 * a C compiler and nothing of ours but the engine's folders. Prints the first
 * ids that the demo model gives.
 */
#include "t/lib/model.h"

#include <stdio.h>
#include <string.h>

#define WANTED 8

/* vectors.json, penstock-demo-q8_0.gguf, prompt "hello" */
static const int32_t hello[] = {3064, 279, 10, 876, 33, 3065, 10,
                                3064, 292, 10, 3066, 304, 3067, 304};

int main(int argc, char **argv)
{
    struct gguf *g = demo_open(DEMO_Q8);
    struct engine_config c;
    struct gen *gen;
    struct job *j;
    int32_t ids[WANTED];
    size_t n;

    engine_config_default(&c);
    c.threads = 2;
    if (argc > 1 && !strcmp(argv[1], "portable"))
        c.set = KERN_CPU_REF;
    gen = demo_engine(g, &c);
    j = demo_job(hello, sizeof(hello) / sizeof(*hello), WANTED);
    demo_submit(gen, j);
    n = demo_wait(j, ids, WANTED, NULL);
    for (size_t i = 0; i < n; i++)
        printf("%s%d", i ? "," : "", ids[i]);
    putchar('\n');
    job_unref(j);
    gen_free(gen);
    gguf_close(g);
    return 0;
}
