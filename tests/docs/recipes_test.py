# SPDX-License-Identifier: Apache-2.0
"""Every file that the recipes and the architecture name exists, and the hooks before a commit run what is there."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/recipes"))
from recipes import RECIPES  # noqa: E402
FOLDERS = "tuner|tests|kernels|spaces|docs|db|reports|scripts|benchmarks|examples|cmake"
# A path in code marks, without those of placeholders (<family>, NNNN, …).
PATH = re.compile(rf"`((?:{FOLDERS}|\.github)/[^`\s<>…*]*|[A-Z]\w+\.(?:md|txt))`")


def named_paths(text):
    return [path for path in PATH.findall(text) if "NNNN" not in path]


class RecipesTest(unittest.TestCase):
    def test_every_file_of_the_recipes_exists(self):
        for document, least in (("CONTRIBUTING.md", 30), ("ARCHITECTURE.md", 1), ("SECURITY.md", 0)):
            paths = named_paths((ROOT / document).read_text())
            self.assertGreaterEqual(len(paths), least)
            for path in paths:
                with self.subTest(document=document, path=path):
                    self.assertTrue((ROOT / path).exists(), f"{document} names {path}, which does not exist")

    def test_names_that_the_recipes_give_stand_in_the_files(self):
        for path, name in (("tuner/search/strategy.cpp", "kStrategies"), ("tuner/backend/registry.cpp", "kBackends"),
                           ("tuner/worker/message.hpp", "to_message("), ("tuner/dispatch/dispatch.h", "TUNER_API"),
                           ("tuner/backend/backend.hpp", "class Backend"), ("tuner/backend/backend.hpp", "class Compiler"),
                           ("tuner/backend/executor.hpp", "class Executor")):
            with self.subTest(path=path, name=name):
                self.assertIn(name, (ROOT / path).read_text())

    def test_each_place_where_an_example_of_a_recipe_adds_something_is_there_once(self):
        for recipe in RECIPES:
            for path, additions in recipe.added.items():
                for anchor, _ in additions:
                    with self.subTest(recipe=recipe.title, path=path, anchor=anchor):
                        self.assertEqual((ROOT / path).read_text().count(anchor), 1)

    def test_a_file_that_is_gone_is_found(self):
        self.assertEqual(named_paths("`tuner/no/such.cpp` `db/schema/NNNN_x.sql` `kernels/<f>/k.cu` `NOTES.md`"),
                         ["tuner/no/such.cpp", "NOTES.md"])

    def test_the_hooks_before_a_commit_are_there(self):
        entries = re.findall(r"^\s+entry: (.*)$", (ROOT / ".pre-commit-config.yaml").read_text(), flags=re.M)
        self.assertGreaterEqual(len(entries), 3)
        for path in re.findall(r"(?:scripts|tests)/[\w/.]+", " ".join(entries)):
            with self.subTest(path=path):
                self.assertTrue((ROOT / path).exists())


if __name__ == "__main__":
    unittest.main()
