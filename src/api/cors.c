#include "api/cors.h"

#include "base/ascii.h"
#include "base/num.h"

#include <strings.h>

static bool is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_alnum(char c)
{
    return is_alpha(c) || (c >= '0' && c <= '9');
}

static bool is_in(char c, const char *set)
{
    return c && strchr(set, c);
}

/* The next entry of the list without the spaces around it; false: no more. */
static bool next_entry(const char **at, struct span *entry)
{
    size_t n;

    if (!*at)
        return false;
    n = strcspn(*at, ",");
    *entry = ascii_trim(*at, n);
    *at = (*at)[n] ? *at + n + 1 : NULL;
    return true;
}

/* Length of "scheme://"; 0: there is none (RFC 3986, 3.1). */
static size_t scheme_len(struct span s)
{
    size_t n = 0;

    while (n < s.n && (is_alnum(s.s[n]) || is_in(s.s[n], "+-.")))
        n++;
    if (!n || !is_alpha(s.s[0]) || s.n - n < 3 || memcmp(s.s + n, "://", 3))
        return 0;
    return n + 3;
}

/* Length of a name, an IPv4 address, or an IPv6 address in brackets. */
static size_t host_len(struct span s)
{
    size_t n = 0;

    if (s.n && s.s[0] == '[') {
        for (n = 1; n < s.n && (is_alnum(s.s[n]) || is_in(s.s[n], ":."));)
            n++;
        return n > 1 && n < s.n && s.s[n] == ']' ? n + 1 : 0;
    }
    while (n < s.n && (is_alnum(s.s[n]) || is_in(s.s[n], "-._")))
        n++;
    return n;
}

/* Browsers leave the scheme's own port out: with it no page would match. */
static bool is_own_port(struct span origin, int64_t port)
{
    return (port == 80 && strncasecmp(origin.s, "http://", 7) == 0) ||
           (port == 443 && strncasecmp(origin.s, "https://", 8) == 0);
}

/* NULL, or what is wrong with this origin. */
static const char *fault_of(struct span origin)
{
    static const char shape[] = "an origin is scheme://host or "
                                "scheme://host:port, nothing behind it";
    size_t scheme = scheme_len(origin), host;
    struct span rest;
    int64_t port;

    if (!scheme)
        return shape;
    rest = (struct span){origin.s + scheme, origin.n - scheme};
    host = host_len(rest);
    if (!host)
        return shape;
    rest = (struct span){rest.s + host, rest.n - host};
    if (!rest.n)
        return NULL;
    if (rest.s[0] != ':' ||
        !num_parse_i64(rest.s + 1, rest.n - 1, 1, 65535, &port))
        return shape;
    return is_own_port(origin, port)
               ? "browsers leave the scheme's own port out; so must this"
               : NULL;
}

enum st cors_check(const char *list, struct err *e)
{
    const char *at = list;
    struct span entry;

    if (span_is(ascii_trim(list, strlen(list)), "*"))
        return ST_OK;
    while (next_entry(&at, &entry)) {
        const char *fault = span_is(entry, "*")
                                ? "* means every origin and stands alone"
                                : fault_of(entry);

        if (fault)
            return err_set(e, ST_USAGE, "", "'%.*s': %s",
                           (int)(entry.n < 80 ? entry.n : 80), entry.s, fault);
    }
    return ST_OK;
}

bool cors_varies(const char *list)
{
    return list && !span_is(ascii_trim(list, strlen(list)), "*");
}

struct span cors_match(const char *list, struct span origin)
{
    struct span entry;

    if (!list)
        return (struct span){0};
    if (!cors_varies(list))
        return ascii_trim(list, strlen(list));
    while (origin.n && next_entry(&list, &entry))
        if (entry.n == origin.n &&
            strncasecmp(entry.s, origin.s, entry.n) == 0)
            return entry;
    return (struct span){0};
}

bool cors_names_ok(struct span names)
{
    bool name = false; /* the current one has begun */
    bool over = false; /* and a space came behind it */

    if (names.n > CORS_HEADERS_MAX)
        return false;
    for (size_t i = 0; i < names.n; i++) {
        char c = names.s[i];

        if (c == ' ') {
            over = name;
        } else if (c == ',') {
            if (!name)
                return false;
            name = over = false;
        } else if (!over && (is_alnum(c) || is_in(c, "!#$%&'*+-.^_`|~"))) {
            name = true; /* a token of RFC 9110, 5.6.2 */
        } else {
            return false;
        }
    }
    return name;
}
