/* penstock: one program, a table of commands. */
#include "cli/cli.h"

#include <signal.h>
#include <stdarg.h>

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} commands[] = {
    {"run", cmd_run, "one generation, no server"},
    {"bench", cmd_bench, "how fast a model runs here"},
    {"tokenize", cmd_tokenize, "the token ids of a text"},
    {"detokenize", cmd_detokenize, "the text of token ids"},
    {"render", cmd_render, "the prompt of a chat request"},
    {"parse", cmd_parse, "a reply into reasoning, content and calls"},
    {"grammar", cmd_grammar, "would a bound answer be this text?"},
    {"compat", cmd_compat, "the table of request fields"},
    {"key", cmd_key, "who may ask: add, list, revoke"},
    {"ledger", cmd_ledger, "who used what: requests and sums"},
    {0},
};

static void list(FILE *to)
{
    fputs("Usage: penstock COMMAND [OPTION]...\n\n", to);
    for (const struct command *c = commands; c->name; c++)
        fprintf(to, "  %-12s %s\n", c->name, c->what);
    fputs("\n'penstock COMMAND --help' shows the options of a command.\n", to);
}

int cli_fail(const char *cmd, const struct err *e)
{
    fprintf(stderr, "penstock %s: %s%s%s\n", cmd, e->where,
            e->where[0] ? ": " : "", e->text);
    return 1;
}

int cli_try_help(const char *cmd)
{
    fprintf(stderr, "Try 'penstock %s --help'.\n", cmd);
    return 2;
}

int cli_usage(const char *cmd, const char *fmt, ...)
{
    va_list ap;

    fprintf(stderr, "penstock %s: ", cmd);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    return cli_try_help(cmd);
}

/* An answer that did not reach its reader (a full disk) is a failure. */
static int flushed(const char *cmd, int rc)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return rc;
    fprintf(stderr, "penstock %s: standard output: cannot be written\n", cmd);
    return rc ? rc : 1;
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); /* a file over the limit is an error of write */
    if (argc < 2) {
        list(stderr);
        return 2;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
        list(stdout);
        return 0;
    }
    if (!strcmp(argv[1], "--version")) {
        puts("penstock " PACKAGE_VERSION);
        return 0;
    }
    for (const struct command *c = commands; c->name; c++)
        if (!strcmp(argv[1], c->name))
            return flushed(c->name, c->run(argc - 1, argv + 1));
    fprintf(stderr, "penstock: no command '%s'\n", argv[1]);
    list(stderr);
    return 2;
}
