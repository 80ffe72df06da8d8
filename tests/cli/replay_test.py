# SPDX-License-Identifier: Apache-2.0
"""`tune replay`: recorded measurements searched as if they were the device."""

import json
import unittest

from program import ROOT, ProgramTest

PNPOLY = ROOT / "tests" / "data" / "recorded" / "pnpoly.json"
FAST = ("--strategy", "random,genetic", "--repeats", "3", "--seed", "5")


class ReplayTest(ProgramTest):
    def traces(self, path):
        return [json.loads(line) for line in path.read_text().splitlines()]

    def test_compares_the_strategies(self):
        text = self.tune("replay", PNPOLY, *FAST, "--score").stdout
        self.assertIn("pnpoly: cn_pnpoly on NVIDIA TITAN RTX", text)
        for strategy in ("random", "genetic"):
            self.assertRegex(text, rf"(?m)^{strategy} +-?\d\.\d{{3}} ")
        self.assertIn("924 configurations, 3 runs each; figures are medians; in so small a space random search", text)
        self.assertNotIn("so small a space", self.tune("replay", PNPOLY, *FAST).stdout)

    def test_json_has_every_run_and_the_scores(self):
        document = self.tune_json("replay", PNPOLY, PNPOLY, *FAST, "--score")
        self.assertEqual(document["schema"], "tune.replay/1")
        first, second = document["recordings"]
        self.assertEqual([s["strategy"] for s in first["strategies"]], ["random", "genetic"])
        genetic = first["strategies"][1]
        self.assertEqual([run["seed"] for run in genetic["runs"]], [5, 6, 7])
        self.assertGreater(genetic["strategy_share"], 0)
        self.assertLess(genetic["strategy_share"], 0.01)
        overall = {s["strategy"]: s["score"] for s in document["scores"]}
        self.assertAlmostEqual(overall["genetic"], genetic["score"], delta=1e-3)
        self.assertAlmostEqual(second["strategies"][1]["score"], genetic["score"], delta=1e-3)

    def test_traces_are_what_was_tried(self):
        self.tune("replay", PNPOLY, *FAST, "--trace", "out.jsonl", "--max-evals", "20")
        runs = self.traces(self.directory / "out.jsonl")
        self.assertEqual([(run["strategy"], run["seed"]) for run in runs],
                         [(s, n) for s in ("random", "genetic") for n in (5, 6, 7)])
        recorded = json.loads(PNPOLY.read_text())["cache"]
        for run in runs:
            self.assertEqual(len(set(run["keys"])), 20)
            self.assertLessEqual(set(run["keys"]), set(recorded))
            cost_s = sum(recorded[key]["benchmark_time"] for key in run["keys"]) / 1e3
            self.assertAlmostEqual(run["times"][-1], cost_s, delta=0.1)
            self.assertEqual(run["times"], sorted(run["times"]))

    def test_the_traces_of_several_files_go_into_a_directory(self):
        other = self.text_file("other.json", PNPOLY.read_text())
        self.tune("replay", PNPOLY, other, *FAST, "--trace", "out", "--max-evals", "5")
        for name in ("pnpoly", "other"):
            self.assertEqual(len(self.traces(self.directory / "out" / f"{name}.jsonl")), 6)
        self.refuse("replay", PNPOLY, PNPOLY, "--trace", "out", code=2, says="would both be out/pnpoly.jsonl")

    def test_neither_threads_nor_what_ran_before_change_a_run(self):
        def keys(*arguments):
            self.tune("replay", PNPOLY, *FAST, "--max-evals", "50", "--trace", "out.jsonl", *arguments)
            return [run["keys"] for run in self.traces(self.directory / "out.jsonl")]
        alone = keys("--jobs", "1")
        self.assertEqual(alone, keys("--jobs", "4"))
        self.assertNotEqual(alone, keys("--in-flight", "16"))

    def test_the_budget_ends_a_run(self):
        (recording,) = self.tune_json("replay", PNPOLY, "--max-time", "2s")["recordings"]
        (run,) = recording["strategies"][0]["runs"]
        self.assertTrue(2 <= run["elapsed_s"] < 3, run)

    def test_what_is_wrong_is_said(self):
        self.refuse("replay", code=2, says="files is required")
        self.refuse("replay", PNPOLY, "--strategy", "genetik", code=2,
                    says="--strategy: there is no strategy 'genetik' (did you mean 'genetic'?)")
        self.refuse("replay", PNPOLY, "--max-time", "soon", code=2, says="--max-time: 'soon' is not a duration")
        self.refuse("replay", "none.json", code=2, says="none.json")
        self.refuse("replay", PNPOLY, "--score", "--max-evals", "1", "--max-time", "1ms",
                    code=2, says="no run has a result between")


if __name__ == "__main__":
    unittest.main()
