# SPDX-License-Identifier: Apache-2.0
"""The schemas for editors accept every space file, suite and distribution of the repository and the examples of the documents."""

import copy
import json
import pathlib
import re
import subprocess
import unittest

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMAS = {name: json.loads((ROOT / "spaces" / "schema" / f"{name}-1.schema.json").read_text())
           for name in ("space", "suite", "judge", "distribution")}
TRACKED = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True).stdout.split("\0")


def without_comments(text):
    """A string, which may hold what looks like a comment, or a comment, which goes."""
    return re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda found: found[1] or "", text, flags=re.S)


def documents():
    """Every space file, suite and distribution: (where, document)."""
    paths = [ROOT / name for name in TRACKED if name.endswith(".json")] or [
        path for folder in ("spaces", "examples", "docs", "tests") for path in (ROOT / folder).rglob("*.json")]
    for path in paths:
        text = path.read_text()
        if re.search(r'"format":\s*"(space|suite|distribution)/1"', text):
            yield str(path.relative_to(ROOT)), json.loads(without_comments(text))
    for path in sorted((ROOT / "docs").rglob("*.md")):
        for number, block in enumerate(re.findall(r"```json\n(.*?)```", path.read_text(), flags=re.S)):
            document = json.loads(without_comments(block))
            if str(document.get("format", "")).startswith(("space/", "suite/", "distribution/")):
                yield f"{path.relative_to(ROOT)}, block {number + 1}", document


def mistakes(document):
    validator = jsonschema.Draft202012Validator(SCHEMAS[document["format"].split("/")[0]])
    return [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(document)]


class SchemaTest(unittest.TestCase):
    def test_the_schemas_are_schemas(self):
        for schema in SCHEMAS.values():
            jsonschema.Draft202012Validator.check_schema(schema)

    def test_every_file_and_every_example_of_the_documents_fits(self):
        found = dict(documents())
        for path in [*(ROOT / "spaces").glob("*.json"), *(ROOT / "spaces" / "suites").glob("*.json"),
                     *(ROOT / "spaces" / "distributions").rglob("*.json")]:
            self.assertIn(str(path.relative_to(ROOT)), found)
        self.assertTrue(any(where.startswith("docs/reference/space-file.md") for where in found))
        for where, document in found.items():
            with self.subTest(where=where):
                self.assertEqual(mistakes(document), [])

    def test_the_golden_verdicts_fit(self):
        paths = sorted((ROOT / "tests" / "data" / "judge").glob("*.json"))
        self.assertGreaterEqual(len(paths), 3)
        for path in paths:
            document = json.loads(path.read_text())
            with self.subTest(path=path.name):
                self.assertEqual(mistakes(document), [])
                self.assertNotEqual(mistakes({**document, "verdict": "right"}), [])

    def test_a_dimension_of_types_fits(self):
        document = json.loads(without_comments((ROOT / "tests" / "mutants" / "typed_fp8.json").read_text()))

        def with_types(types, argument="${A}*", size="bf16"):
            typed = copy.deepcopy(document)
            typed["problem"]["dims"].append({"name": "TYPE", "default": "f32", "types": types})
            typed["problem"]["sizes"]["brain"] = [{"M": 8, "N": 8, "K": 8, "TYPE": size}]
            typed["arguments"][5]["type"] = argument
            return mistakes(typed)
        types = {"f32": {"A": "f32", "compute": "f32"}, "bf16": {"A": "bf16", "compute": "float"}}
        self.assertEqual(with_types(types), [])
        for wrong in (with_types({}), with_types({"f32": {}}), with_types({"f32": {"A": "f33"}}),
                      with_types(types, argument="${A*"), with_types(types, size="b 16")):
            self.assertNotEqual(wrong, [])

    def test_what_is_wrong_does_not_fit(self):
        right = json.loads(without_comments((ROOT / "spaces" / "window_square.json").read_text()))

        def changed(*path, to):
            document = copy.deepcopy(right)
            place = document
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = to
            return document
        kernel = next(iter(right["kernels"]))
        for document in (changed("chekc", to={}), changed("check", to={}), changed("family", to="a b"),
                         changed("check", "tolerance", to={}), changed("arguments", 0, "role", to="output and input"),
                         changed("kernels", kernel, "steps", to=[]), changed("kernels", kernel, "options", to=["-I/etc"])):
            self.assertNotEqual(mistakes(document), [])


if __name__ == "__main__":
    unittest.main()
