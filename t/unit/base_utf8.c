/* UTF-8 rules; expected values from the tables of RFC 3629 and Unicode 3-7. */
#include "base/utf8.h"

#include "t/lib/tap.h"

int main(void)
{
    uint32_t cp;
    size_t bad = 99;
    struct err e;

    is_int(utf8_decode("\xf0\x9f\x98\x80", 4, &cp), 4, "U+1F600 is 4 bytes");
    is_int(cp, 0x1f600, "U+1F600 decodes");
    is_int(utf8_decode("\xc0\x80", 2, &cp), 0, "overlong NUL is refused");
    is_int(utf8_decode("\xed\xa0\x80", 3, &cp), 0, "a surrogate is refused");
    is_int(utf8_decode("\xf4\x90\x80\x80", 4, &cp), 0, "U+110000 is refused");
    is_int(utf8_decode("\xe2\x82", 2, &cp), 0, "a cut character is refused");
    ok(!utf8_valid("ab\xff", 3, &bad), "0xff is invalid");
    is_int(bad, 2, "the offset of the fault is given");
    ok(utf8_valid("a\0b", 3, NULL), "NUL is data");
    is_int(utf8_complete_len("ab\xe2\x82", 4), 2, "a cut euro sign waits");
    is_int(utf8_complete_len("ab\xe2\x82\xac", 5), 5, "a whole one goes");
    is_int(utf8_complete_len("\xf0\x9f\x98", 3), 0, "three of four wait");
    is_int(utf8_complete_len("a\xff", 2), 2, "an invalid byte does not wait");
    is_int(utf8_complete_len("a\xed\xa0", 3), 3, "half a surrogate neither");
    err_set(&e, ST_INVALID, "", "%0639d\xe2\x82\xac", 0);
    is_int((long)strlen(e.text), 639, "a message is cut between characters");
    err_set(&e, ST_INVALID, "", "%0636d\xe2\x82\xac", 0);
    is_int((long)strlen(e.text), 639, "one that fits is whole");
    return done();
}
