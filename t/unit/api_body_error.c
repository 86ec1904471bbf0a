/* A tool of the Perl tests: a body on standard input; prints the HTTP status
 * and, unless it is 200, the error object. Argument: chat or completions. */
#include "api/body.h"
#include "api/error.h"

#define BODY_MAX (64u << 20)

int main(int argc, char **argv)
{
    bool completion = argc > 1 && !strcmp(argv[1], "completions");
    struct arena a;
    struct buf in, out;
    struct body body;
    struct text json;
    struct err e = {0};
    enum st st;

    arena_init(&a, BODY_MAX);
    buf_init(&in, BODY_MAX);
    buf_init(&out, BUF_EVENT);
    st = buf_read_fd(&in, 0, "standard input", &e);
    json = (struct text){in.p, in.n};
    if (!st)
        st = completion ? body_parse_completion(&body, &a, json, &e)
                        : body_parse_chat(&body, &a, json, &e);
    if (st)
        api_error_json(&out, &e);
    printf("%d\n%s\n", api_error_of(st)->http, out.p ? out.p : "");
    buf_release(&in);
    buf_release(&out);
    arena_release(&a);
    return 0;
}
