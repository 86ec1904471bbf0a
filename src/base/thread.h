/*
 * base/thread.h - threads, clocks, and the one lock order.
 *
 * Lock order (take in this order, never the reverse; most code holds one):
 *   live events -> live table -> engine queue -> job ring -> exchange ->
 *   fcgi queues -> db queue; apart from these: turn of grammars -> grammars;
 *   stored responses -> fcgi queues
 * No lock is held across I/O, a callback, a kernel or a log call.
 * docs/architecture.md lists every thread; no others exist.
 */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include "base/err.h"
#include <pthread.h>

#define THREAD_STACK (256u * 1024)

/*
 * Start a joinable thread with all signals blocked and a small stack.
 *   name   at most 15 bytes, shown by ps -L
 * Errors: ST_NOMEM.
 */
enum st thread_start(pthread_t *out, const char *name, void *(*run)(void *),
                     void *arg, struct err *e) MUST_CHECK;

int64_t mono_us(void);  /* monotonic clock, microseconds */
int64_t mono_ms(void);
int64_t epoch_ms(void); /* wall clock, milliseconds since 1970 */

/* Condition variable that pthread_cond_timedwait takes monotonic times for. */
void cond_init_monotonic(pthread_cond_t *c);
/* Wait at most `ms`; false when the time ran out. */
bool cond_wait_ms(pthread_cond_t *c, pthread_mutex_t *mu, int64_t ms);

#endif
