/* Who is next (engine/queue.h): owners take turns, then arrival. */
#include "engine/queue.h"

#include "t/lib/tap.h"

#define MANY 300

static struct seq all[MANY];
static struct job jobs[MANY];

static struct seq *of(struct queue *q, int i, uint64_t owner,
                      enum job_class cls)
{
    struct seq *s = &all[i];

    jobs[i] = (struct job){.owner = owner, .cls = cls};
    *s = (struct seq){.job = &jobs[i], .submit_us = i};
    if (q)
        BUG_ON(!queue_add(q, s));
    return s;
}

/* Indexes in the order of the list, then in the order they are taken. */
static void order(struct queue *q, const char *want, const char *name)
{
    char list[200] = "", taken[200] = "";
    struct seq *s;

    for (s = queue_first(q); s; s = queue_next(q, s))
        snprintf(list + strlen(list), 8, "%d ", (int)(s - all));
    while ((s = queue_head(q)) != NULL) {
        queue_remove(q, s);
        snprintf(taken + strlen(taken), 8, "%d ", (int)(s - all));
    }
    is_str(list, want, "%s: told", name);
    is_str(taken, want, "%s: taken", name);
    is_int(queue_count(q), 0, "%s: all of them", name);
}

static void turns(struct queue *q)
{
    struct seq *s;

    of(q, 0, 7, JOB_NORMAL);
    of(q, 1, 7, JOB_NORMAL);
    of(q, 2, 7, JOB_NORMAL);
    of(q, 3, 8, JOB_NORMAL);
    of(q, 4, 0, JOB_NORMAL);
    of(q, 5, 8, JOB_NORMAL);
    order(q, "0 3 4 1 5 2 ", "three owners");

    of(q, 0, 7, JOB_BACKGROUND);
    of(q, 1, 8, JOB_NORMAL);
    of(q, 2, 8, JOB_NORMAL);
    of(q, 3, 9, JOB_BACKGROUND);
    of(q, 4, 9, JOB_BACKGROUND);
    queue_add_first(q, of(NULL, 5, 9, JOB_BACKGROUND));
    queue_add_first(q, of(NULL, 6, 8, JOB_NORMAL));
    queue_add_first(q, of(NULL, 7, 9, JOB_NORMAL));
    order(q, "7 6 1 2 5 0 3 4 ", "classes, and who had begun");

    for (int i = 0; i < 4; i++)
        of(q, i, 7, JOB_NORMAL);
    s = queue_head(q);
    queue_remove(q, s);
    of(q, 4, 8, JOB_NORMAL);
    of(q, 5, 8, JOB_NORMAL);
    queue_remove(q, &all[2]);
    order(q, "1 4 3 5 ", "one that left from the middle");
}

static void side(struct queue *q)
{
    struct seq *s[4];

    for (int i = 0; i < 4; i++)
        s[i] = of(NULL, i, (uint64_t)i, JOB_NORMAL);
    jobs[1].side = jobs[2].side = true;
    for (int i = 3; i >= 0; i--)
        ok(queue_add(q, s[i]), "added");
    ok(queue_side(q) == s[1], "the oldest of the small ones");
    queue_remove(q, s[1]);
    ok(queue_side(q) == s[2], "then the next");
    queue_remove(q, s[2]);
    ok(!queue_side(q), "then none");
    order(q, "3 0 ", "the others");
}

/* One owner with much to do: everybody else's first job is among the first. */
static void crowd(struct queue *q)
{
    int32_t seen = 0, place = 0, at[MANY];
    struct seq *s;

    for (int i = 0; i < 200; i++)
        of(q, i, 1000, JOB_NORMAL);
    for (int i = 200; i < MANY; i++)
        of(q, i, (uint64_t)i << 40, JOB_NORMAL);
    for (s = queue_first(q); s; s = queue_next(q, s))
        at[s - all] = seen++;
    is_int(seen, MANY, "everybody is told a place");
    ok(at[0] == 0 && at[1] == 101 && at[MANY - 1] == 100 && at[2] == 102,
       "one turn for each owner");
    while ((s = queue_head(q)) != NULL && at[s - all] == place) {
        queue_remove(q, s);
        place++;
    }
    is_int(place, MANY, "and it holds");
}

int main(void)
{
    struct queue *q = queue_new();

    ok(q && !queue_head(q) && !queue_first(q) && !queue_side(q), "empty");
    turns(q);
    side(q);
    crowd(q);
    queue_free(q);
    queue_free(NULL);
    return done();
}
