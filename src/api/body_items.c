/* The body of POST /v1/responses. */
#include "api/body_int.h"

enum st body_parse_items(struct body *out, struct arena *a, struct text json,
                         const struct body_past *past, struct err *e)
{
    struct body_parse p;
    enum st st = body_open(&p, out, a, WIRE_RESPONSES, json, e);

    (void)past;
    return st ? st : err_set(e, ST_NOT_FOUND, "", "there is no such route");
}
