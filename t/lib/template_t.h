/*
 * t/lib/template_t.h - the format of a published template, from
 * t/data/chat/templates. NULL when it is none; why is told in a comment.
 */
#ifndef T_TEMPLATE_T_H
#define T_TEMPLATE_T_H

#include "base/buf.h"
#include "chat/format_int.h"

#include <stdio.h>
#include <stdlib.h>

static inline struct format *template_load(const char *name,
                                            const struct tok *tok)
{
    struct format *f = NULL;
    struct jinja_source source = {.source = "a template"};
    struct err err = {0};
    struct buf b;
    char path[160];

    snprintf(path, sizeof(path), "t/data/chat/templates/%s.jinja", name);
    buf_init(&b, BUF_ANSWER);
    if (buf_read_file(&b, path, &err)) {
        printf("Bail out! %s\n", path);
        exit(1);
    }
    source.text = (struct span){b.p, b.n};
    if (format_jinja(&f, &source, tok, &err))
        printf("# %s: %s\n", err.where, err.text);
    buf_release(&b);
    return f;
}

#endif
