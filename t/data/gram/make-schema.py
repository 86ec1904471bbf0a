#!/usr/bin/env python3
"""Makes t/data/gram/schema.json: schemas, texts that they allow and texts that
they do not.

Oracle of "yes" and "no": the Python package jsonschema (the version is in the
file), Draft202012Validator with its formats (Draft4Validator for what only
older drafts have). "ours" (allowed) and "not_ours" (not allowed) are the order
of keys and the one spelling, decided in docs/decisions/0007-grammars.md; both
are valid for the oracle. "refused" is what the message must say.
Run: python3 t/data/gram/make-schema.py > t/data/gram/schema.json
"""
import json
from importlib.metadata import version

from jsonschema import Draft202012Validator as Draft
from jsonschema import Draft4Validator

CASES = []


def case(name, schema, yes=(), no=(), ours=(), not_ours=(), refused=None,
         draft=Draft):
    if refused is None:
        draft.check_schema(schema)
        check = draft(schema, format_checker=draft.FORMAT_CHECKER)
        for text in [*yes, *ours, *not_ours]:
            assert check.is_valid(json.loads(text)), (name, text)
        for text in no:
            try:
                value = json.loads(text)
            except ValueError:
                continue
            assert not check.is_valid(value), (name, text)
    CASES.append({"name": name, "schema": schema, "yes": list(yes),
                  "no": list(no), "ours": list(ours),
                  "not_ours": list(not_ours), "refused": refused})


ANY = ['null', 'true', 'false', '0', '-1.5e3', '"x"', '""', '[]', '[1,[2]]',
       '{}', '{"a":{"b":[]}}', '[ 1 , {} ]', '{ "a" : 1 , "b" : 2 }']
BROKEN = ['', 'nul', '[1,]', '{"a"}', '{"a":1,}', '01', '1.', '"\n"', '{a:1}',
          '[1 2]', '"\\x"', 'truefalse']

# --- kinds
case("any", True, ANY, BROKEN)
case("empty", {}, ANY, BROKEN)
case("only words that say something",
     {"title": "t", "description": "d", "default": 5, "examples": [1],
      "x-order": 3, "nullable": True}, ANY, BROKEN)
case("null", {"type": "null"}, ['null'], ['0', 'false', '""', '[]', '{}'])
case("boolean", {"type": "boolean"}, ['true', 'false'], ['0', 'null', '"t"'])
case("integer", {"type": "integer"}, ['0', '-0', '12', '-7'],
     ['1.5', '"1"', 'true', '1e-1', '01'])
case("number", {"type": "number"}, ['0', '1.5', '-2e5', '1E+2'],
     ['"1"', 'null', '.5', '1.'])
case("string", {"type": "string"}, ['""', '"a"', '"\\u00e9\\n"', '"é"',
                                    '"\\ud83d\\ude00"'],
     ['1', 'null', '"', '"\t"'], not_ours=['"\\ud83d"'])
case("list of types", {"type": ["string", "null"]}, ['"a"', 'null'],
     ['1', 'true', '[]'])
case("all types by name",
     {"type": ["null", "boolean", "integer", "number", "string", "array",
               "object"]}, ANY, BROKEN)

# --- objects
case("check 45: an object",
     {"type": "object",
      "properties": {"name": {"type": "string"}, "age": {"type": "integer"},
                     "tags": {"type": "array", "items": {"type": "string"}}},
      "required": ["name", "age"], "additionalProperties": False},
     ['{"name":"a","age":1}', '{"name":"a","age":1,"tags":["x","y"]}',
      '{\n  "name": "a",\n  "age": 1,\n  "tags": [\n    "x"\n  ]\n}',
      '{"name":"é","age":1}'],
     ['{"name":"a"}', '{"age":1}', '{"name":1,"age":1}', '{}',
      '{"name":"a","age":1,"x":2}', '{"name":"a","age":"1"}',
      '{"name":"a","age":1,"tags":[1]}', '[]', 'null'],
     not_ours=['{"age":1,"name":"a"}'])
OPT = {"type": "object", "additionalProperties": False,
       "properties": {k: {"type": "integer"} for k in "abcde"}}
case("optional properties in any subset", OPT,
     ['{}', '{ }', '{"a":1}', '{"e":1}', '{"a":1,"e":2}', '{"b":1,"d":2}',
      '{"a":1,"b":2,"c":3,"d":4,"e":5}', '{"c":1,"d":2,"e":3}'],
     ['{"f":1}', '{"a":"x"}', '{"a":1,}', '{,"a":1}', '{"a":1"b":2}'],
     not_ours=['{"b":1,"a":2}', '{"e":1,"d":1}', '{"a":1,"a":2}'])
case("required in the middle", {**OPT, "required": ["c"]},
     ['{"c":1}', '{"a":1,"c":2}', '{"a":1,"b":1,"c":2,"e":3}', '{"c":1,"d":2}'],
     ['{}', '{"a":1}', '{"a":1,"d":2}', '{"c":"x"}'],
     not_ours=['{"c":1,"a":2}'])
case("required first and last", {**OPT, "required": ["e", "a"]},
     ['{"a":1,"e":2}', '{"a":1,"b":2,"d":3,"e":4}'],
     ['{"a":1}', '{"e":1}', '{}'], not_ours=['{"e":1,"a":2}'])
case("other keys are possible",
     {"type": "object", "properties": {"a": {"type": "integer"}}},
     ['{}', '{"a":1}', '{"a":1,"b":"x"}', '{"b":null,"c":[]}', '{"ab":"x"}',
      '{"":1}', '{"a":1,"é":{"a":"x"}}'],
     ['{"a":"x"}', '{"a":1,"b"}'],
     not_ours=['{"b":1,"a":1}', '{"\\u0062":1}'])
case("required names that are not declared",
     {"type": "object", "properties": {"a": True},
      "required": ["z", "a", "y"]},
     ['{"a":1,"z":2,"y":3}', '{"a":1,"z":2,"y":3,"b":4}'],
     ['{"a":1,"z":2}', '{"z":1,"y":1}', '{}'],
     not_ours=['{"z":1,"a":1,"y":1}', '{"a":1,"b":1,"z":2,"y":3}'])
case("other keys with a schema",
     {"type": "object", "properties": {"a": {"type": "string"}},
      "additionalProperties": {"type": "integer"}},
     ['{"a":"x"}', '{"a":"x","b":1}', '{"b":1,"c":2}', '{}'],
     ['{"b":"x"}', '{"a":1}', '{"a":"x","b":null}'])
case("patterns of names",
     {"type": "object", "properties": {"foo": {"type": "integer"}},
      "patternProperties": {"^f": {"minimum": 5}, "o$": {"maximum": 10}},
      "additionalProperties": {"type": "string"}},
     ['{"foo":7}', '{"fx":5}', '{"fx":"s"}', '{"xo":10}', '{"fo":8}',
      '{"x":"s"}', '{"foo":7,"fo":6,"x":"y"}', '{}', '{"xo":null}'],
     ['{"foo":4}', '{"foo":11}', '{"foo":"x"}', '{"fx":4}', '{"xo":11}',
      '{"fo":4}', '{"fo":11}', '{"x":1}'])
case("patterns alone allow other keys",
     {"patternProperties": {"^S_": {"type": "string"}}},
     ['{"S_a":"x"}', '{"a":1}', '{"a":1,"S_":"x"}', '1', '[]'],
     ['{"S_a":1}', '{"a":1,"S_":null}'])
case("a key that must not be there",
     {"type": "object", "properties": {"a": False, "b": True}},
     ['{}', '{"b":1}', '{"c":1}'], ['{"a":1}', '{"b":1,"a":1}'])
case("only patterned keys",
     {"type": "object", "patternProperties": {"^[a-z]+$": {"type": "null"}},
      "additionalProperties": False},
     ['{}', '{"abc":null}', '{"a":null,"b":null}'],
     ['{"A":null}', '{"a":1}', '{"":null}', '{"a1":null}'])
case("names that JSON must escape",
     {"type": "object", "properties": {"a\"b\\c\n": {"type": "null"},
                                       "é😀": {"type": "null"}},
      "required": ["a\"b\\c\n"], "additionalProperties": False},
     ['{"a\\"b\\\\c\\n":null}', '{"a\\"b\\\\c\\n":null,"é😀":null}'],
     ['{}', '{"é😀":null}'],
     not_ours=['{"a\\u0022b\\\\c\\n":null}'])
case("numbers of properties",
     {"type": "object", "minProperties": 2, "maxProperties": 3},
     ['{"a":1,"b":2}', '{"a":1,"b":2,"c":3}', '{"a":{},"b":{"x":1}}'],
     ['{}', '{"a":1}', '{"a":1,"b":2,"c":3,"d":4}'])
case("numbers of declared properties", {**OPT, "minProperties": 2,
                                        "maxProperties": 3},
     ['{"a":1,"b":2}', '{"a":1,"e":2}', '{"b":1,"d":1,"e":1}', '{"d":1,"e":1}'],
     ['{}', '{"a":1}', '{"a":1,"b":1,"c":1,"d":1}'])
case("at most none", {"type": "object", "maxProperties": 0}, ['{}', '{ }'],
     ['{"a":1}'])
case("required makes the bound",
     {"type": "object", "required": ["a"], "maxProperties": 1},
     ['{"a":1}'], ['{}', '{"a":1,"b":2}'])
case("without type, keywords restrict their own only",
     {"properties": {"a": {"type": "string"}}, "required": ["a"]},
     ['1', 'null', '[]', '"x"', '{"a":"x"}'], ['{}', '{"a":1}'])
case("dependentRequired",
     {"type": "object", "properties": {"a": {}, "b": {}, "c": {}},
      "dependentRequired": {"a": ["c"]}},
     ['{}', '{"b":1}', '{"a":1,"c":2}', '{"c":1}', '{"a":1,"b":2,"c":3}'],
     ['{"a":1}', '{"a":1,"b":2}'])

# --- arrays
case("items", {"type": "array", "items": {"type": "integer"}},
     ['[]', '[ ]', '[1]', '[1,2]', '[ 1 , 2 ]'], ['["x"]', '[1,"x"]', '{}'])
case("prefixItems",
     {"type": "array", "prefixItems": [{"type": "integer"},
                                       {"type": "string"}]},
     ['[]', '[1]', '[1,"a"]', '[1,"a",null]', '[1,"a",2,{}]'],
     ['["a"]', '[1,2]', '[null]'])
case("prefixItems and no more",
     {"type": "array", "prefixItems": [{"type": "integer"},
                                       {"type": "string"}], "items": False},
     ['[]', '[1]', '[1,"a"]'], ['[1,"a",1]', '["a"]'])
case("prefixItems, all of them",
     {"type": "array", "prefixItems": [{"type": "integer"},
                                       {"type": "string"}], "items": False,
      "minItems": 2}, ['[1,"a"]'], ['[]', '[1]', '[1,"a",1]'])
case("prefixItems, then items",
     {"type": "array", "prefixItems": [{"type": "integer"}],
      "items": {"type": "string"}, "minItems": 2, "maxItems": 4},
     ['[1,"a"]', '[1,"a","b","c"]'], ['[1]', '[1,2]', '[1,"a","b","c","d"]'])
for lo, hi in ((0, 3), (1, 1), (2, 40), (12, None), (1, None), (0, 0)):
    s = {"type": "array", "items": {"type": "number"}, "minItems": lo}
    if hi is not None:
        s["maxItems"] = hi
    counts = sorted({0, 1, 2, 3, 4, 11, 12, 13, 39, 40, 41, 100})
    good = [n for n in counts if n >= lo and (hi is None or n <= hi)]
    case("%s to %s items" % (lo, hi), s,
         [json.dumps([1] * n) for n in good],
         [json.dumps([1] * n) for n in counts if n not in good])
case("C26: 10 to 1,000 items",
     {"type": "array", "items": {"type": "number"}, "minItems": 10,
      "maxItems": 1000},
     [json.dumps([1] * 10), json.dumps([1] * 1000)],
     [json.dumps([1] * 9), json.dumps([1] * 1001)])
case("a place where nothing may be",
     {"type": "array", "prefixItems": [{"type": "integer"}, False]},
     ['[]', '[1]'], ['[1,1]', '["a"]', '[1,null,2]'])
case("arrays of arrays",
     {"type": "array", "items": {"type": "array", "minItems": 1,
                                 "items": {"enum": [1, "a"]}}},
     ['[]', '[[1]]', '[["a",1],[1]]'], ['[[]]', '[1]', '[[2]]', '[[1,"b"]]'])

# --- enum and const
case("enum", {"enum": ["red", "green", 5, None, [1, {"a": 2}], True]},
     ['"red"', '"green"', '5', 'null', '[1,{"a":2}]', '[ 1, {"a" : 2} ]',
      'true'],
     ['"blue"', '6', 'false', '[1]', '{}', '"re"', '"redx"'])
case("const", {"const": {"a": 1.0, "b": [False]}},
     ['{"a":1,"b":[false]}', '{ "a": 1, "b": [ false ] }'],
     ['{"a":1}', '{"a":1,"b":[0]}', '{}'],
     not_ours=['{"b":[false],"a":1}', '{"a":1.0,"b":[false]}'])
case("enum within a type", {"type": "string", "enum": ["a", 1, None]},
     ['"a"'], ['1', 'null', '"b"'])
case("enum within bounds", {"enum": [1, 5, 10, "x"], "minimum": 3},
     ['5', '10', '"x"'], ['1', '3'])
case("enum within a pattern", {"enum": ["abc", "xbc", 3], "pattern": "^a"},
     ['"abc"', '3'], ['"xbc"'])
case("enum within an object schema",
     {"enum": [{"b": 1, "a": 2}, {"a": "x"}, {"c": 1}],
      "type": "object", "properties": {"a": {"type": "integer"},
                                       "b": {"type": "integer"}},
      "required": ["a"]},
     ['{"b":1,"a":2}'], ['{"a":"x"}', '{"c":1}', '{"a":2}'])
case("two enums hold together",
     {"allOf": [{"enum": [1, 2, 3]}, {"enum": [2, 3, 4]}, {"const": 3.0}]},
     ['3'], ['1', '2', '4'])
case("1.0 is an integer", {"type": "integer", "enum": [1.0, 1.5, 2]},
     ['1', '2'], ['1.5'])

case("many names", {"enum": ["name-%d" % i for i in range(300)] + [7, "name"]},
     ['"name-0"', '"name-299"', '"name"', '7'],
     ['"name-300"', '"name-"', '"name-29', '6', '""'])

# --- what must be among the items
case("contains", {"type": "array", "items": {"type": "integer"},
                  "contains": {"minimum": 5}},
     ['[5]', '[1,6]', '[6,1,7]', '[1,1,5,1]'], ['[]', '[1]', '[5,"a"]'])
case("contains, twice", {"type": "array", "contains": {"const": "x"},
                         "minContains": 2, "maxItems": 4},
     ['["x","x"]', '["x",1,"x"]', '[1,"x",1,"x"]', '["x","x","x","x"]'],
     ['["x"]', '[1,"x",1]', '["x","x",1,1,1]', '[]'])
case("contains behind prefixItems",
     {"type": "array", "prefixItems": [{"type": "integer"},
                                       {"type": "string"}],
      "contains": {"enum": [3, "x", None]}},
     ['[3]', '[1,"x"]', '[1,"a",null]', '[3,"a"]'],
     ['[]', '[1]', '[1,"a"]', '[1,"a",2]', '["x"]'])
case("contains, in an enum", {"enum": [[1], [2, "a"], ["a"]],
                              "contains": {"type": "string"}},
     ['[2,"a"]', '["a"]'], ['[1]'])
case("refused: maxContains", {"contains": {"type": "string"},
                              "maxContains": 1}, refused="maxContains at #")

# --- names
case("propertyNames, by a pattern",
     {"type": "object", "propertyNames": {"pattern": "^[a-c]+$"},
      "additionalProperties": {"type": "integer"}},
     ['{}', '{"a":1}', '{"abc":1,"b":2}'], ['{"d":1}', '{"":1}', '{"a":"x"}'])
case("propertyNames, from a list",
     {"type": "object", "propertyNames": {"enum": ["a", "é", 5]},
      "properties": {"z": True, "a": {"type": "integer"}}},
     ['{}', '{"a":1}', '{"a":1,"é":2}'], ['{"z":1}', '{"b":1}', '{"a":"x"}'])
case("propertyNames, by their length",
     {"type": "object", "propertyNames": {"minLength": 2, "maxLength": 3}},
     ['{}', '{"ab":1}', '{"aé😀":1}'], ['{"a":1}', '{"abcd":1}'])
case("propertyNames, none", {"type": "object", "propertyNames": False},
     ['{}'], ['{"a":1}'])

# --- what nothing else has looked at
case("unevaluatedProperties behind allOf",
     {"allOf": [{"$ref": "#/$defs/base"}],
      "properties": {"b": {"type": "integer"}},
      "unevaluatedProperties": False, "type": "object",
      "$defs": {"base": {"properties": {"a": {"type": "string"}},
                         "required": ["a"]}}},
     ['{"a":"x"}', '{"a":"x","b":1}'], ['{}', '{"a":"x","c":1}', '{"a":1}'],
     not_ours=['{"b":1,"a":"x"}'])
case("unevaluatedProperties and what anyOf evaluates",
     {"type": "object", "anyOf": [
         {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
         {"properties": {"b": {"type": "integer"}}, "required": ["b"]}],
      "unevaluatedProperties": False},
     ['{"a":1}', '{"b":1}', '{"a":1,"b":2}'],
     ['{}', '{"a":1,"b":"x"}', '{"a":1,"c":1}'])
case("unevaluatedProperties with a schema",
     {"type": "object", "patternProperties": {"^x": {"type": "null"}},
      "unevaluatedProperties": {"type": "integer"}},
     ['{"xa":null}', '{"a":1,"xa":null}'], ['{"xa":1}', '{"a":null}'])
case("unevaluatedItems",
     {"type": "array", "prefixItems": [{"type": "integer"}],
      "allOf": [{"prefixItems": [True, {"type": "string"}]}],
      "unevaluatedItems": False},
     ['[]', '[1]', '[1,"a"]'], ['[1,"a",1]', '[1,2]', '["a"]'])

# --- references
REF = {"type": "object", "properties": {"c": {"$ref": "#/$defs/C"}},
       "required": ["c"], "additionalProperties": False}
case("C28: an enum behind a $ref",
     {**REF, "$defs": {"C": {"enum": ["red", "green"]}}},
     ['{"c":"red"}', '{"c":"green"}'],
     ['{"c":"blue"}', '{"c":{}}', '{"c":1}', '{}'])
case("C28: a const behind a $ref", {**REF, "$defs": {"C": {"const": "red"}}},
     ['{"c":"red"}'], ['{"c":"green"}', '{"c":{}}'])
case("C28: a missing target", {**REF, "$defs": {}}, refused="#/$defs/C")
case("C28: a $ref to itself",
     {**REF, "$defs": {"C": {"$ref": "#/$defs/C"}}}, refused="recursion")
case("a circle of $ref",
     {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"},
                                     "b": {"allOf": [{"$ref": "#/$defs/a"}]}}},
     refused="recursion")
case("anyOf itself", {"anyOf": [{"type": "null"}, {"$ref": "#"}]},
     refused="recursion")
case("the same $ref twice is no circle",
     {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}],
      "$defs": {"a": {"$ref": "#/$defs/c"}, "b": {"$ref": "#/$defs/c"},
                "c": {"type": "integer"}}}, ['1'], ['"x"'])
case("$ref with words beside it",
     {"$ref": "#/$defs/a", "maximum": 5,
      "$defs": {"a": {"type": "integer", "minimum": 3}}},
     ['3', '5'], ['2', '6', '"x"'])
case("pointers with escapes",
     {"type": "object", "properties": {
         "a": {"$ref": "#/$defs/x~1y"}, "b": {"$ref": "#/$defs/x~0y"},
         "c": {"$ref": "#/$defs/x%25y"}, "d": {"$ref": "#/$defs/q%22"}},
      "$defs": {"x/y": {"const": 1}, "x~y": {"const": 2}, "x%y": {"const": 3},
                "q\"": {"const": 4}}},
     ['{"a":1,"b":2,"c":3,"d":4}'],
     ['{"a":2}', '{"b":1}', '{"c":1}', '{"d":1}'])
case("pointers into lists",
     {"type": "array", "prefixItems": [{"type": "integer"},
                                       {"$ref": "#/prefixItems/0"}]},
     ['[1,2]'], ['[1,"a"]'])
case("anchors",
     {"$ref": "#here", "$defs": {"a": {"$anchor": "here", "type": "null"}}},
     ['null'], ['1'])
case("a property that is called $ref",
     {"type": "object", "properties": {"$ref": {"type": "string"}}},
     ['{"$ref":"a"}', '{}'], ['{"$ref":1}'])
case("definitions, as older drafts have them",
     {"$ref": "#/definitions/a", "definitions": {"a": {"type": "null"}}},
     ['null'], ['1'])
case("another document", {"$ref": "http://example.com/schema"},
     refused="$ref at #: 'http://example.com/schema'")
case("an $id of its own",
     {"type": "object", "properties": {
         "a": {"$id": "http://example.com/a", "$ref": "#/$defs/x",
               "$defs": {"x": {"type": "integer"}}}},
      "$defs": {"x": {"type": "string"}}},
     ['{"a":1}'], ['{"a":"x"}'])
case("addresses, relative to one another",
     {"$id": "http://example.com/all/root.json", "type": "object",
      "properties": {"a": {"$ref": "../b/two.json"}, "b": {"$ref": "b/"},
                     "c": {"$ref": "http://example.com/b/two.json#name"},
                     "d": {"$ref": "urn:example:d#/$defs/x"}},
      "$defs": {"one": {"$id": "/b/two.json", "type": "integer",
                        "$defs": {"n": {"$anchor": "name",
                                        "type": "boolean"}}},
                "two": {"$id": "./x/../b/", "type": "null"},
                "three": {"$id": "urn:example:d", "$defs": {
                    "x": {"$ref": "#/$defs/y"}, "y": {"const": 7}}}}},
     ['{"a":1,"b":null,"c":true,"d":7}'],
     ['{"a":null}', '{"b":1}', '{"c":1}', '{"d":8}'])
case("a dynamic reference that can only mean one thing",
     {"$ref": "#node", "$defs": {"node": {
         "$dynamicAnchor": "node", "type": "object", "properties": {
             "next": {"$dynamicRef": "#node"}},
         "additionalProperties": False}}},
     ['{}', '{"next":{"next":{}}}'], ['{"next":1}', '{"next":{"x":1}}'])
case("a dynamic reference that could mean two things",
     {"$dynamicRef": "#n", "$dynamicAnchor": "n",
      "$defs": {"a": {"$id": "a", "$dynamicAnchor": "n", "type": "null"}}},
     refused="$dynamicRef at #: 'n' has several meanings")

# --- recursion
TREE = {"$ref": "#/$defs/node", "$defs": {"node": {
    "type": "object", "properties": {
        "value": {"type": "integer"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
    "required": ["value"], "additionalProperties": False}}}
case("a tree", TREE,
     ['{"value":1}', '{"value":1,"children":[]}',
      '{"value":1,"children":[{"value":2},{"value":3,"children":'
      '[{"value":4}]}]}'],
     ['{}', '{"value":1,"children":[{}]}', '{"value":1,"children":{}}',
      '{"value":1,"children":[{"value":2,"children":[{"value":"x"}]}]}'])
case("a linked list",
     {"type": "object", "properties": {
         "v": {"type": "string"},
         "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
      "required": ["v", "next"], "additionalProperties": False},
     ['{"v":"a","next":null}', '{"v":"a","next":{"v":"b","next":null}}'],
     ['{"v":"a"}', '{"v":"a","next":{}}', '{"v":"a","next":1}'])
case("two that call one another",
     {"$ref": "#/$defs/a", "$defs": {
         "a": {"type": "object", "properties": {"b": {"$ref": "#/$defs/b"}},
               "additionalProperties": False},
         "b": {"type": "array", "items": {"$ref": "#/$defs/a"}}}},
     ['{}', '{"b":[]}', '{"b":[{},{"b":[{}]}]}'],
     ['{"b":{}}', '{"b":[[]]}', '{"b":[{"b":[1]}]}'])
EXPR = {"$ref": "#/$defs/e", "$defs": {"e": {"anyOf": [
    {"type": "number"},
    {"type": "object", "properties": {
        "op": {"enum": ["+", "*"]}, "l": {"$ref": "#/$defs/e"},
        "r": {"$ref": "#/$defs/e"}}, "required": ["op", "l", "r"],
     "additionalProperties": False},
    {"type": "object", "properties": {
        "op": {"const": "-"}, "x": {"$ref": "#/$defs/e"}},
     "required": ["op", "x"], "additionalProperties": False}]}}}
case("expressions", EXPR,
     ['1', '{"op":"-","x":2}',
      '{"op":"+","l":1,"r":{"op":"*","l":2,"r":{"op":"-","x":3}}}'],
     ['{"op":"-","l":1,"r":2}', '{"op":"+","x":2}', '"1"',
      '{"op":"+","l":1,"r":{"op":"-"}}'])
case("recursion that never ends",
     {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
     refused="no text")

# --- combinations
case("allOf inherits",
     {"allOf": [{"$ref": "#/$defs/base"},
                {"type": "object", "properties": {"b": {"type": "integer"}},
                 "required": ["b"]}],
      "$defs": {"base": {"type": "object",
                         "properties": {"a": {"type": "string"}},
                         "required": ["a"]}}},
     ['{"a":"x","b":1}', '{"a":"x","b":1,"c":null}'],
     ['{"a":"x"}', '{"b":1}', '{"a":1,"b":1}', '{}'],
     not_ours=['{"b":1,"a":"x"}'])
case("allOf stands where it stands",
     {"type": "object", "allOf": [{"properties": {"a": {"type": "integer"}}}],
      "properties": {"b": {"type": "integer"}},
      "additionalProperties": {"type": "integer"}},
     ['{"a":1,"b":2}', '{"a":1,"b":2,"c":3}'], ['{"a":"x"}', '{"c":"x"}'],
     not_ours=['{"b":2,"a":1}'])
case("both say something about one property",
     {"type": "object", "properties": {"a": {"type": "integer"}},
      "allOf": [{"properties": {"a": {"minimum": 3}}},
                {"properties": {"a": {"maximum": 5}}}]},
     ['{"a":3}', '{"a":5}', '{}'], ['{"a":2}', '{"a":6}', '{"a":"x"}'])
case("additionalProperties sees its own schema only",
     {"properties": {"a": {}}, "type": "object",
      "allOf": [{"properties": {"b": {}}, "additionalProperties": False}]},
     ['{}', '{"b":1}'], ['{"a":1}', '{"a":1,"b":1}', '{"c":1}'])
case("anyOf", {"anyOf": [{"type": "integer"}, {"type": "string",
                                               "maxLength": 2}]},
     ['1', '"ab"'], ['"abc"', '1.5', 'null'])
case("anyOf of objects",
     {"type": "object", "anyOf": [
         {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
         {"properties": {"b": {"type": "integer"}}, "required": ["b"]}]},
     ['{"a":1}', '{"b":1}', '{"a":1,"b":2}', '{"b":1,"a":"x"}',
      '{"a":1,"b":"x"}'],
     ['{}', '{"a":"x"}', '{"a":"x","b":"y"}', '{"c":1}'],
     not_ours=['{"a":"x","b":1}'])
case("anyOf of many objects that are not told apart",
     {"anyOf": [{"type": "object", "properties": {
         "p%d" % i: {"type": "integer"}, "q": {"type": "string"}},
         "required": ["r%d" % i]} for i in range(12)]},
     ['{"r3":1}', '{"q":"x","r11":null}', '{"p5":1,"q":"x","r5":2}',
      '{"q":"x","r0":1,"p3":"y"}', '{"q":"x","r7":{},"r8":[],"z":1}'],
     ['{}', '{"q":"x"}', '{"q":1,"r0":1}', '{"p5":"x","r5":1}', '1'])
case("anyOf and what stands beside it",
     {"anyOf": [{"minimum": 5}, {"type": "string"}], "type": "integer"},
     ['5', '9'], ['4', '"x"', '5.5'])
case("anyOf times anyOf",
     {"allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]},
                {"anyOf": [{"type": "string"}, {"type": "null"}]}]},
     ['"x"'], ['1', 'null'])
case("oneOf by kind",
     {"oneOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
     ['1', '"a"', 'null'], ['1.5', 'true'])
case("oneOf by a property",
     {"oneOf": [
         {"type": "object", "properties": {"kind": {"const": "a"},
                                           "x": {"type": "integer"}},
          "required": ["kind", "x"], "additionalProperties": False},
         {"type": "object", "properties": {"kind": {"const": "b"},
                                           "y": {"type": "string"}},
          "required": ["kind"], "additionalProperties": False}]},
     ['{"kind":"a","x":1}', '{"kind":"b"}', '{"kind":"b","y":"s"}'],
     ['{"kind":"a"}', '{"kind":"a","y":"s"}', '{"kind":"c"}',
      '{"kind":"b","x":1}'])
case("oneOf by a property that the outer schema requires",
     {"type": "object", "required": ["k"], "oneOf": [
         {"properties": {"k": {"enum": ["a", "b"]}}},
         {"properties": {"k": {"enum": ["c"]}, "z": {"type": "null"}}}]},
     ['{"k":"a"}', '{"k":"c"}', '{"k":"b","z":1}', '{"k":"c","z":null}'],
     ['{"k":"d"}', '{"k":"c","z":1}', '{}'])
case("oneOf by a forbidden key",
     {"oneOf": [
         {"type": "object", "properties": {"a": {"type": "integer"}},
          "required": ["a"], "additionalProperties": False},
         {"type": "object", "properties": {"b": {"type": "integer"}},
          "required": ["b"], "additionalProperties": False}]},
     ['{"a":1}', '{"b":1}'], ['{}', '{"a":1,"b":1}'])
case("oneOf by ranges",
     {"oneOf": [{"type": "integer", "maximum": 3},
                {"type": "integer", "exclusiveMinimum": 3, "maximum": 9},
                {"type": "integer", "minimum": 12}]},
     ['3', '4', '-1', '12'], ['10', '11'])
case("oneOf by values",
     {"oneOf": [{"enum": ["a", "b"]}, {"type": "string", "minLength": 2}]},
     ['"a"', '"cd"'], ['"c"', '1'])
case("oneOf of what may be both",
     {"type": "object", "properties": {"v": {
         "oneOf": [{"type": "integer"}, {"type": "null"}, {"minimum": 2}]}}},
     refused="oneOf at #/properties/v: some values may be both alternative 0 "
             "and 2")
case("oneOf by names that are there",
     {"type": "object", "properties": {"a": {}, "b": {}, "c": {}},
      "oneOf": [{"required": ["a"]}, {"required": ["b", "c"]}]},
     ['{"a":1}', '{"b":1,"c":2}', '{"a":1,"b":2}', '{"a":1,"c":2}',
      '{"a":1,"d":1}'],
     ['{}', '{"b":1}', '{"c":1}', '{"a":1,"b":2,"c":3}'])
case("oneOf by names, without type",
     {"oneOf": [{"required": ["a"]}, {"required": ["b"]}, {"required": ["a",
                                                                        "c"]}]},
     ['{"a":1}', '{"b":1}', '{"b":1,"c":2}'],
     ['{}', '1', '{"a":1,"b":1}', '{"a":1,"c":1}', '{"a":1,"b":1,"c":1}'])
case("oneOf by names, in an enum",
     {"enum": [{"a": 1}, {"b": 1}, {"a": 1, "b": 1}, "x", 5],
      "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
     ['{"a":1}', '{"b":1}'], ['"x"', '5', '{"a":1,"b":1}'])
case("oneOf by patterns",
     {"oneOf": [{"type": "string", "pattern": "^[a-m]"},
                {"type": "string", "pattern": "^[n-z]"},
                {"type": "string", "format": "date"}]},
     ['"apple"', '"pear"', '"2024-02-29"'], ['"Z"', '""', '"2024"'])
case("oneOf by patterns that may both match",
     {"oneOf": [{"type": "string", "pattern": "a"},
                {"type": "string", "pattern": "b"}]}, refused="oneOf at #:")
case("oneOf within recursion",
     {"$ref": "#/$defs/n", "$defs": {"n": {"oneOf": [
         {"type": "object", "properties": {"leaf": {"type": "integer"}},
          "required": ["leaf"], "additionalProperties": False},
         {"type": "object", "properties": {"l": {"$ref": "#/$defs/n"},
                                           "r": {"$ref": "#/$defs/n"}},
          "required": ["l", "r"], "additionalProperties": False}]}}},
     ['{"leaf":1}', '{"l":{"leaf":1},"r":{"leaf":2}}',
      '{"l":{"l":{"leaf":1},"r":{"leaf":3}},"r":{"leaf":2}}'],
     ['{}', '{"leaf":1,"l":{"leaf":1},"r":{"leaf":1}}', '{"l":{"leaf":1}}'])
case("this object or nothing, in many places",
     {"type": "object", "properties": {
         k: {"anyOf": [{"$ref": "#/$defs/m"}, {"type": "null"}]}
         for k in "abc"}, "$defs": {"m": {
             "type": "object", "properties": {"x": {"type": "integer"}},
             "required": ["x"], "additionalProperties": False}}},
     ['{}', '{"a":null,"b":{"x":1},"c":{"x":2}}'],
     ['{"a":{}}', '{"b":1}', '{"c":{"x":"y"}}', '{"a":{"x":1,"y":2}}'])
case("an alternative that is false",
     {"anyOf": [False, {"type": "integer"}]}, ['1'], ['"a"'])

# --- what is refused
case("false", False, refused="no text")
case("kinds that exclude one another",
     {"allOf": [{"type": "string"}, {"type": "integer"}]}, refused="no text")
case("an unknown type", {"type": "object",
                         "properties": {"a": {"type": "text"}}},
     refused="type at #/properties/a")
case("a type that is no word", {"type": 5}, refused="type at #:")
case("C27: a property that is no schema",
     {"type": "object", "properties": {"foo": "bar"}},
     refused="properties at #/properties/foo: a schema is an object or a "
             "boolean, not a string")
case("required that is no list", {"type": "object", "required": "x"},
     refused="required at #:")
case("anyOf of nothing", {"anyOf": []}, refused="anyOf at #:")
case("a count below 0", {"type": "array", "minItems": -1},
     refused="minItems at #:")
case("a count that is not whole", {"type": "array", "maxItems": 1.5},
     refused="maxItems at #:")
for word, value in (("uniqueItems", True), ("not", {"type": "string"}),
                    ("dependentSchemas", {"a": {"required": ["b"]}})):
    case("refused: " + word,
         {"type": "object", "properties": {"p/q": {word: value}}},
         refused=word + " at #/properties/p~1q: not supported")
case("refused: if", {"if": {"type": "string"}, "then": {"minLength": 2}},
     refused="if at #: not supported")
case("refused: a list of items", {"items": [{"type": "string"}]},
     refused="items at #: a list of schemas is written prefixItems")
case("refused: a pattern that cannot be read",
     {"patternProperties": {"(?=a)": {}}}, refused="patternProperties at ")
case("refused in a place that is reached later",
     {"type": "array", "items": {"anyOf": [{"type": "string"}, {
         "type": "object", "properties": {"a": {"uniqueItems": True}}}]}},
     refused="uniqueItems at #/items/anyOf/1/properties/a")
case("more alternatives than there may be",
     {"type": "array", "items": {"allOf": [{"anyOf": [
         {"properties": {"a%d" % i: {}}}, {"properties": {"b%d" % i: {}}}]}
         for i in range(9)]}}, refused="allOf at #/items: with what it is")
case("a required name that only a pattern knows",
     {"type": "object", "patternProperties": {"^f": {"type": "integer"}},
      "additionalProperties": False, "required": ["foo"]},
     ['{"foo":1}', '{"foo":1,"fa":2}'], ['{"foo":"x"}', '{}', '{"foo":1,"x":2}'])
case("a required name that a pattern evaluates",
     {"type": "object", "allOf": [
         {"patternProperties": {"^f": {"type": "integer"}}}],
      "unevaluatedProperties": False, "required": ["foo"]},
     ['{"foo":1}', '{"foo":1,"fa":2}'], ['{"foo":"x"}', '{}', '{"foo":1,"x":2}'])
case("the least of several maxProperties",
     {"type": "object", "allOf": [{"maxProperties": 1}, {"maxProperties": 3},
                                  {"minProperties": 1}, {"minProperties": 0}]},
     ['{"a":1}'], ['{}', '{"a":1,"b":2}'])
case("contains, among items that must be there",
     {"type": "array", "prefixItems": [{}, {}, {}], "contains": {"const": 1},
      "minItems": 3},
     ['[1,2,3]', '[2,1,3]', '[2,3,1]', '[2,3,4,1]'],
     ['[1,2]', '[1]', '[2,3,4]', '[]'])
case("fewer items than prefixItems",
     {"type": "array", "prefixItems": [{}, {}, {}], "maxItems": 2},
     ['[]', '[1]', '[1,2]'], ['[1,2,3]', '[1,2,3,4]'])
case("contains of two kinds",
     {"type": "array", "allOf": [{"contains": {"const": 1}},
                                 {"contains": {"const": 2}}]},
     refused="contains at #/allOf/1: one of them for one array")
case("the least of several maxLength",
     {"type": "string", "allOf": [{"maxLength": 2}, {"maxLength": 5},
                                  {"minLength": 2}, {"minLength": 0}]},
     ['"ab"'], ['"a"', '"abc"', '""'])
case("the least of several maxItems",
     {"type": "array", "allOf": [{"maxItems": 10}, {"maxItems": 50},
                                 {"minItems": 9}, {"minItems": 1}]},
     ['[1,2,3,4,5,6,7,8,9]', '[1,2,3,4,5,6,7,8,9,0]'],
     ['[1,2,3,4,5,6,7,8]', '[1,2,3,4,5,6,7,8,9,0,1]'])
case("one format, alone and beside a pattern",
     {"type": "array", "prefixItems": [
         {"type": "string", "format": "date"},
         {"type": "string", "format": "date", "pattern": "^2"},
         {"type": "string", "format": "date"}]},
     ['["1999-01-01","2001-01-01","1999-01-01"]'],
     ['["1999-01-01","1999-01-01"]', '["2001"]'])
case("exclusive as older drafts have it",
     {"type": "integer", "minimum": 3, "exclusiveMinimum": False,
      "maximum": 9, "exclusiveMaximum": True},
     ['3', '8'], ['2', '9', '10'], draft=Draft4Validator)
case("remainders of two multipleOf",
     {"type": "integer", "allOf": [{"multipleOf": 4999}, {"multipleOf": 4997}]},
     refused="multipleOf at #/allOf/1: all of one value must have at most")
case("oneOf: ranges with a common end",
     {"oneOf": [{"type": "integer", "maximum": 5},
                {"type": "integer", "minimum": 5}]},
     refused="oneOf at #: some values may be both alternative 0 and 1")
case("oneOf: ranges with an open end",
     {"oneOf": [{"type": "number", "maximum": 5},
                {"type": "number", "exclusiveMinimum": 5}]},
     ['5', '4.5', '5.5'], ['"5"', 'null'])
case("oneOf: sizes with a common end",
     {"oneOf": [{"type": "string", "maxLength": 5},
                {"type": "string", "minLength": 5}]},
     refused="oneOf at #: some values may be both alternative 0 and 1")
case("oneOf: numbers that are near, as doubles the same",
     {"oneOf": [{"type": "integer", "maximum": 9007199254740993},
                {"type": "integer", "exclusiveMinimum": 9007199254740992}]},
     refused="oneOf at #: some values may be both alternative 0 and 1")
case("oneOf: items that need not be there",
     {"oneOf": [{"type": "array", "prefixItems": [{"const": 1}]},
                {"type": "array", "prefixItems": [{"const": 2}]}]},
     refused="oneOf at #: some values may be both alternative 0 and 1")
case("oneOf: one of several values is allowed by both",
     {"oneOf": [{"enum": [1, 2, "x"]}, {"type": "string"}]},
     refused="oneOf at #: some values may be both alternative 0 and 1")
case("oneOf: what its schema says beside it",
     {"type": "integer", "oneOf": [{"enum": [1, "x"]}, {"enum": [2, "x"]}]},
     ['1', '2'], ['"x"', '3'])
case("uniqueItems that says nothing",
     {"type": "array", "uniqueItems": False}, ['[1,1]'], ['1'])

print(json.dumps({"oracle": "Python jsonschema " + version("jsonschema") +
                  ", Draft202012Validator; order of keys and spelling: "
                  "docs/decisions/0007-grammars.md",
                  "cases": CASES}, indent=1, ensure_ascii=True))
