# SPDX-License-Identifier: Apache-2.0
"""Kernels broken in the ways in which kernels break (mutants.cu): each must be found out for what it is."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))

from program import ProgramTest  # noqa: E402

BACKEND = os.environ.get("MUTANTS_BACKEND", "cpu")
SPACE = HERE / "mutants.json"

RACE = ("wrong_result", "nondeterministic")  # chance decides whether every launch is wrong

# The outcome on the cpu backend, the outcome on a GPU (a tuple: any of them), and what the message says.
EXPECTED = {
    "none": ("ok", "ok", ""),
    "no_barrier_after_load": ("wrong_result", RACE, "C["),
    "no_barrier_before_load": ("wrong_result", RACE, "C["),
    # The cpu backend begins the threads of a block in the other order at every other launch.
    "last_writer_wins": (RACE, RACE, "C["),
    "uninitialised_shared": ("wrong_result", RACE, "NaN"),
    # In a register of a GPU there may be anything, zero too.
    "uninitialised_sums": ("wrong_result", ("ok", *RACE), ""),
    "guard_off_by_one": ("out_of_bounds", "out_of_bounds", "beyond the end of its"),
    "k_tail_dropped": ("wrong_result", "wrong_result", "should be"),
    "one_slice_less": ("wrong_result", "wrong_result", "should be"),
    "one_element_more": ("wrong_result", "wrong_result", "should be"),
    "skipped_tile": ("wrong_result", "wrong_result", "as before the launch"),
    "too_few_blocks": ("wrong_result", "wrong_result", "as before the launch"),
    "swapped_operands": ("wrong_result", "wrong_result", "should be"),
    "transposed_output": ("wrong_result", "wrong_result", "should be"),
    "wrong_when_n_is_odd": ("wrong_result", "wrong_result", "should be"),
    "wrong_when_k_is_1": ("wrong_result", "wrong_result", "size 1x1x1"),
    "writes_behind": ("out_of_bounds", "out_of_bounds", "wrote C[1], beyond the end of its 1 element"),
    "writes_before": ("out_of_bounds", "out_of_bounds", "wrote C[-1], before its start"),
    "writes_behind_by_a_row": ("out_of_bounds", "out_of_bounds", "wrote C[2]"),
    "writes_an_input": ("out_of_bounds", "out_of_bounds", "wrote its input A"),
    "reads_behind_a": ("wrong_result", "wrong_result", "is NaN"),
    # The host loads from any address, unless its compiler chose an instruction that does not.
    # Crashes where it is one load of 16 bytes; an H200 was seen to read what lies behind a 1x1x1 A.
    "misaligned_vector": (("ok", "wrong_result", "crashed"), ("wrong_result", "crashed"), ""),
    "far_out_of_bounds": ("crashed", "crashed", ""),
    "does_nothing": ("wrong_result", "wrong_result", "C[0] (row 0, column 0) is NaN, as before the launch"),
    "gives_nan": ("wrong_result", "wrong_result", "is NaN, should be"),
    "gives_infinity": ("wrong_result", "wrong_result", "is infinity, should be"),
    "gives_a_constant": ("wrong_result", "wrong_result", "is 1, should be"),
    "ignores_alpha": ("wrong_result", "wrong_result", "alpha=3"),
    "ignores_beta": ("wrong_result", "wrong_result", "beta=-2"),
    "reads_c_when_beta_is_0": ("wrong_result", "wrong_result", "is NaN"),
    # Exact on whole numbers: only the error bound on normal inputs tells.
    "sums_in_half": ("wrong_result", "wrong_result", "times the allowed error away"),
    "wrong_after_ten": ("wrong_result", "wrong_result", "size 67x45x33"),
    "wrong_while_timed": ("wrong_result", "wrong_result", "launches back to back"),
    "idle_while_timed": ("wrong_result", "wrong_result", "launches back to back"),
    "another_order_each_time": ("nondeterministic", "nondeterministic", "the same input gave"),
    "hangs_at_the_eleventh": ("timeout", "timeout", ""),
    "infinite_loop": ("timeout", "timeout", ""),
    "trap": ("crashed", "crashed", ""),
    # The host has no registers to run out of.
    "too_many_registers": ("ok", "launch_error", ""),
    "too_much_shared": ("launch_error", "launch_error", "shared memory"),
}


def gpu_is_missing():
    """Why there is no GPU to run on; nothing when there is one."""
    asked = subprocess.run([os.environ["TUNE"], "--space", SPACE, "--backend", "cuda", "--set", "MUTANT=none",
                            "--dry-run"], capture_output=True, text=True, timeout=60)
    return asked.stderr.strip() if asked.returncode == 3 else ""


class MutantsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        missing = gpu_is_missing() if BACKEND == "cuda" else ""
        if missing and os.environ.get("TUNER_REQUIRE_GPU"):
            self.fail(missing)
        if missing:
            self.skipTest(missing)

    def outcomes(self, mutants):
        """Runs these mutants; {name: (outcome, message)}."""
        # On a GPU: enough k-tiles and blocks for races to show.
        size = ["--size", "512,512,512"] if BACKEND == "cuda" else []
        run = self.start("--space", SPACE, "--backend", BACKEND, "-q", "--max-evals", len(mutants), *size,
                         "--launch-timeout", "3s",
                         "--set", "MUTANT=" + ",".join(mutants))
        _, errors = run.communicate(timeout=280)
        self.assertEqual(run.returncode, 0, errors)
        found = self.rows("SELECT config.json, outcome, message FROM result JOIN config ON config.id = config_id")
        return {json.loads(config)["MUTANT"]: (outcome, message) for config, outcome, message in found}

    def test_every_mutant_is_found_out(self):
        found = self.outcomes(list(EXPECTED))
        self.assertEqual(sorted(found), sorted(EXPECTED))
        for name, (outcome, message) in found.items():
            with self.subTest(name):
                expected = EXPECTED[name][BACKEND == "cuda"]
                self.assertIn(outcome, (expected,) if isinstance(expected, str) else expected, message)
                self.assertIn(EXPECTED[name][2], message)
                if outcome in ("wrong_result", "out_of_bounds", "nondeterministic"):
                    self.assertIn("seed 0", message)
        groups = {group["outcome"]: group for group in self.tune_json("runs", "show")["failures"]}
        for outcome, group in groups.items():
            self.assertEqual(group["count"], sum(one == outcome for one, _ in found.values()))
            self.assertIn((outcome, group["example"]), found.values())

    def test_the_table_names_every_mutant_of_the_space(self):
        values = json.loads(SPACE.read_text())["kernels"]["mutants"]["parameters"]["MUTANT"]["values"]
        self.assertEqual(sorted(EXPECTED), sorted(values))


if __name__ == "__main__":
    unittest.main()
