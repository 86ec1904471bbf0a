#include "text/uni.h"

#include "text/uni_data.h"

#define UNI_N_STARTS (sizeof(uni_starts) / sizeof(uni_starts[0]))

enum uni_class uni_class(uint32_t cp)
{
    size_t lo = 0, hi = UNI_N_STARTS;

    if (cp > 0x10ffff)
        return UNI_OTHER;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;

        if (uni_starts[mid] >> 8 <= cp)
            lo = mid;
        else
            hi = mid;
    }
    return (enum uni_class)(uni_starts[lo] & 0xff);
}
