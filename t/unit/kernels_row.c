/*
 * Norm, rotation, activation and addition: every set of this machine gives
 * the bits of the portable one, and that is near a computation in double
 * precision written here from isa.h; nothing beyond n is touched.
 */
#include "kernels/cpu/isa.h"
#include "t/lib/noise.h"
#include "t/lib/tap.h"

#include <math.h>

enum { MAX = 1100 };

static const struct cpu_isa *sets[CPU_ISAS];
static int n_sets;
static uint64_t state = 7;

static float rnd(void)
{
    return noise_next(&state);
}

static float x[MAX], y[MAX], got[MAX], ref[MAX];
static double want[MAX];

static void fill(void)
{
    for (int i = 0; i < MAX; i++) {
        x[i] = rnd() * 4;
        y[i] = rnd() * 2;
    }
}

/* got[n] and what lies behind it, which was x. */
static void check(int set, int32_t n, const char *what)
{
    double worst = 0;

    if (set) {
        ok(!memcmp(got, ref, sizeof(got)), "%s %s %d: the portable bits",
           sets[set]->name, what, n);
        return;
    }
    memcpy(ref, got, sizeof(ref));
    for (int32_t i = 0; i < n; i++) {
        double d = fabs((double)got[i] - want[i]) / (1 + fabs(want[i]));

        worst = d <= worst ? worst : isnan(d) ? INFINITY : d;
    }
    ok(worst < 1e-6, "%s %d: near double precision (%.1e)", what, n, worst);
    ok(!memcmp(got + n, x + n, (size_t)(MAX - n) * sizeof(*got)),
       "%s %d: nothing else is written", what, n);
}

static void test_norm(int32_t n)
{
    double sum = 0;

    fill();
    for (int32_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    for (int32_t i = 0; i < n; i++)
        want[i] = (double)x[i] / sqrt(sum / n + 1e-5) * (double)y[i];
    for (int s = 0; s < n_sets; s++) {
        memcpy(got, x, sizeof(got));
        sets[s]->norm(got, got, y, n, 1e-5f);
        check(s, n, "norm");
    }
}

static void test_rotate(int32_t dims, int32_t neox)
{
    float cs[MAX];

    fill();
    for (int32_t i = 0; i < dims / 2; i++) {
        double u, v, angle = 100.0 * (double)rnd();
        int32_t a = neox ? i : 2 * i, b = neox ? i + dims / 2 : 2 * i + 1;

        cs[2 * i] = (float)cos(angle);
        cs[2 * i + 1] = (float)sin(angle);
        u = (double)x[a];
        v = (double)x[b];
        want[a] = u * cos(angle) - v * sin(angle);
        want[b] = u * sin(angle) + v * cos(angle);
    }
    for (int s = 0; s < n_sets; s++) {
        memcpy(got, x, sizeof(got));
        sets[s]->rotate(got, cs, dims, neox);
        check(s, dims, neox ? "rotate halves" : "rotate neighbours");
    }
}

static void test_swiglu(int32_t n)
{
    static const float odd[] = {0,      -0.0f, 90,     -90,  -87,
                                1e-30f, 88.5f, -1e30f, 1e30f};

    fill();
    for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
        x[(i * 7) % (size_t)n] = odd[i];
    for (int32_t i = 0; i < n; i++)
        want[i] = (double)x[i] / (1 + exp(-(double)x[i])) * (double)y[i];
    for (int s = 0; s < n_sets; s++) {
        memcpy(got, x, sizeof(got));
        sets[s]->swiglu(got, got, y, (size_t)n);
        check(s, n, "swiglu");
    }
}

static void test_add(int32_t n)
{
    fill();
    for (int32_t i = 0; i < n; i++)
        want[i] = (double)(x[i] + y[i]);
    for (int s = 0; s < n_sets; s++) {
        memcpy(got, x, sizeof(got));
        sets[s]->add(got, y, (size_t)n);
        check(s, n, "add");
    }
}

int main(void)
{
    static const int32_t sizes[] = {1, 2, 15, 16, 17, 64, 100, 1024};
    static const int32_t dims[] = {2, 6, 16, 32, 34, 64, 80, 128, 512};

    n_sets = cpu_isas_here(sets);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        test_norm(sizes[i]);
        test_swiglu(sizes[i]);
        test_add(sizes[i]);
    }
    for (size_t i = 0; i < sizeof(dims) / sizeof(*dims); i++) {
        test_rotate(dims[i], 0);
        test_rotate(dims[i], 1);
    }
    return done();
}
