# SPDX-License-Identifier: Apache-2.0
"""Exploits end as the page on what verification finds says."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "results" / "measurement.md"
SPACE = ROOT / "examples" / "judge" / "exploits.json"


class JudgeTest(unittest.TestCase):
    def test_exploits_end_as_the_table_says(self):
        table = re.search(r"<!-- exploits -->(.*?)<!-- end -->", PAGE.read_text(), re.S)[1]
        rows = re.findall(r"^\|`(\w+)`\|.*\|`(\w+)`\|$", table, re.M)
        kernels = json.loads(SPACE.read_text())["kernels"]
        self.assertEqual([name for name, _ in rows], [name for name in kernels if name != "row_mean_plain"])
        with tempfile.TemporaryDirectory(prefix="tune-test-") as folder:
            for name, outcome in rows:
                with self.subTest(kernel=name):
                    done = subprocess.run([os.environ["TUNE"], "judge", SPACE, "--kernel", name, "--backend", "cpu",
                                           "--launch-timeout", "1s", "--json", "-q"], text=True, capture_output=True,
                                          env={**os.environ, "TUNER_DB": f"{folder}/results.db"}, timeout=150)
                    verdict = json.loads(done.stdout)
                    self.assertEqual(verdict["outcome"], outcome, verdict["message"])
                    self.assertEqual(done.returncode, 0 if outcome == "ok" else 4)


if __name__ == "__main__":
    unittest.main()
