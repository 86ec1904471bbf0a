/*
 * text/uni_cat.h - general categories and simple case folding.
 *
 * Finer than text/uni.h, for those who write \p{Lu} or ask for either case.
 * Source: Unicode 14.0.0, by contrib/gen-uni-cat; the names are those of
 * PropertyValueAliases.
 */
#ifndef TEXT_UNI_CAT_H
#define TEXT_UNI_CAT_H

#include "base/mem.h"

/* In the order of the table. */
enum uni_cat {
    UNI_LU, UNI_LL, UNI_LT, UNI_LM, UNI_LO, UNI_MN, UNI_MC, UNI_ME,
    UNI_ND, UNI_NL, UNI_NO, UNI_PC, UNI_PD, UNI_PS, UNI_PE, UNI_PI,
    UNI_PF, UNI_PO, UNI_SM, UNI_SC, UNI_SK, UNI_SO, UNI_ZS, UNI_ZL,
    UNI_ZP, UNI_CC, UNI_CF, UNI_CS, UNI_CO, UNI_CN, UNI_CATS,
};
#define UNI_NOTHING UINT32_MAX /* no such code point */

/* Above U+10FFFF it is UNI_CN. */
enum uni_cat uni_cat(uint32_t cp);

/* The categories of a name, one bit each: "Lu", "Uppercase_Letter", "L",
 * "Letter", ... 0: there is no such name. Upper and lower case differ. */
uint32_t uni_cat_named(struct span name);

/*
 * The first code points at or behind `from` whose categories are in `mask`:
 * all of lo..hi are. False: there are none. Runs may touch one another.
 */
bool uni_cat_run(uint32_t mask, uint32_t from, uint32_t *lo, uint32_t *hi);

/* The first code point at or behind `from` that differs from another one only
 * by case; UNI_NOTHING. */
uint32_t uni_fold_from(uint32_t from);
/* The next character that folds to the same as cp does, in a ring of two to
 * four; cp itself when it is alone. */
uint32_t uni_fold_next(uint32_t cp);

#endif
