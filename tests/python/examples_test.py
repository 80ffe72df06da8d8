# SPDX-License-Identifier: Apache-2.0
"""The examples that tune kernels: the planted mistake of each is found, and nothing else is."""

import contextlib
import io
import os
import pathlib
import runpy
import tempfile
import unittest
import unittest.mock

import notebook

ROOT = pathlib.Path(__file__).resolve().parents[2]
MISTAKES = {"softmax": "NAIVE", "stencil": "EARLY", "quantized": "SKIP"}


class ExamplesTest(unittest.TestCase):
    def test_planted_mistakes_are_found(self):
        for name, mistake in MISTAKES.items():
            with self.subTest(name), tempfile.TemporaryDirectory(prefix="tune-test-") as folder, contextlib.redirect_stdout(io.StringIO()):
                source = ROOT / f"examples/python/{name}.py"
                self.assertLessEqual(len(source.read_text().splitlines()), 40)
                with unittest.mock.patch.dict(os.environ, {"TUNER_DB": f"{folder}/results.db", "XDG_DATA_HOME": folder}):
                    k = runpy.run_path(str(source))["k"]
                for trial in k.trials():
                    self.assertEqual(trial["outcome"], "wrong_result" if trial[mistake] else "ok", trial)
                self.assertEqual(k.best().config[mistake], 0)

    def test_the_notebook_runs(self):
        with tempfile.TemporaryDirectory(prefix="tune-test-") as folder, \
                unittest.mock.patch.dict(os.environ, {"TUNER_DB": f"{folder}/results.db", "XDG_DATA_HOME": folder}):
            _, [_, k, failures, error] = notebook.run(ROOT / "examples/python/tune.ipynb")
        self.assertIn("<table>", k._repr_html_())
        self.assertEqual({outcome: set(trials) for outcome, trials in failures.items()}, {"wrong_result": {(32, 4, 0), (128, 4, 0)}})
        self.assertLess(error, 1e-3)


if __name__ == "__main__":
    unittest.main()
