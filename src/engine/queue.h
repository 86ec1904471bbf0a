/*
 * engine/queue.h - who waits, and who is next.
 *
 * Fair by owner: owners take turns, each with its oldest job; background jobs
 * come after all others, whoever owns them. What was sent back (it had begun)
 * goes before everybody of its class. A job that may use the side lane can be
 * taken out of turn, oldest first, when a side slot is free.
 * The owner of a job is a number (struct job.owner); 0 is an owner too. A job
 * is in one queue at most: seq.next, prev and began are the queue's.
 * Engine thread only.
 */
#ifndef ENGINE_QUEUE_H
#define ENGINE_QUEUE_H

#include "engine/seq.h"

struct queue; /* opaque */

struct queue *queue_new(void) MUST_CHECK; /* NULL when out of memory */
void queue_free(struct queue *q);         /* NULL ok; it is empty */

/* False: no memory for another owner. */
bool queue_add(struct queue *q, struct seq *s) MUST_CHECK;
/* It had begun: it goes first. Never fails. */
void queue_add_first(struct queue *q, struct seq *s);
struct seq *queue_head(const struct queue *q); /* NULL: nobody waits */
struct seq *queue_side(const struct queue *q); /* the oldest for a side slot */
void queue_remove(struct queue *q, struct seq *s);
int32_t queue_count(const struct queue *q);
/* Everybody in the order in which they would be taken now (side lane aside);
 * NULL behind the last. The queue does not change meanwhile. */
struct seq *queue_first(struct queue *q);
struct seq *queue_next(struct queue *q, struct seq *s);

#endif
