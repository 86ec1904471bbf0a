#!/usr/bin/env python3
"""Jinja2 itself as a second oracle, where @huggingface/jinja is not one.

  render-jinja2.py expected   after `render-oracle.mjs expected`: where the
                              two disagree, Jinja2's rendering is what is
                              expected, as {"jinja2": TEXT}; where only
                              Jinja2 raises, the conversation is left out
  render-jinja2.py gaps DIR   after `render-oracle.mjs npm DIR` with an empty
                              oracle-gaps.json: writes that file

Development only; needs Debian's python3-jinja2. Run it from the source root.
"""
import copy
import datetime
import glob
import json
import os
import re
import sys

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.sandbox import SandboxedEnvironment

DATA = "t/data/chat"
NOW = datetime.datetime(2025, 7, 29, 12, tzinfo=datetime.timezone.utc)


class Generation(Extension):
    """{% generation %}: marks what a model said, for training."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"],
                                       drop_needle=True)
        return nodes.Scope(body).set_lineno(line)


def tojson(value, ensure_ascii=False, indent=None, separators=None,
           sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent,
                      separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise jinja2.TemplateError(message)


# Not the immutable one: templates exist that append to lists and pop.
env = SandboxedEnvironment(
    trim_blocks=True, lstrip_blocks=True,
    extensions=[Generation, "jinja2.ext.loopcontrols"])
env.filters["tojson"] = tojson
env.globals["raise_exception"] = raise_exception
env.globals["strftime_now"] = NOW.strftime

conversations = json.load(open(f"{DATA}/conversations.json"))


def render(template, variables):
    """A text, or None when it raises."""
    try:
        return template.render(**copy.deepcopy(variables))
    except Exception:
        return None


def compare(source, theirs):
    """Yields (conversation, why the oracle is none here, Jinja2's text)."""
    template = env.from_string(source)
    for c in conversations:
        js = theirs[c["name"]]
        js = None if isinstance(js, dict) else js
        py = render(template, c["vars"])
        if js == py:
            continue
        why = ("Jinja2 renders it, the oracle raises" if js is None else
               "Jinja2 raises, the oracle renders it" if py is None else
               "Jinja2 prints another text")
        yield c["name"], why, py


def source_of(name):
    if name == "demo-model":
        text = open("contrib/demo-model/chatml.py").read()
        return re.search(r'^TEMPLATE = r"""(.*?)"""', text, re.M | re.S)[1]
    return open(f"{DATA}/templates/{name}.jinja", newline="").read()


def expected():
    for file in sorted(glob.glob(f"{DATA}/expected/*.json")):
        doc = json.load(open(file))
        theirs = doc["renderings"]
        for name, why, py in compare(source_of(os.path.basename(file)[:-5]),
                                     theirs):
            theirs[name] = ({"left_out": why} if py is None
                            else {"jinja2": py})
        lines = [f"  {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}"
                 for k, v in theirs.items()]
        with open(file, "w") as out:
            out.write(f'{{"oracle": {json.dumps(doc["oracle"])}, "second": '
                      f'"Jinja2 {jinja2.__version__}", "now": {doc["now"]},\n'
                      ' "renderings": {\n' + ",\n".join(lines) + "\n }}\n")


def gaps(folder):
    found = {}
    for file in sorted(glob.glob(f"{folder}/*.json")):
        name = os.path.basename(file)[:-5]
        source = open(f"{folder}/{name}.jinja", newline="").read()
        for conv, why, _ in compare(source, json.load(open(file))
                                    ["renderings"]):
            found.setdefault(name, {})[conv] = why
    with open(f"{DATA}/oracle-gaps.json", "w") as out:
        json.dump(found, out, indent=1)
        out.write("\n")


if sys.argv[1:] == ["expected"]:
    expected()
elif len(sys.argv) == 3 and sys.argv[1] == "gaps":
    gaps(sys.argv[2])
else:
    sys.exit("usage: render-jinja2.py expected | gaps DIR")
