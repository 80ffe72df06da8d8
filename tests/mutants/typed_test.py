# SPDX-License-Identifier: Apache-2.0
"""Mistakes that element types make possible (typed.cu): in no type may one end `ok`, and none of 20 correct orders of the
sums may be refused. Each type judges its share of both; with TUNER_ALL_TESTS=1 all.

    TUNE=build/ci/tune python3 tests/mutants/typed_test.py --checks 10000 [--backend cpu]

judges the correct ones on the inputs of many seeds: a check is one variant at one size under one case. --table writes the
table of docs/results/measurement.md.
"""

import argparse
import contextlib
import itertools
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from matrix import ALL as ALL_TESTS, part  # noqa: E402

BACKEND = os.environ.get("MUTANTS_BACKEND", "cpu")


def names(enumeration):
    """In the order of their numbers, which begin where the first says."""
    body = re.search(rf"enum {enumeration} {{([^}}]*)}}", (HERE / "typed.cu").read_text()).group(1)
    return [name.split("=")[0].strip() for name in body.split(",")]


RIGHT, WRONG = names("Right"), names("Wrong")
ALL = RIGHT + WRONG
TYPES = ("f32", "tf32", "bf16", "f16", "s8", "e4m3_bf16", "e4m3")  # e4m3: results too, and scales
FLOATING = tuple(name for name in TYPES if name != "s8")
SHORT = ("bf16", "f16", "e4m3_bf16", "e4m3")

# In which types a variant is a mistake; the others in all. What hides one is said.
MISTAKES = {
    "sums_in_bf16": FLOATING,
    "sums_in_half": ("f32", "tf32", "bf16", "f16", "e4m3_bf16"),
    "parts_in_the_result_type": SHORT,
    "tiles_in_half": ("f32", "tf32", "bf16", "f16"),
    "products_in_the_type": ("f32", "tf32", "bf16", "f16", "e4m3"),  # bf16 holds those of e4m3
    "toward_zero": SHORT,
    "rounded_twice": SHORT,
    "inputs_confused": (*SHORT, "s8"),  # of s8: the sign is lost
    "result_confused": SHORT,
    "alpha_after_rounding": SHORT,
    "inputs_of_fewer_bits": ("f32", *SHORT),  # tf32 has as few
    "result_of_fewer_bits": FLOATING,
    "scale_ignored": ("e4m3",),
    "scale_twice": ("e4m3",),
    "saturation_missing": ("e4m3",),
    "saturation_before_alpha": ("e4m3",),
    "sums_saturated": ("s8",),
    "sums_wrapped": ("s8",),
}


def mistakes(element_type):
    return [name for name in WRONG if element_type in MISTAKES.get(name, TYPES)]


def orders(element_type):
    """The correct ones that a run judges in this type: over the types that it tries, each once."""
    tried = part(TYPES)
    return RIGHT if ALL_TESTS else RIGHT[tried.index(element_type)::len(tried)]


def judged_mistakes(element_type):
    """The mistakes that a run judges in this type: over the types that it tries, each once where it is one."""
    where = {name: [each for each in part(TYPES) if name in mistakes(each)] for name in mistakes(element_type)}
    return [name for name, types in where.items()
            if ALL_TESTS or types[WRONG.index(name) % len(types)] == element_type]


def space_of(element_type):
    return HERE / ("typed_fp8.json" if element_type == "e4m3" else "typed.json")


def judge(element_type, variants, backend, seed=0):
    """Runs these variants; {variant: (outcome, message)}."""
    size = "17,13,4096" + ("" if element_type == "e4m3" else f",TYPE={element_type}")
    with tempfile.TemporaryDirectory(prefix="tune-typed-") as directory:
        database = pathlib.Path(directory) / "results.db"
        done = subprocess.run(
            [os.environ["TUNE"], "--space", space_of(element_type), "--kernel", "typed", "--backend", backend, "-q",
             "--strategy", "exhaustive", "--max-evals", str(len(variants)), "--launch-timeout", "5s", "--seed",
             str(seed), "--size", size, "--set", "VARIANT=" + ",".join(str(ALL.index(name)) for name in variants)],
            env={**os.environ, "TUNER_DB": str(database), "TERM": "dumb"}, cwd=directory, capture_output=True,
            text=True, timeout=280)
        if done.returncode == 3:
            return None
        if done.returncode not in (0, 4):  # 4: no candidate ended ok
            raise RuntimeError(f"{element_type}: exit {done.returncode}: {done.stderr}")
        with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as results:
            found = results.execute("SELECT config.json, outcome, message FROM result"
                                    " JOIN config ON config.id = config_id").fetchall()
    return {ALL[json.loads(config)["VARIANT"]]: (outcome, message) for config, outcome, message in found}


class TypedTest(unittest.TestCase):
    def check(self, element_type):
        judged = [*orders(element_type), *judged_mistakes(element_type)]
        found = judge(element_type, judged, BACKEND)
        if found is None:
            if os.environ.get("TUNER_REQUIRE_GPU"):
                self.fail("no GPU")
            self.skipTest("no GPU")
        self.assertEqual(sorted(found), sorted(judged))
        for variant, (outcome, message) in found.items():
            with self.subTest(element_type=element_type, variant=variant):
                if variant in RIGHT:
                    self.assertEqual(outcome, "ok", message)
                elif variant == "one_past":  # a short element behind the last may lie in its word
                    self.assertIn(outcome, ("out_of_bounds", "wrong_result"), message)
                else:
                    self.assertEqual(outcome, "wrong_result", message)

    def test_there_are_20_correct_orders(self):
        self.assertEqual(len(RIGHT), 20)
        self.assertEqual(WRONG[0], "alpha_ignored")  # which typed.cu numbers 20
        self.assertLessEqual(set(MISTAKES), set(WRONG))

    def test_every_mistake_of_the_types_that_are_tried_is_judged(self):
        tried = part(TYPES)
        self.assertEqual({name for each in tried for name in judged_mistakes(each)}, {name for each in tried for name in mistakes(each)})

    def test_the_table_of_the_documents_is_this_one(self):
        text = (HERE.parent.parent / "docs" / "results" / "measurement.md").read_text()
        self.assertIn(table(), text, "write it anew: typed_test.py --table")


def a_test_of(element_type):
    return lambda test: test.check(element_type)


for each in part(TYPES):
    setattr(TypedTest, f"test_{each}", a_test_of(each))


def table():
    rows = ["|types|mistakes|", "|---|---|"]
    for types in dict.fromkeys(MISTAKES.get(name, TYPES) for name in WRONG):
        those = ", ".join(name.replace("_", " ") for name in WRONG if MISTAKES.get(name, TYPES) == types)
        rows.append(f"|{'all' if types == TYPES else ' '.join(types)}|{those}|")
    return "\n".join(rows) + "\n"


def false_alarms(options):
    done = alarms = 0
    for seed in itertools.count(options.first_seed):
        for element_type in TYPES:
            check = json.loads(space_of(element_type).read_text())["check"]
            for variant, (outcome, message) in judge(element_type, RIGHT, options.backend, seed).items():
                done += (len(check["sizes"]) + 1) * (len(check["cases"]) + 1)
                if outcome != "ok":
                    alarms += 1
                    print(f"{variant} of {element_type}, seed {seed}: {outcome}: {message}", flush=True)
        if done >= options.checks:
            print(f"{alarms} false alarms in {done} checks, seeds {options.first_seed} to {seed}")
            return 1 if alarms else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checks", type=int)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--backend", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--first-seed", type=int, default=1)
    options = parser.parse_args()
    if options.table:
        print(table(), end="")
        return 0
    return false_alarms(options)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in ("--checks", "--table"):
        sys.exit(main())
    unittest.main()
