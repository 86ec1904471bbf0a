/*
 * cli/cli.h - what the commands of `penstock` share.
 *
 * One file per command, cmd_NAME.c, with one entry in main.c's table. GNU
 * style options through getopt_long; --json gives one JSON document on
 * standard output; errors go to standard error with status 1, 2 for usage.
 * main.c turns a standard output that cannot be written into status 1.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/err.h"

/* Each takes its own argv (argv[0] = the command's name), returns the exit
 * status. */
int cmd_run(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_tokenize(int argc, char **argv);
int cmd_detokenize(int argc, char **argv);
int cmd_render(int argc, char **argv);
int cmd_parse(int argc, char **argv);
int cmd_grammar(int argc, char **argv);
int cmd_key(int argc, char **argv);
int cmd_ledger(int argc, char **argv);
int cmd_compat(int argc, char **argv);

/* Print "penstock CMD: where: text" and return 1. */
int cli_fail(const char *cmd, const struct err *e);
/* After getopt said what is wrong: "Try ... --help"; returns 2. */
int cli_try_help(const char *cmd);
/* Print a usage line and "try --help"; returns 2. */
int cli_usage(const char *cmd, const char *fmt, ...) PRINTF(2, 3);

#endif
