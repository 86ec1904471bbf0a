/* t/lib/sets.h - the kernel sets that this CPU runs, the portable one first. */
#ifndef T_SETS_H
#define T_SETS_H

#include "kernels/cpu/isa.h"

#if defined(HAVE_X86_64)
#include <cpuid.h>
#elif defined(HAVE_AARCH64)
#include <sys/auxv.h>
#endif

#define SETS_MAX 4

/* Fills sets, returns how many there are. */
__attribute__((unused)) static int sets_of_cpu(const struct cpu_isa **sets)
{
    int n = 0;
#if defined(HAVE_X86_64)
    unsigned int a, b, c, d;
#endif

    sets[n++] = &cpu_isa_ref;
#if defined(HAVE_X86_64)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C)) {
        sets[n++] = &cpu_isa_avx2;
        if (__builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl") &&
            __builtin_cpu_supports("avx512vnni"))
            sets[n++] = &cpu_isa_avx512;
    }
#elif defined(HAVE_AARCH64)
    if (getauxval(AT_HWCAP) & HWCAP_ASIMDDP)
        sets[n++] = &cpu_isa_neon;
#endif
    return n;
}

#endif
