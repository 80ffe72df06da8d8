# SPDX-License-Identifier: Apache-2.0
"""Families that are not GEMM: no correct variant may be refused, no broken one may end `ok`."""

import os
import subprocess
import sys
import unittest

from corpus import HERE, OUTCOMES, as_tuple, expected, judge, space_file, variants

sys.path.insert(0, str(HERE.parent / "support"))
from matrix import part  # noqa: E402

BACKEND = os.environ.get("CORPUS_BACKEND", "cpu")


def gpu_is_missing():
    """Why there is no GPU to run on; nothing when there is one."""
    asked = subprocess.run([os.environ["TUNE"], "--space", space_file("softmax"), "--kernel", "softmax", "--backend",
                            "cuda", "--dry-run"], capture_output=True, text=True, timeout=60)
    return asked.stderr.strip() if asked.returncode == 3 else ""


class CorpusTest(unittest.TestCase):
    def setUp(self):
        missing = gpu_is_missing() if BACKEND == "cuda" else ""
        if missing and os.environ.get("TUNER_REQUIRE_GPU"):
            self.fail(missing)
        if missing:
            self.skipTest(missing)

    def check(self, family):
        correct, mutants = OUTCOMES[family]["correct"], OUTCOMES[family]["mutants"]
        tried = part([*correct, *mutants], step=5)
        found = judge(family, tried, BACKEND)
        self.assertEqual(sorted(found), sorted(tried))
        for variant, (outcome, message) in found.items():
            with self.subTest(family=family, variant=variant):
                allowed = ("ok",) if variant in correct else expected(mutants[variant], BACKEND)
                self.assertIn(outcome, allowed, message)

    def test_a_correct_variant_is_right_for_other_inputs(self):
        for seed, family in part(list(enumerate(OUTCOMES, 1))):
            for variant, (outcome, message) in judge(family, part([*OUTCOMES[family]["correct"]]), BACKEND, seed).items():
                with self.subTest(family=family, variant=variant, seed=seed):
                    self.assertEqual(outcome, "ok", message)


class TableTest(unittest.TestCase):
    def test_every_family_is_in_the_table(self):
        self.assertEqual(sorted(OUTCOMES), sorted(path.stem for path in HERE.glob("*.cu")))

    def test_every_variant_is_in_the_table(self):
        for family, table in OUTCOMES.items():
            with self.subTest(family):
                self.assertEqual([*table["correct"], *table["mutants"]], variants(family))
                self.assertGreaterEqual(len(table["correct"]), 3)
                self.assertGreaterEqual(len(table["mutants"]), 8)

    def test_what_a_backend_cannot_see_has_a_reason(self):
        for family, table in OUTCOMES.items():
            for mutant, entry in table["mutants"].items():
                with self.subTest(family=family, mutant=mutant):
                    by_backend = [entry["cpu"], entry["cuda"]] if isinstance(entry, dict) else [entry]
                    hidden = any("ok" in as_tuple(outcomes) for outcomes in by_backend)
                    self.assertTrue(not hidden or isinstance(entry, dict) and entry.get("why"), entry)


def a_test_of(family):
    return lambda test: test.check(family)


for name in OUTCOMES:
    setattr(CorpusTest, f"test_{name}", a_test_of(name))

if __name__ == "__main__":
    unittest.main()
