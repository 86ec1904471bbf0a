#!/usr/bin/env python3
"""Makes t/data/gram/random.json: schemas by chance, with values that they allow
and values that they do not, in the form of the JSON Schema Test Suite.

Oracle: the Python package jsonschema 4.26.0, Draft202012Validator. Schemas
that it follows in circles are left out.
Run: python3 t/data/gram/make-random.py > t/data/gram/random.json
"""
import json
import random

from jsonschema import Draft202012Validator as Draft

R = random.Random(20260707)
KEYS = ['a', 'b', 'c', 'ab']
KINDS = ["object", "array", "string", "integer", "number",
         ["object", "array"], ["object", "null"], ["array", "string"]]


def value(depth=2):
    r = R.random()
    if depth == 0 or r < .55:
        return R.choice([None, True, False, 0, 1, 2, 3, 5, 1.5, -1, "", "a",
                         "b", "ab", "abc", "xa"])
    if r < .75:
        return [value(depth - 1) for _ in range(R.randint(0, 3))]
    return {k: value(depth - 1) for k in R.sample(KEYS, R.randint(0, 3))}


def small():
    return R.choice([
        True, {}, False, {"type": "integer"}, {"type": "string"},
        {"type": ["null", "boolean"]}, {"const": value(1)},
        {"enum": [value(1) for _ in range(R.randint(1, 4))]},
        {"type": "number", "minimum": R.choice([0, 1, 2])}, {"maximum": 2},
        {"minLength": R.choice([0, 1, 2])},
        {"pattern": R.choice(["^a", "b$", "a"])},
        {"multipleOf": R.choice([1, 2])}, {"type": "object"},
        {"type": "array"}])


def words(depth):
    def sub():
        return schema(depth - 1)

    def some(n):
        return [sub() for _ in range(R.randint(1, n))]

    return [
        (.5, "type", lambda: R.choice(KINDS)),
        (.5, "properties",
         lambda: {k: sub() for k in R.sample(KEYS, R.randint(1, 3))}),
        (.15, "patternProperties", lambda: {
            k: sub() for k in R.sample(["^a", "b$", "c|x"], R.randint(1, 2))}),
        (.25, "additionalProperties", lambda: R.choice([False, False, sub()])),
        (.3, "required", lambda: R.sample(KEYS, R.randint(1, 2))),
        (.07, "minProperties", lambda: R.randint(0, 2)),
        (.07, "maxProperties", lambda: R.randint(0, 3)),
        (.07, "propertyNames", lambda: R.choice(
            [{"pattern": "^a"}, {"enum": ["a", "b"]}, {"maxLength": 1},
             {"minLength": 2}, sub()])),
        (.1, "dependentRequired", lambda: {
            k: R.sample(KEYS, R.randint(0, 2)) for k in R.sample(KEYS, 2)}),
        (.1, "oneOf", lambda: [{"required": R.sample(KEYS, R.randint(1, 2))}
                               for _ in range(R.randint(2, 3))]),
        (.25, "items", sub),
        (.15, "prefixItems", lambda: some(2)),
        (.1, "minItems", lambda: R.randint(0, 3)),
        (.1, "maxItems", lambda: R.randint(0, 3)),
        (.12, "contains", sub),
        (.05, "minContains", lambda: R.randint(0, 3)),
        (.08, "enum", lambda: [value() for _ in range(R.randint(1, 5))]),
        (.04, "const", value),
        (.12, "allOf", lambda: some(2)),
        (.15, "anyOf", lambda: some(3)),
        (.1, "oneOf", lambda: some(2)),
        (.15, "$ref", lambda: "#/$defs/" + R.choice("de")),
        (.08, "unevaluatedProperties",
         lambda: R.choice([False, False, True, sub()])),
        (.06, "unevaluatedItems",
         lambda: R.choice([False, False, True, sub()])),
        (.05, "minimum", lambda: 1),
        (.05, "maxLength", lambda: 1),
    ]


def schema(depth):
    if depth == 0:
        return small()
    had = [(word, make()) for chance, word, make in words(depth)
           if R.random() < chance]
    R.shuffle(had)
    return dict(had)


def group(n):
    """One schema with values of both kinds, or None."""
    one = schema(2)
    one["$defs"] = {k: schema(R.randint(0, 2)) for k in "de"}
    check = Draft(one)
    tests = {}
    for _ in range(60):
        data = value()
        try:
            valid = check.is_valid(data)
        except BaseException:  # circles end in more than RecursionError
            return None
        if list(tests.values()).count(valid) < 5:
            tests[json.dumps(data)] = valid
    if len(set(tests.values())) < 2:
        return None
    return {"description": "schema %d" % n, "schema": one, "tests": [
        {"description": "value %d" % i, "data": json.loads(data),
         "valid": valid} for i, (data, valid) in enumerate(tests.items())]}


def main():
    groups = []
    while len(groups) < 300:
        one = group(len(groups))
        if one:
            groups.append(one)
    print("[" + ",\n".join(json.dumps(g) for g in groups) + "]")


main()
