#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds types of one name that are defined twice where the linker can mix them up.

Two definitions of a class in one namespace are a violation of the one-definition rule, which no
compiler reports: the linker keeps one of two destructors for both. A type in an unnamed namespace
is its file's own. Usage: check_type_names.py ROOT
"""

import collections
import pathlib
import re
import sys

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    r'|^[ \t]*\#(?:\\\n|[^\n])*|(?P<word>[A-Za-z_]\w*)|(?P<mark>::|[{};()<>:=,])',
    re.DOTALL | re.MULTILINE)
UNNAMED = "(unnamed)"


def defined_types(text):
    """The qualified names of the types that a file defines outside functions and unnamed
    namespaces, those within other types left out."""
    scopes = []  # of what encloses: ("namespace", name) or ("other", "")
    statement = []  # the tokens since the last ; { or }
    for match in TOKEN.finditer(text):
        token = match["word"] or match["mark"]
        if token is None:
            continue
        if token == "{":
            scope = ("other", "")
            if statement[:1] == ["namespace"] or statement[:2] == ["inline", "namespace"]:
                scope = ("namespace", "".join(statement[statement.index("namespace") + 1:]) or UNNAMED)
            elif (name := type_name(statement)) and all(
                    kind == "namespace" and each != UNNAMED for kind, each in scopes):
                yield "::".join([each for _, each in scopes] + [name])
            scopes.append(scope)
            statement = []
        elif token == "}":
            if scopes:
                scopes.pop()
            statement = []
        elif token == ";":
            statement = []
        else:
            statement.append(token)


def type_name(statement):
    """The name that `struct X : Y`, `enum class X : int` or `template <…> class X final` defines; a
    specialisation counts with what stands in its angle brackets."""
    if "(" in statement or "=" in statement and statement[0] != "template":
        return None
    depth, position = 0, 0
    while position < len(statement):  # behind the template's own parameters
        token = statement[position]
        depth += (token == "<") - (token == ">")
        if depth == 0 and token in ("struct", "class", "union", "enum"):
            break
        position += 1
    words = [word for word in statement[position + 1:]]
    if words[:1] in (["class"], ["struct"]):
        words = words[1:]
    head = []
    depth = 0
    for word in words:
        depth += (word == "<") - (word == ">")
        if depth == 0 and word in (":", "final"):
            break
        head.append(word)
    return " ".join(head).replace(" ::", "::").replace(":: ", "::") or None


def main(root):
    """Prints what is defined twice; 1 when there is something."""
    places = collections.defaultdict(list)
    folders = ("tuner", "tests", "benchmarks", "examples")
    for path in sorted(path for folder in folders for path in (root / folder).rglob("*.[ch]pp")):
        for name in defined_types(path.read_text(encoding="utf-8")):
            places[name].append(path.relative_to(root))
    problems = 0
    for name, files in sorted(places.items()):
        of_product = [file for file in files if file.parts[0] == "tuner"]
        # Each folder of tests and each benchmark is a program of its own, linked with the product.
        programs = collections.Counter(file.parent for file in files if file.parts[0] != "tuner")
        if len(of_product) > 1 or (of_product and programs) or any(
                count > 1 for count in programs.values()):
            problems += 1
            print(f"{name} is defined in {', '.join(map(str, files))}: rename one, or put it into "
                  "an unnamed namespace")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
