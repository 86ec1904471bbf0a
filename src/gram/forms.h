/*
 * gram/forms.h - the grammars that callers ask for by name.
 *
 * Each makes the rule of a whole answer; JSON has white space before and
 * behind it. What compiles, compiles to the same grammar everywhere: here, in
 * the server and in `penstock grammar`.
 */
#ifndef GRAM_FORMS_H
#define GRAM_FORMS_H

#include "gram/schema.h"

/* An answer in JSON. schema NULL: any JSON object. Errors of schema_rule. */
enum st form_json(int *rule, struct gxs *w, const struct json *schema,
                  struct err *e) MUST_CHECK;
/* Errors of regex_parse. */
enum st form_regex(int *rule, struct gxs *w, struct text pattern,
                   struct err *e) MUST_CHECK;
/* One of n texts, byte for byte. n >= 1, none empty, valid UTF-8. */
enum st form_choice(int *rule, struct gxs *w, const struct text *of, size_t n,
                    struct err *e) MUST_CHECK;

#endif
