/* Request bodies: whatever is accepted is whole, whatever is not is one error
 * object of valid JSON that names a field of the table and shows nothing of
 * what was sent. The first byte chooses the route. */
#include "t/lib/bodycheck.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a;
    struct body body;
    struct err e = {0};
    bool completion = n && data[0] == 'c';
    struct text json = {(const char *)data + 1, n - 1};
    enum st st;

    if (!n)
        return 0;
    arena_init(&a, 4u << 20);
    st = completion ? body_parse_completion(&body, &a, json, &e)
                    : body_parse_chat(&body, &a, json, &e);
    if (st)
        check_error(&e, completion ? WIRE_COMPLETION : WIRE_CHAT);
    else
        check_body(&body, completion);
    arena_release(&a);
    return 0;
}
