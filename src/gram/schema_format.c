/* Formats of JSON Schema as regular expressions of our own; the grammars are
 * those of RFC 3339, 3986, 4122, 5321, 6901. */
#include "gram/regex.h"
#include "gram/schema_int.h"

#define DAY                                                                    \
    "(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|"                \
    "(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))|"          \
    "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|"                              \
    "(?:[02468][048]|[13579][26])00)-02-29)"
#define HOUR "(?:[01]\\d|2[0-3])"
#define CLOCK HOUR ":[0-5]\\d"
#define IN_SECOND "(?:\\.\\d+)?"
#define TIME CLOCK ":[0-5]\\d" IN_SECOND "(?:[Zz]|[+-]" CLOCK ")"

#define BYTE "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)"
#define IPV4 BYTE "(?:\\." BYTE "){3}"
#define H16 "[0-9A-Fa-f]{1,4}"
#define LS32 "(?:" H16 ":" H16 "|" IPV4 ")"
#define HEAD(n) "(?:(?:" H16 ":){0," n "}" H16 ")?::"
#define IPV6                                                                   \
    "(?:(?:" H16 ":){6}" LS32 "|::(?:" H16 ":){5}" LS32 "|(?:" H16             \
    ")?::(?:" H16 ":){4}" LS32 "|" HEAD("1") "(?:" H16 ":){3}" LS32            \
    "|" HEAD("2") "(?:" H16 ":){2}" LS32 "|" HEAD("3") H16 ":" LS32            \
    "|" HEAD("4") LS32 "|" HEAD("5") H16 "|" HEAD("6") ")"

#define PCT "%[0-9A-Fa-f]{2}"
#define UNIT "A-Za-z0-9._~!$&'()*+,;=\\-" /* unreserved, sub-delims */
/* What IRIs (RFC 3987) have beside these: u, and p in a query. */
#define UCS                                                                    \
    "\\u{A0}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFEF}"                   \
    "\\u{10000}-\\u{1FFFD}\\u{20000}-\\u{2FFFD}\\u{30000}-\\u{3FFFD}"           \
    "\\u{40000}-\\u{4FFFD}\\u{50000}-\\u{5FFFD}\\u{60000}-\\u{6FFFD}"           \
    "\\u{70000}-\\u{7FFFD}\\u{80000}-\\u{8FFFD}\\u{90000}-\\u{9FFFD}"           \
    "\\u{A0000}-\\u{AFFFD}\\u{B0000}-\\u{BFFFD}\\u{C0000}-\\u{CFFFD}"           \
    "\\u{D0000}-\\u{DFFFD}\\u{E1000}-\\u{EFFFD}"
#define PRIVATE                                                                \
    "\\u{E000}-\\u{F8FF}\\u{F0000}-\\u{FFFFD}\\u{100000}-\\u{10FFFD}"
#define PCHAR(u) "(?:[" UNIT u ":@]|" PCT ")"
#define SEGMENTS(u) "(?:/" PCHAR(u) "*)*"
#define HOST(u)                                                                \
    "(?:\\[(?:" IPV6 "|[vV][0-9A-Fa-f]+\\.[" UNIT ":]+)\\]|(?:[" UNIT u        \
    "]|" PCT ")*)"
#define AUTHORITY(u) "(?:(?:[" UNIT u ":]|" PCT ")*@)?" HOST(u) "(?::\\d*)?"
#define AFTER(u, p)                                                            \
    "(?:\\?(?:" PCHAR(u) "|[/?" p "])*)?(?:#(?:" PCHAR(u) "|[/?])*)?"
#define ABSOLUTE(u) "/(?:" PCHAR(u) "+" SEGMENTS(u) ")?"
#define URI(u, p)                                                              \
    "[A-Za-z][A-Za-z0-9+.-]*:(?://" AUTHORITY(u) SEGMENTS(u) "|"               \
    ABSOLUTE(u) "|" PCHAR(u) "+" SEGMENTS(u) "|)" AFTER(u, p)
#define REFERENCE(u, p)                                                        \
    "(?:" URI(u, p) "|(?://" AUTHORITY(u) SEGMENTS(u) "|" ABSOLUTE(u) "|(?:["  \
    UNIT u "@]|" PCT ")+" SEGMENTS(u) "|)" AFTER(u, p) ")"

/* RFC 6570, with the erratum that allows an apostrophe. */
#define VARIABLE                                                               \
    "(?:[A-Za-z0-9_]|" PCT ")(?:\\.?(?:[A-Za-z0-9_]|" PCT ")+)*"               \
    "(?::[1-9]\\d{0,3}|\\*)?"
#define TEMPLATE                                                               \
    "(?:[!#$&'()*+,\\-./0-9:;=?@A-Z\\[\\]_a-z~" UCS PRIVATE "]|" PCT             \
    "|\\{[+#./;?&=,!@|]?" VARIABLE "(?:," VARIABLE ")*\\})*"

#define ATOM "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
#define LABEL "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
#define EMAIL                                                                  \
    "(?:" ATOM "(?:\\." ATOM ")*|\"(?:[ !#-\\[\\]-~]|\\\\[ -~])*\")@"          \
    "(?:" LABEL "(?:\\." LABEL ")*|\\[(?:" IPV4 "|[Ii][Pp][Vv]6:" IPV6 ")\\])"

/* Labels with -- in the third and fourth place are left out: those of other
 * scripts (xn--) are right or wrong by large tables. */
#define AN "[A-Za-z0-9]"
#define ANH "[A-Za-z0-9-]"
#define NAME                                                                   \
    "(?:" AN "|" AN AN "|" AN ANH AN "|" AN ANH ANH AN "|" AN ANH "(?:" AN     \
    ANH "|-" AN ")" ANH "{0,58}" AN ")"

#define POINTER "(?:/(?:[^/~]|~[01])*)*"
#define DURATION_TIME                                                          \
    "T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)"
#define DURATION                                                               \
    "P(?:(?:\\d+D|\\d+M(?:\\d+D)?|\\d+Y(?:\\d+M(?:\\d+D)?)?)(?:"               \
    DURATION_TIME ")?|" DURATION_TIME "|\\d+W)"

static const struct format {
    const char *name;
    const char *regex; /* NULL: defined, but we cannot check it */
    uint32_t longest;
} formats[] = {
    {"date", DAY, GX_MANY},
    {"time", TIME, GX_MANY},
    {"date-time", DAY "[Tt]", GX_MANY}, /* and a time */
    {"duration", DURATION, GX_MANY},
    {"uuid", "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", GX_MANY},
    {"email", EMAIL, GX_MANY},
    {"hostname", NAME "(?:\\." NAME ")*", 253},
    {"ipv4", IPV4, GX_MANY},
    {"ipv6", IPV6, GX_MANY},
    {"uri", URI("", ""), GX_MANY},
    {"uri-reference", REFERENCE("", ""), GX_MANY},
    {"iri", URI(UCS, PRIVATE), GX_MANY},
    {"iri-reference", REFERENCE(UCS, PRIVATE), GX_MANY},
    {"uri-template", TEMPLATE, GX_MANY},
    {"json-pointer", POINTER, GX_MANY},
    {"relative-json-pointer", "(?:0|[1-9]\\d*)(?:#|" POINTER ")", GX_MANY},
    {"idn-email", NULL, 0},
    {"idn-hostname", NULL, 0},
    {"regex", NULL, 0},
};
#define N_FORMATS (sizeof formats / sizeof *formats)
_Static_assert(N_FORMATS <= SCHEMA_FORMATS, "a place for each");

#define LEAP_MAX (16u << 10)

/*
 * A leap second is the last of a day in UTC: 23:59:60Z, 15:59:60-08:00. A
 * second of 60 is written with offsets of whole quarters of an hour only, as
 * they are in use; the others would need 1,440 automata.
 */
static void leap_second(struct buf *b)
{
    int t, plus, minus;

    buf_puts(b, "23:59:60" IN_SECOND "[Zz]");
    for (t = 14; t < 24 * 60; t += 15) {
        plus = (t + 1) % (24 * 60);
        minus = 24 * 60 - 1 - t;
        buf_printf(b, "|%02d:%02d:60" IN_SECOND "(?:\\+%02d:%02d|-%02d:%02d)",
                   t / 60, t % 60, plus / 60, plus % 60, minus / 60,
                   minus % 60);
    }
}

static enum st parse(struct gxs *w, const struct format *f, enum gx_form form,
                     const struct gx **out, struct err *e)
{
    bool dated = strcmp(f->name, "date-time") == 0;
    bool timed = strcmp(f->name, "time") == 0;
    struct buf b;
    enum st st;

    buf_init(&b, LEAP_MAX);
    buf_puts(&b, f->regex);
    if (dated)
        buf_puts(&b, "(?:" TIME);
    if (dated || timed) {
        buf_puts(&b, "|");
        leap_second(&b);
    }
    if (dated)
        buf_puts(&b, ")");
    st = b.failed ? err_set(e, ST_INTERNAL, "", "a format is too long")
                  : regex_parse(out, w, buf_text(&b), REGEX_WHOLE, form, e);
    buf_release(&b);
    return st;
}

static const struct format *find(struct text name)
{
    size_t i;

    for (i = 0; i < N_FORMATS; i++)
        if (text_is(name, formats[i].name))
            return &formats[i];
    return NULL;
}

int schema_format_find(struct text name, uint32_t *longest)
{
    const struct format *f = find(name);

    *longest = f && f->regex ? f->longest : GX_MANY;
    return f && f->regex ? (int)(f - formats) : -1;
}

enum st schema_format(struct schema_read *s, const struct json *node,
                      const struct gx **out, struct err *e)
{
    const struct json *v = json_get(node, "format");
    const struct format *f;
    const struct gx **kept;
    enum st st;

    *out = NULL;
    f = find(v->str);
    if (!f)
        return ST_OK;
    if (!f->regex)
        return schema_refuse(s, ST_UNSUPPORTED, node, "format", e,
                             "'%s' is not supported", f->name);
    kept = &schema_shared(s)->text[f - formats];
    if (!*kept) {
        st = parse(schema_workshop(s), f, GX_JSON, kept, e);
        if (st) {
            *kept = NULL;
            return st;
        }
    }
    *out = *kept;
    return ST_OK;
}

enum st schema_raw_format(const struct gx **out, uint32_t *longest,
                          struct gxs *w, struct text name, struct err *e)
{
    const struct format *f = find(name);

    *out = NULL;
    *longest = GX_MANY;
    if (!f)
        return ST_OK;
    if (!f->regex)
        return err_set(e, ST_UNSUPPORTED, "", "format: '%s' is not supported",
                       f->name);
    *longest = f->longest;
    return parse(w, f, GX_RAW, out, e);
}
