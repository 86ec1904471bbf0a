#include "text/uni_cat.h"

struct uni_fold_run {
    uint32_t lo, hi;
    int32_t delta;
};

#include "text/uni_cat_data.h"

#define N_STARTS (sizeof(uni_cat_starts) / sizeof(uni_cat_starts[0]))
#define N_FOLDS (sizeof(uni_folds) / sizeof(uni_folds[0]))
#define PAIRS ((uint32_t)UNI_CATS) /* Lu and Ll in turn */

#define BIT(cat) (1u << (cat))
#define LETTERS_CASED (BIT(UNI_LU) | BIT(UNI_LL) | BIT(UNI_LT))
#define LETTERS (LETTERS_CASED | BIT(UNI_LM) | BIT(UNI_LO))
#define MARKS (BIT(UNI_MN) | BIT(UNI_MC) | BIT(UNI_ME))
#define NUMBERS (BIT(UNI_ND) | BIT(UNI_NL) | BIT(UNI_NO))
#define PUNCTUATION                                                            \
    (BIT(UNI_PC) | BIT(UNI_PD) | BIT(UNI_PS) | BIT(UNI_PE) | BIT(UNI_PI) |     \
     BIT(UNI_PF) | BIT(UNI_PO))
#define SYMBOLS (BIT(UNI_SM) | BIT(UNI_SC) | BIT(UNI_SK) | BIT(UNI_SO))
#define SEPARATORS (BIT(UNI_ZS) | BIT(UNI_ZL) | BIT(UNI_ZP))
#define OTHERS                                                                 \
    (BIT(UNI_CC) | BIT(UNI_CF) | BIT(UNI_CS) | BIT(UNI_CO) | BIT(UNI_CN))

static const struct {
    const char *brief, *name;
    uint32_t mask;
} cat_names[] = {
    {"L", "Letter", LETTERS},
    {"LC", "Cased_Letter", LETTERS_CASED},
    {"Lu", "Uppercase_Letter", BIT(UNI_LU)},
    {"Ll", "Lowercase_Letter", BIT(UNI_LL)},
    {"Lt", "Titlecase_Letter", BIT(UNI_LT)},
    {"Lm", "Modifier_Letter", BIT(UNI_LM)},
    {"Lo", "Other_Letter", BIT(UNI_LO)},
    {"M", "Mark", MARKS},
    {"M", "Combining_Mark", MARKS},
    {"Mn", "Nonspacing_Mark", BIT(UNI_MN)},
    {"Mc", "Spacing_Mark", BIT(UNI_MC)},
    {"Me", "Enclosing_Mark", BIT(UNI_ME)},
    {"N", "Number", NUMBERS},
    {"Nd", "Decimal_Number", BIT(UNI_ND)},
    {"Nd", "digit", BIT(UNI_ND)},
    {"Nl", "Letter_Number", BIT(UNI_NL)},
    {"No", "Other_Number", BIT(UNI_NO)},
    {"P", "Punctuation", PUNCTUATION},
    {"P", "punct", PUNCTUATION},
    {"Pc", "Connector_Punctuation", BIT(UNI_PC)},
    {"Pd", "Dash_Punctuation", BIT(UNI_PD)},
    {"Ps", "Open_Punctuation", BIT(UNI_PS)},
    {"Pe", "Close_Punctuation", BIT(UNI_PE)},
    {"Pi", "Initial_Punctuation", BIT(UNI_PI)},
    {"Pf", "Final_Punctuation", BIT(UNI_PF)},
    {"Po", "Other_Punctuation", BIT(UNI_PO)},
    {"S", "Symbol", SYMBOLS},
    {"Sm", "Math_Symbol", BIT(UNI_SM)},
    {"Sc", "Currency_Symbol", BIT(UNI_SC)},
    {"Sk", "Modifier_Symbol", BIT(UNI_SK)},
    {"So", "Other_Symbol", BIT(UNI_SO)},
    {"Z", "Separator", SEPARATORS},
    {"Zs", "Space_Separator", BIT(UNI_ZS)},
    {"Zl", "Line_Separator", BIT(UNI_ZL)},
    {"Zp", "Paragraph_Separator", BIT(UNI_ZP)},
    {"C", "Other", OTHERS},
    {"Cc", "Control", BIT(UNI_CC)},
    {"Cc", "cntrl", BIT(UNI_CC)},
    {"Cf", "Format", BIT(UNI_CF)},
    {"Cs", "Surrogate", BIT(UNI_CS)},
    {"Co", "Private_Use", BIT(UNI_CO)},
    {"Cn", "Unassigned", BIT(UNI_CN)},
};

uint32_t uni_cat_named(struct span name)
{
    for (size_t i = 0; i < sizeof(cat_names) / sizeof(cat_names[0]); i++) {
        if (span_is(name, cat_names[i].brief) ||
            span_is(name, cat_names[i].name))
            return cat_names[i].mask;
    }
    return 0;
}

/* The run that cp, at most U+10FFFF, lies in. */
static size_t cat_at(uint32_t cp)
{
    size_t lo = 0, hi = N_STARTS;

    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;

        if (uni_cat_starts[mid] >> 8 <= cp)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* The category of cp, which lies in run i. */
static uint32_t cat_in(size_t i, uint32_t cp)
{
    uint32_t cat = uni_cat_starts[i] & 0xff;

    if (cat == PAIRS)
        cat = (cp - (uni_cat_starts[i] >> 8)) & 1 ? UNI_LL : UNI_LU;
    return cat;
}

enum uni_cat uni_cat(uint32_t cp)
{
    if (cp > 0x10ffff)
        return UNI_CN;
    return (enum uni_cat)cat_in(cat_at(cp), cp);
}

bool uni_cat_run(uint32_t mask, uint32_t from, uint32_t *lo, uint32_t *hi)
{
    uint32_t both = BIT(UNI_LU) | BIT(UNI_LL);

    if (from > 0x10ffff)
        return false;
    for (size_t i = cat_at(from); i < N_STARTS; i++) {
        uint32_t start = uni_cat_starts[i] >> 8, cat = uni_cat_starts[i] & 0xff;
        uint32_t end =
            i + 1 < N_STARTS ? (uni_cat_starts[i + 1] >> 8) - 1 : 0x10ffff;

        if (start < from)
            start = from;
        if (cat == PAIRS && (mask & both) != both) {
            if (!(mask & both))
                continue;
            if (!(mask >> cat_in(i, start) & 1))
                start++;
            if (start > end)
                continue;
            end = start;
        } else if (cat != PAIRS && !(mask >> cat & 1)) {
            continue;
        }
        *lo = start;
        *hi = end;
        return true;
    }
    return false;
}

/* The first run of folding that ends at or behind cp; N_FOLDS: none. */
static size_t fold_at(uint32_t cp)
{
    size_t lo = 0, hi = N_FOLDS;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (uni_folds[mid].hi < cp)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

uint32_t uni_fold_from(uint32_t from)
{
    size_t i = fold_at(from);

    if (i == N_FOLDS)
        return UNI_NOTHING;
    return uni_folds[i].lo > from ? uni_folds[i].lo : from;
}

uint32_t uni_fold_next(uint32_t cp)
{
    size_t i = fold_at(cp);

    if (i == N_FOLDS || uni_folds[i].lo > cp)
        return cp;
    if (uni_folds[i].delta == UNI_FOLD_PAIR)
        return (cp - uni_folds[i].lo) & 1 ? cp - 1 : cp + 1;
    return (uint32_t)((int32_t)cp + uni_folds[i].delta);
}
