/* A tool of the Perl tests: a body on standard input; prints the HTTP status
 * and, unless it is 200, the error object. Argument: chat, completions,
 * responses or messages. */
#include "api/body.h"
#include "api/error.h"

#define BODY_MAX (64u << 20)

static enum st parse(const char *wire, struct body *out, struct arena *a,
                     struct text json, struct err *e)
{
    if (!strcmp(wire, "completions"))
        return body_parse_completion(out, a, json, e);
    if (!strcmp(wire, "responses"))
        return body_parse_items(out, a, json, NULL, e);
    if (!strcmp(wire, "messages"))
        return body_parse_blocks(out, a, json, e);
    return body_parse_chat(out, a, json, e);
}

int main(int argc, char **argv)
{
    const char *wire = argc > 1 ? argv[1] : "chat";
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
        st = parse(wire, &body, &a, json, &e);
    if (st)
        api_error_json(&out, &e);
    printf("%d\n%s\n", api_error_of(st)->http, out.p ? out.p : "");
    buf_release(&in);
    buf_release(&out);
    arena_release(&a);
    return 0;
}
