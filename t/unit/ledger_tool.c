/*
 * A tool of t/0711 and t/0712: the real writer and ledger, told by lines.
 *
 *   ledger_tool DB
 *   write N   ->  posted N MS         (how long posting took)
 *   wait      ->  committed N         (when nothing is queued any more)
 *   state     ->  queued N failures N wal BYTES
 *
 * At the end of its input it closes. It is no test itself.
 */
#include "acct/ledger.h"
#include "base/num.h"
#include "base/thread.h"

#define QUEUE 10000

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void write_rows(struct ledger *l, int64_t n)
{
    int64_t start = mono_ms();

    for (int64_t i = 0; i < n; i++) {
        struct ledger_row r;
        uint64_t ticket;

        ledger_row_init(&r);
        r.ts_ms = epoch_ms();
        snprintf(r.request_id, sizeof(r.request_id), "chatcmpl-%lld",
                 (long long)i);
        snprintf(r.model, sizeof(r.model), "demo");
        snprintf(r.client_id, sizeof(r.client_id), "anon");
        snprintf(r.client_kind, sizeof(r.client_kind), "other");
        snprintf(r.endpoint, sizeof(r.endpoint), "chat");
        while (ledger_admit(l, &r, &ticket, NULL))
            pause_ms(1); /* full: what admission answers 503 for */
        r.status = 200;
        r.total_ms = 1;
        snprintf(r.finish, sizeof(r.finish), "stop");
        ledger_close(l, ticket, &r, NULL, NULL);
    }
    printf("posted %lld %lld\n", (long long)n, (long long)(mono_ms() - start));
}

static void obey(struct ledger *l, struct db_writer *w, const char *line)
{
    struct db_writer_state s;
    int64_t n;

    if (!strncmp(line, "write ", 6) &&
        num_parse_i64(line + 6, strlen(line + 6), 1, 1000000, &n)) {
        write_rows(l, n);
    } else if (!strcmp(line, "wait")) {
        for (db_writer_state(w, &s); s.queued; db_writer_state(w, &s))
            pause_ms(5);
        printf("committed %llu\n", (unsigned long long)s.committed);
    } else {
        db_writer_state(w, &s);
        printf("queued %zu failures %llu wal %lld\n", s.queued,
               (unsigned long long)s.failures, (long long)s.wal_bytes);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct db_writer *w;
    struct ledger *l;
    struct err e;
    char line[64];
    size_t died;

    if (argc != 2 || db_writer_open(&w, argv[1], QUEUE, &e) ||
        ledger_open(&l, w, &died, &e)) {
        fprintf(stderr, "ledger_tool: %s\n", argc == 2 ? e.text : "DB?");
        return 1;
    }
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        obey(l, w, line);
    }
    db_writer_close(w, 10000);
    ledger_free(l);
    return 0;
}
