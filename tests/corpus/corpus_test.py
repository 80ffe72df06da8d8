# SPDX-License-Identifier: Apache-2.0
"""Families that are not GEMM: no correct variant may be refused, no broken one may end `ok`.

Each <family>.cu has correct variants, which differ as kernels for one problem do, and mutants with one mistake
each. outcomes.json says what becomes of the mutants:

    "mutant": "wrong_result"                      on every backend
    "mutant": ["wrong_result", "nondeterministic"]    any of them
    "mutant": {"cpu": …, "cuda": …, "why": …}     where they differ; `why` tells what hides it from one of them
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

from program import ProgramTest  # noqa: E402

BACKEND = os.environ.get("CORPUS_BACKEND", "cpu")
OUTCOMES = json.loads((HERE / "outcomes.json").read_text())


def space_file(family):
    return HERE / f"{family}.json"


def values(family):
    """The variants that the space file names."""
    return json.loads(space_file(family).read_text())["kernels"][family]["parameters"]["VARIANT"]["values"]


def as_tuple(outcomes):
    return (outcomes,) if isinstance(outcomes, str) else tuple(outcomes)


def expected(entry):
    """The outcomes that a mutant may have on the backend of this test."""
    return as_tuple(entry[BACKEND] if isinstance(entry, dict) else entry)


def gpu_is_missing():
    """Why there is no GPU to run on; nothing when there is one."""
    asked = subprocess.run([os.environ["TUNE"], "--space", space_file("softmax"), "--kernel", "softmax", "--backend",
                            "cuda", "--dry-run"], capture_output=True, text=True, timeout=60)
    return asked.stderr.strip() if asked.returncode == 3 else ""


class CorpusTest(ProgramTest):
    def setUp(self):
        super().setUp()
        missing = gpu_is_missing() if BACKEND == "cuda" else ""
        if missing and os.environ.get("TUNER_REQUIRE_GPU"):
            self.fail(missing)
        if missing:
            self.skipTest(missing)

    def judge(self, family, variants, seed=0):
        """Runs these variants; {variant: (outcome, message)}."""
        run = self.start("--space", space_file(family), "--kernel", family, "--backend", BACKEND, "-q", "--strategy",
                         "exhaustive", "--max-evals", len(variants), "--jobs", 2, "--launch-timeout", "5s",
                         "--seed", seed, "--set", "VARIANT=" + ",".join(variants))
        _, errors = run.communicate(timeout=280)
        self.assertEqual(run.returncode, 0, errors)
        found = self.rows("SELECT config.json, outcome, message FROM result JOIN config ON config.id = config_id")
        return {json.loads(config)["VARIANT"]: (outcome, message) for config, outcome, message in found}

    def check(self, family):
        correct, mutants = OUTCOMES[family]["correct"], OUTCOMES[family]["mutants"]
        found = self.judge(family, [*correct, *mutants])
        self.assertEqual(sorted(found), sorted([*correct, *mutants]))
        for variant, (outcome, message) in found.items():
            with self.subTest(family=family, variant=variant):
                allowed = ("ok",) if variant in correct else expected(mutants[variant])
                self.assertIn(outcome, allowed, message)

    def test_a_correct_variant_is_right_for_other_inputs(self):
        for seed, family in enumerate(OUTCOMES, 1):
            for variant, (outcome, message) in self.judge(family, OUTCOMES[family]["correct"], seed).items():
                with self.subTest(family=family, variant=variant, seed=seed):
                    self.assertEqual(outcome, "ok", message)


class TableTest(unittest.TestCase):
    def test_every_family_is_in_the_table(self):
        self.assertEqual(sorted(OUTCOMES), sorted(path.stem for path in HERE.glob("*.cu")))

    def test_every_variant_is_in_the_table(self):
        for family, table in OUTCOMES.items():
            with self.subTest(family):
                self.assertEqual([*table["correct"], *table["mutants"]], values(family))
                self.assertGreaterEqual(len(table["correct"]), 3)
                self.assertGreaterEqual(len(table["mutants"]), 8)

    def test_what_a_backend_cannot_see_has_a_reason(self):
        for family, table in OUTCOMES.items():
            for mutant, entry in table["mutants"].items():
                with self.subTest(family=family, mutant=mutant):
                    by_backend = [entry["cpu"], entry["cuda"]] if isinstance(entry, dict) else [entry]
                    hidden = any("ok" in as_tuple(outcomes) for outcomes in by_backend)
                    self.assertTrue(not hidden or entry.get("why"), entry)


def a_test_of(family):
    return lambda test: test.check(family)


for name in OUTCOMES:
    setattr(CorpusTest, f"test_{name}", a_test_of(name))

if __name__ == "__main__":
    unittest.main()
