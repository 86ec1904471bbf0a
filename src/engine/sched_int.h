/* engine/sched_int.h - between the files of the scheduler. */
#ifndef ENGINE_SCHED_INT_H
#define ENGINE_SCHED_INT_H

#include "engine/sched.h"

/* --- sched.c ------------------------------------------------------- */
/* Out of its slot, with all it has computed in the tree; it will be told.
 * It is in `running` and in the queue no more. */
void sched_leave(struct sched *s, struct seq *q);

/* --- sched_admit.c ------------------------------------------------------- */
/* Those who wait enter while there is room. */
void sched_admit(struct sched *s, int64_t now);
/* Those who entered come nearer to their first row. */
void sched_settle(struct sched *s);
/* The youngest goes back to the head of its class in the queue. */
void sched_send_back(struct sched *s);
/* q takes no more rows: who follows it looks again. */
void sched_lead_ends(struct sched *s, const struct seq *q);

/* --- sched_cache.c ------------------------------------------------------- */
/* Pages that nobody uses, or only the tree. */
size_t cache_room(const struct sched *s);
/* A page with one reference, from the tree where none is free; -1: none. */
int32_t cache_page(struct sched *s);
/* So many that `rows` rows fit; false: there are no more. */
bool cache_grow(struct sched *s, struct seq *q, int32_t rows) MUST_CHECK;
/* What the tree has: pages, done, tail. */
void cache_match(struct sched *s, struct seq *q);
/* Go on behind the tail that was found, in a page of its own. */
void cache_take_tail(struct sched *s, struct seq *q);
/* The first rows of another one's. q has no page. */
void cache_take(struct sched *s, struct seq *q, const struct seq *from,
                int32_t rows);
/* The full pages into the tree. */
void cache_keep(struct sched *s, struct seq *q);
/* All rows into the tree, and no page is q's any more. */
void cache_leave(struct sched *s, struct seq *q);
/* No page is q's any more, nothing is kept. */
void cache_drop(struct sched *s, struct seq *q);

/* --- sched_memory.c ------------------------------------------------------- */
void memory_open(struct sched *s, struct memory *m);
void memory_tell(struct sched *s); /* the accounts are as it is now */
/* A free page, one that is resident where there is one; -1: none, or more
 * memory would pass the peak. */
int32_t memory_page(struct sched *s);
/* May q enter? pages: that it and those who run will take. */
enum gate_answer memory_ask(struct sched *s, const struct seq *q,
                            size_t pages, struct err *e);
/* Where somebody left: under the ceiling, and who waits may ask. Where a
 * request was refused before it came here: room for it, next time. */
void memory_settle(struct sched *s);
void memory_refuse(struct sched *s, struct err *e);

/* --- sched_spool.c ------------------------------------------------------- */
/* True: all that the disk has of q's rows is in its pages. */
bool spool_fetch(struct sched *s, struct seq *q);
void spool_fetch_ends(struct sched *s, struct seq *q);
/* q leaves: its pages were used. */
void spool_used(struct sched *s, const struct seq *q);
/* Bytes on their way to or from the disk. */
size_t spool_holds(const struct sched *s);
/* Offer some pages, for about this long. */
void spool_spill(struct sched *s, int64_t for_us);

/* --- sched_step.c ------------------------------------------------------- */
/* Does anybody have a row to compute? */
bool sched_can_step(const struct sched *s);
void sched_step(struct sched *s, int64_t began);

/* --- sched_tell.c ------------------------------------------------------- */
void tell_positions(struct sched *s, int64_t now);
void tell_state(struct sched *s);
/* Those who left, after tell_state. */
void tell_gone(struct sched *s);

#endif
