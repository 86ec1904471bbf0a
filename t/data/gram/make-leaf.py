#!/usr/bin/env python3
"""Schemas of one value with texts that match or do not: leaf-*.tsv.

Oracles: decimal (exact arithmetic) for bounds and multiples, datetime,
ipaddress and uuid for formats, json for how strings are written. Run by hand:
    t/data/gram/make-leaf.py
Lines: "?<TAB>schema", then "+<TAB>text" or "-<TAB>text" for each text. What
else is asked of a text than its value (docs/structured-outputs.md): numbers
with bounds have no exponent, and 0 no sign; fractions are not longer than
those of multipleOf; strings with a format are written in one way.
"""
import datetime
import ipaddress
import json
import os
import random
import re
from decimal import Decimal, getcontext

getcontext().prec = 1000
HERE = os.path.dirname(os.path.abspath(__file__))
rng = random.Random(20201203)

INTEGER = re.compile(r"-?(0|[1-9]\d*)\Z", re.A)
PLAIN = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?\Z", re.A)
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?\Z", re.A)


def plain(d):
    """The one text of a Decimal: no exponent, no zeros around it."""
    text = format(d, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "0", "") else text


def allowed(schema, text):
    """schema: keyword to number as text."""
    restricted = len(schema) > 1
    integers = schema["type"] == "integer"
    form = INTEGER if integers else PLAIN if restricted else NUMBER
    if not form.match(text):
        return False
    d = Decimal(text)
    if restricted and text[0] == "-" and d == 0:
        return False
    for word, bound in schema.items():
        if word == "type":
            continue
        b = Decimal(bound)
        if word == "multipleOf":
            if d % b != 0:
                return False
            digits = len(text.partition(".")[2])
            if digits > max(0, -b.normalize().as_tuple().exponent):
                return False
        elif word == "minimum" and d < b or word == "maximum" and d > b:
            return False
        elif word == "exclusiveMinimum" and d <= b:
            return False
        elif word == "exclusiveMaximum" and d >= b:
            return False
    return True


def some_number(digits, fraction):
    n = rng.randrange(10 ** rng.randint(0, digits))
    d = Decimal(n)
    if fraction and rng.random() < 0.7:
        d /= 10 ** rng.randint(1, fraction)
    return -d if rng.random() < 0.4 else d


def spell_bound(d):
    """A bound as people write it, perhaps with exponent or zeros."""
    how = rng.random()
    if how < 0.7 or d == 0:
        return plain(d)
    if how < 0.8:
        return plain(d) + ("0" if "." in plain(d) else ".0")
    sign, digits, exp = d.normalize().as_tuple()
    text = "".join(map(str, digits))
    if len(text) > 1 and how < 0.9:
        exp += len(text) - 1
        text = text[0] + "." + text[1:]
    return ("-" if sign else "") + text + rng.choice("eE") + \
        (rng.choice(["", "+"]) if exp >= 0 else "") + str(exp)


def some_schema():
    integers = rng.random() < 0.5
    schema = {"type": "integer" if integers else "number"}
    digits = rng.choice([1, 2, 3, 6, 12, 20, 40])
    fraction = rng.choice([0, 0, 1, 2, 5, 12])
    if rng.random() < 0.75:
        low = some_number(digits, fraction)
        schema[rng.choice(["minimum", "exclusiveMinimum"])] = spell_bound(low)
    if rng.random() < 0.6:
        high = some_number(digits, fraction)
        for word in ("minimum", "exclusiveMinimum"):
            if word in schema and rng.random() < 0.9:
                high = Decimal(schema[word]) + abs(high)
        schema[rng.choice(["maximum", "exclusiveMaximum"])] = spell_bound(high)
    if len(schema) == 1 or rng.random() < 0.3:
        of = rng.choice(["2", "3", "7", "10", "25", "97", "1000", "60", "1e3",
                         "0.1", "0.01", "0.5", "1.5", "0.25", "2.5", "0.0001",
                         "1", "0.3", "12.5", "1e-8", "5e2", "1.0"])
        schema["multipleOf"] = of
    return schema


def neighbours(schema):
    out = set()
    for word, bound in schema.items():
        if word == "type":
            continue
        b = Decimal(bound)
        last = Decimal(1).scaleb(min(0, b.normalize().as_tuple().exponent))
        for step in (last, last / 10, Decimal(1), Decimal(10)):
            out.update((b - step, b, b + step))
        out.update((-b, b * 10, b / 10, b * 2, b * 3))
        whole = b.to_integral_value()
        out.update((whole, whole - 1, whole + 1))
    for _ in range(8):
        out.add(some_number(rng.choice([1, 2, 4, 10, 30]),
                            rng.choice([0, 1, 3, 8])))
    out.add(Decimal(0))
    values = [schema[w] for w in schema if w.endswith("imum")]
    if "multipleOf" in schema:
        of = Decimal(schema["multipleOf"])
        for v in values or ["0", "100", "12345"]:
            near = (Decimal(v) // of) * of
            out.update((near, near + of, near - of))
    return {plain(x) for x in out if len(plain(x)) < 90}


def spoil(text):
    return rng.choice(["-0", "-0.0", "0.0", "00", "0" + text, text + ".", "+1",
                       text + "e0", text + "0", text + ".0", "1e3", "-", "",
                       "." + text, text + "00", "0x1", "1,0", "NaN", "-.5"])


def schema_text(schema):
    return "{" + ", ".join('"%s": %s' % (k, '"%s"' % v if k == "type" else v)
                           for k, v in schema.items()) + "}"


def write(name, groups):
    with open(os.path.join(HERE, name), "w", encoding="utf-8") as f:
        f.write("# made by make-leaf.py; oracles: see there\n")
        for schema, texts in groups:
            f.write("?\t%s\n" % schema)
            for text, good in sorted(texts.items()):
                assert "\n" not in text and "\t" not in text
                f.write("%s\t%s\n" % ("+" if good else "-", text))


def numbers():
    fixed = [
        {"type": "integer"}, {"type": "number"},
        {"type": "integer", "minimum": "0", "maximum": "0"},
        {"type": "integer", "minimum": "5", "maximum": "4"},
        {"type": "integer", "minimum": "0", "maximum": "1e18"},
        {"type": "number", "minimum": "-1.7976931348623157e308",
         "maximum": "1.7976931348623157e308"},
        {"type": "number", "exclusiveMinimum": "0"},
        {"type": "number", "exclusiveMaximum": "0"},
        {"type": "number", "maximum": "0"},
        {"type": "number", "minimum": "-0.0"},
        {"type": "number", "minimum": "0", "maximum": "1"},
        {"type": "number", "exclusiveMinimum": "0", "exclusiveMaximum": "1"},
        {"type": "integer", "exclusiveMinimum": "0", "exclusiveMaximum": "1"},
        {"type": "integer", "minimum": "0.5", "maximum": "1.5"},
        {"type": "integer", "minimum": "-2147483648",
         "maximum": "2147483647"},
        {"type": "integer", "minimum": "0", "maximum": "1e12",
         "multipleOf": "97"},
        {"type": "number", "minimum": "1" + "0" * 59 + ".5"},
        {"type": "integer", "multipleOf": "1e20"},
        {"type": "integer", "multipleOf": "0.003"},
        {"type": "number", "multipleOf": "0.003"},
    ]
    groups = []
    seen = 0
    for schema in fixed + [some_schema() for _ in range(420)]:
        texts = {}
        for text in sorted(neighbours(schema)):
            texts[text] = allowed(schema, text)
            if rng.random() < 0.25:
                bad = spoil(text)
                texts[bad] = allowed(schema, bad)
        # enough of each, not everything
        keep = rng.sample(sorted(texts), min(len(texts), 16))
        keep += [t for t in sorted(texts) if texts[t]][:6]
        groups.append((schema_text(schema), {t: texts[t] for t in keep}))
        seen += len(set(keep))
    write("leaf-numbers.tsv", groups)
    return seen


def is_date(text):
    if not re.match(r"\d{4}-\d\d-\d\d\Z", text, re.A):
        return False
    y, m, d = map(int, text.split("-"))
    try: # datetime has no year 0; RFC 3339 has, and it is a leap year
        datetime.date(y or 2000, m, d)
    except ValueError:
        return False
    return True


def is_time(text):
    m = re.match(r"(\d\d):(\d\d):(\d\d)(\.\d+)?([zZ]|([+-])(\d\d):(\d\d))\Z",
                 text, re.A)
    if not m:
        return False
    h, mi, s = int(m[1]), int(m[2]), int(m[3])
    oh, om = int(m[7] or 0), int(m[8] or 0)
    try:
        datetime.time(h, mi, min(s, 59))
        datetime.time(oh, om)
    except ValueError:
        return False
    if s < 60:
        return True
    utc = h * 60 + mi - (oh * 60 + om) * (-1 if m[6] == "-" else 1)
    return s == 60 and utc % 1440 == 1439 and om % 15 == 0


def is_ip(text, cls):
    try:
        cls(text)
    except ValueError:
        return False
    return "%" not in text


def is_uuid(text):
    import uuid
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False


def change(text, alphabet):
    """The text with a small accident."""
    i = rng.randrange(len(text) + 1)
    how = rng.random()
    if how < 0.3:
        return text[:i] + rng.choice(alphabet) + text[i:]
    if how < 0.6 and text:
        return text[:i] + text[i + 1:]
    return text[:i] + rng.choice(alphabet) + text[i + 1:]


def formats():
    dates = ["%04d-%02d-%02d" % (y, m, d)
             for y in (2023, 2024, 1900, 2000, 0, 9999)
             for m in range(0, 14) for d in (0, 1, 28, 29, 30, 31, 32)]
    dates += ["%04d-02-29" % y for y in range(0, 10000, 173)]
    dates += ["%04d-02-29" % y for y in range(0, 4000, 100)]
    dates += [change(rng.choice(dates), "0123456789-T") for _ in range(200)]
    times = []
    for _ in range(500):
        s = rng.choice([0, 1, 30, 59, 59, 60, 61])
        t = "%02d:%02d:%02d" % (rng.randint(0, 24), rng.randint(0, 60), s)
        t += rng.choice(["", "", ".5", ".000", ".123456789"])
        t += rng.choice(["Z", "z", "+00:00", "-00:00", "+%02d:%02d" % (
            rng.randint(0, 24), rng.randint(0, 60)), ""])
        times.append(t)
    for t in range(0, 1440):
        off = (t + 1) % 1440 # minutes east where t is 23:59 UTC
        if t % 15 == 14 or rng.random() < 0.1:
            for o in (off, (off + 60) % 1440):
                times.append("%02d:%02d:60+%02d:%02d" % (
                    t // 60, t % 60, o // 60, o % 60))
            west = (1440 - off) % 1440
            times.append("%02d:%02d:60.25-%02d:%02d" % (
                t // 60, t % 60, west // 60, west % 60))
    times += ["23:59:60Z", "23:59:60z", "23:58:60Z", "00:00:60Z"]
    times += [change(rng.choice(times), "0123456789:.+-zZ ")
              for _ in range(300)]
    both = [rng.choice(dates[:60] + ["2024-02-29"] * 40) + rng.choice("TTtT ")
            + rng.choice(times) for _ in range(500)]
    v4 = [".".join(str(rng.choice([0, 1, 9, 10, 99, 100, 199, 200, 249, 250,
                                   255, 256, 260, 300, 999]))
                   for _ in range(rng.choice([4, 4, 4, 4, 3, 5])))
          for _ in range(200)] + ["01.2.3.4", "1.2.3.04", "0.0.0.0"]
    v4 += [change(t, "0123456789.") for t in v4]
    v6 = []
    for _ in range(300):
        raw = rng.getrandbits(128)
        for _ in range(rng.randint(0, 5)):
            raw &= ~(0xffff << 16 * rng.randrange(8))
        a = ipaddress.IPv6Address(raw)
        v6.append(rng.choice([a.compressed, a.exploded,
                              a.compressed.upper()]))
    v6 += ["::", "::1", "1::", "::1.2.3.4", "1:2:3:4:5:6:1.2.3.4",
           "1:2:3:4:5:6:7:1.2.3.4", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8",
           "1::3:4:5:6:7:8", "::ffff:300.1.1.1", "fe80::1%eth0", "1:2",
           "1:2:3:4:5:6:7:8:9", ":::", "1::2::3", "12345::"]
    v6 += [change(t, "0123456789abcdefF:.g") for t in v6]
    ids = []
    for _ in range(60):
        h = "%032x" % rng.getrandbits(128)
        u = "-".join((h[:8], h[8:12], h[12:16], h[16:20], h[20:]))
        ids += [u, u.upper(), h, "{" + u + "}", change(u, "0af-gG")]
    for n in range(9):
        for m in range(9):
            v6 += [":".join(["a"] * n) + "::" + ":".join(["0B"] * m + tail)
                   for tail in ([], ["1.2.3.4"])]
    ids += [u[:23] + "-0aF0" + u[23:], u[:18] + u[23:], u + "-" + u[9:13]]
    names = [".".join(["a" * 63] * 3 + ["b" * (n - 192)])
             for n in range(250, 257)] + ["a" * 63, "a" * 64, "b." + "a" * 64]
    table = [
        ("date", dates, is_date),
        ("time", times, is_time),
        ("date-time", both, lambda t: len(t) > 10 and t[10] in "tT" and
         is_date(t[:10]) and is_time(t[11:])),
        ("ipv4", v4, lambda t: is_ip(t, ipaddress.IPv4Address)),
        ("ipv6", v6, lambda t: is_ip(t, ipaddress.IPv6Address)),
        ("uuid", ids, is_uuid),
        ("hostname", names, lambda t: len(t) <= 253 and
         all(len(label) <= 63 for label in t.split("."))), # RFC 1034
    ]
    groups = []
    for name, texts, good in table:
        groups.append((json.dumps({"type": "string", "format": name}),
                       {'"' + t + '"': good(t) for t in texts}))
    write("leaf-formats.tsv", groups)
    return sum(len(t) for _, t in groups)


PIECES = ["a", "Z", " ", "\u00e9", "\u20ac", "\U0001f600", "\\n", "\\\"",
          "\\\\", "\\/", "\\u0041", "\\u00e9", "\\ud83d\\ude00", "\\uD83D\\uDE00",
          "\\b", "\\f", "\\r", "\\t", "\\u0000", "\\u001f", "\x7f", "/"]
WRONG = ["\\x", "\\u12", "\\ud83d", "\\ude00", "\\ud83d\\u0041", '"', "\\",
         "\x01", "\\U0041", "\\a", "\\ude00\\ud83d"]


def is_string(text):
    """What json reads as a string without lone surrogates; its length."""
    try:
        s = json.loads(text)
        s.encode("utf-8")
    except (ValueError, UnicodeError):
        return None
    return s if isinstance(s, str) else None


def strings():
    groups = []
    for low, high in [(None, None), (0, 0), (1, 1), (0, 3), (3, None), (2, 5),
                      (None, 2000), (1999, 2001), (5, 4), (None, 100000),
                      (65536, 65536)]:
        schema = {"type": "string"}
        if low is not None:
            schema["minLength"] = low
        if high is not None:
            schema["maxLength"] = high
        texts = {}
        for _ in range(60):
            n = rng.randint(0, 7)
            parts = [rng.choice(PIECES) for _ in range(n)]
            if rng.random() < 0.25:
                parts.insert(rng.randint(0, n), rng.choice(WRONG))
            texts['"' + "".join(parts) + '"'] = None
        for n in {low or 0, high or 0}:
            if 100 < n <= 2001:
                for k in (n - 1, n, n + 1):
                    texts['"' + rng.choice("x\u20ac") * k + '"'] = None
        for t in texts:
            s = is_string(t)
            texts[t] = s is not None and len(s) >= (low or 0) and \
                (high is None or len(s) <= high)
        groups.append((json.dumps(schema), texts))
    write("leaf-strings.tsv", groups)
    return sum(len(t) for _, t in groups)


if __name__ == "__main__":
    print("numbers", numbers(), "formats", formats(), "strings", strings())
