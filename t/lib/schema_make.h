/*
 * t/lib/schema_make.h - arbitrary bytes become a JSON Schema that uses many
 * keywords at once; the same bytes, the same schema.
 */
#ifndef T_SCHEMA_MAKE_H
#define T_SCHEMA_MAKE_H

#include "base/buf.h"

struct schema_make {
    const uint8_t *p; /* [n] */
    size_t n, at;     /* zeros behind the last */
    struct buf *out;
};

#define MAKE_OF(m, list) list[make_below(m, sizeof(list) / sizeof(list[0]))]

static inline unsigned make_below(struct schema_make *m, size_t n)
{
    unsigned v = m->at < m->n ? m->p[m->at] : 0;

    m->at++;
    return v % (unsigned)n;
}

/* A bound now and then: `,"name":NUMBER`. */
static inline void make_bound(struct schema_make *m, const char *name)
{
    static const int of[] = {0, 1, 2, 3, 5, 10, 40, 300, 100000, -7};

    if (make_below(m, 3) == 0)
        buf_printf(m->out, ",\"%s\":%d", name, MAKE_OF(m, of));
}

static inline void make_literal(struct schema_make *m)
{
    static const char *const of[] = {
        "1", "-2.50", "\"a\"", "\"b\\\"\\n\"", "null", "true", "{}", "[]",
        "{\"a\":1}", "[1,\"a\"]", "\"\"", "1e2", "\"2020-02-29\"", "300",
    };

    buf_puts(m->out, MAKE_OF(m, of));
}

static inline void make_strings(struct schema_make *m)
{
    static const char *const patterns[] = {
        "^a", "b$", "^[a-c]{2,5}$", "\\\\d+", "^\\\\p{L}*$", "(ab|c)+", ".",
        "^$", "a{3}", "[^\\\\w]", "^(?i:ab)$", "\\n|\\\"", "a^",
    };
    static const char *const formats[] = {
        "date", "time", "date-time", "uuid", "email", "ipv4", "ipv6", "uri",
        "int32", "hostname", "duration", "regex", "json-pointer",
    };

    buf_puts(m->out, "\"type\":\"string\"");
    make_bound(m, "minLength");
    make_bound(m, "maxLength");
    if (make_below(m, 3) == 0)
        buf_printf(m->out, ",\"pattern\":\"%s\"", MAKE_OF(m, patterns));
    if (make_below(m, 4) == 0)
        buf_printf(m->out, ",\"format\":\"%s\"", MAKE_OF(m, formats));
}

static inline void make_numbers(struct schema_make *m)
{
    static const char *const bounds[] = {
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "multipleOf",
    };

    buf_printf(m->out, "\"type\":\"%s\"",
               make_below(m, 2) ? "integer" : "number");
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
        make_bound(m, bounds[i]);
}

static inline void make_schema(struct schema_make *m, int depth);

static inline void make_list(struct schema_make *m, const char *name,
                             int depth)
{
    unsigned n = 1 + make_below(m, 3);

    buf_printf(m->out, "\"%s\":[", name);
    for (unsigned i = 0; i < n; i++) {
        if (i)
            buf_putc(m->out, ',');
        make_schema(m, depth);
    }
    buf_putc(m->out, ']');
}

static inline void make_array(struct schema_make *m, int depth)
{
    buf_puts(m->out, "\"type\":\"array\"");
    make_bound(m, "minItems");
    make_bound(m, "maxItems");
    if (make_below(m, 2)) {
        buf_puts(m->out, ",\"items\":");
        make_schema(m, depth);
    }
    if (make_below(m, 4) == 0) {
        buf_putc(m->out, ',');
        make_list(m, "prefixItems", depth);
    }
}

static inline void make_object(struct schema_make *m, int depth)
{
    static const char *const keys[] = {"a", "b", "ab", "\\\"", "x-1"};
    static const char *const patterns[] = {"^x", "b", "^a$", "", "\\\\d"};
    unsigned n = make_below(m, 4);

    buf_puts(m->out, "\"properties\":{");
    for (unsigned i = 0; i < n; i++) {
        buf_printf(m->out, "%s\"%s\":", i ? "," : "", keys[i]);
        make_schema(m, depth);
    }
    buf_putc(m->out, '}');
    if (make_below(m, 2))
        buf_puts(m->out, ",\"type\":\"object\"");
    if (make_below(m, 2))
        buf_printf(m->out, ",\"required\":[\"%s\"]", MAKE_OF(m, keys));
    if (make_below(m, 4) == 0) {
        buf_printf(m->out, ",\"patternProperties\":{\"%s\":",
                   MAKE_OF(m, patterns));
        make_schema(m, depth);
        buf_putc(m->out, '}');
    }
    if (make_below(m, 2)) {
        buf_puts(m->out, ",\"additionalProperties\":");
        make_schema(m, make_below(m, 2) ? 0 : depth);
    }
    make_bound(m, "minProperties");
    make_bound(m, "maxProperties");
}

/* The members of one schema object. */
static inline void make_members(struct schema_make *m, int depth)
{
    switch (make_below(m, depth > 0 ? 11 : 6)) {
    case 0:
        make_strings(m);
        break;
    case 1:
        make_numbers(m);
        break;
    case 2:
        buf_puts(m->out, "\"const\":");
        make_literal(m);
        break;
    case 3:
        buf_puts(m->out, "\"enum\":[");
        make_literal(m);
        buf_putc(m->out, ',');
        make_literal(m);
        buf_putc(m->out, ']');
        break;
    case 4:
        buf_printf(m->out, "\"$ref\":\"#/$defs/%u\"", make_below(m, 3));
        break;
    case 5:
        buf_puts(m->out, "\"type\":[\"null\",\"boolean\"]");
        break;
    case 6:
        make_array(m, depth - 1);
        break;
    case 7:
        make_list(m, "anyOf", depth - 1);
        break;
    case 8:
        make_list(m, "allOf", depth - 1);
        break;
    case 9:
        make_list(m, "oneOf", depth - 1);
        break;
    default:
        make_object(m, depth - 1);
    }
}

static inline void make_schema(struct schema_make *m, int depth)
{
    unsigned k = make_below(m, 12);

    if (k == 0) {
        buf_puts(m->out, make_below(m, 3) ? "true" : "false");
        return;
    }
    buf_putc(m->out, '{');
    make_members(m, depth);
    if (k == 1) { /* what holds besides */
        buf_putc(m->out, ',');
        make_members(m, depth);
    }
    buf_putc(m->out, '}');
}

/* A whole document. */
static inline void make_document(struct schema_make *m)
{
    buf_puts(m->out, "{\"$defs\":{");
    for (int i = 0; i < 3; i++) {
        buf_printf(m->out, "%s\"%d\":", i ? "," : "", i);
        make_schema(m, 2);
    }
    buf_puts(m->out, "},");
    make_members(m, 4);
    buf_putc(m->out, '}');
}

#endif
