#include "base/thread.h"

#include <errno.h>
#include <signal.h>

enum st thread_start(pthread_t *out, const char *name, void *(*run)(void *),
                     void *arg, struct err *e)
{
    pthread_attr_t attr;
    sigset_t all, old;
    int rc;

    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, THREAD_STACK);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    rc = pthread_create(out, &attr, run, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (rc)
        return err_set(e, ST_NOMEM, name, "cannot start a thread: %s",
                       err_sys(rc));
    pthread_setname_np(*out, name);
    return ST_OK;
}

static int64_t clock_us(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t mono_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

int64_t mono_ms(void)
{
    return mono_us() / 1000;
}

int64_t epoch_ms(void)
{
    return clock_us(CLOCK_REALTIME) / 1000;
}

void cond_init_monotonic(pthread_cond_t *c)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

bool cond_wait_ms(pthread_cond_t *c, pthread_mutex_t *mu, int64_t ms)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    ts.tv_sec += ms / 1000;
    ts.tv_nsec += ms % 1000 * 1000000;
    if (ts.tv_nsec >= 1000000000) {
        ts.tv_nsec -= 1000000000;
        ts.tv_sec++;
    }
    return pthread_cond_timedwait(c, mu, &ts) != ETIMEDOUT;
}
