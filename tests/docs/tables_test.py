# SPDX-License-Identifier: Apache-2.0
"""The tables of the documents are those of the committed results."""

import pathlib
import re
import subprocess
import sys
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "benchmarks/results/tables.py"
sys.path.insert(0, str(SCRIPT.parent))
import tables  # noqa: E402


class TablesTest(unittest.TestCase):
    def test_the_documents_are_up_to_date(self):
        run = subprocess.run([sys.executable, "-B", SCRIPT, "--check"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_another_table_is_not_up_to_date(self):
        text = "before\n<!-- table: random-sizes -->\n0.9\n<!-- end -->\nafter\n"
        once = tables.with_tables(text)
        self.assertTrue(once.startswith("before\n<!-- table: random-sizes -->\n\n|sizes"))
        self.assertTrue(once.endswith("\n\n<!-- end -->\nafter\n"))
        self.assertEqual(tables.with_tables(once), once)

    def test_an_unknown_table_is_an_error(self):
        with self.assertRaises(KeyError):
            tables.with_tables("<!-- table: none -->\n<!-- end -->")

    def test_every_table_has_a_place(self):
        documents = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
        places = [name for path in documents for name in re.findall(r"<!-- table: (\S+) -->", path.read_text())]
        self.assertEqual(sorted(places), sorted(tables.TABLES))

    def test_a_memory_bound_shape_has_its_share_of_the_copy(self):
        ratio = {"median": 0.9, "low": 0.898, "high": 0.902}
        figures = {"device": "GPU", "driver": "1", "cuda": "13.0", "library": "cuBLAS", "date": "2026-01-02T03:04:05Z",
                   "copy_gbytes_per_s": 4000, "shapes": [{
                       "shape": "1x64x64", "memory_bound": True, "contenders": [{"role": "ours", "gbytes_per_s": 3000}],
                       "ours_to_cublas": ratio, "ours_to_cublasLt": None, "ours_to_default": ratio}]}
        with unittest.mock.patch.object(tables, "newest", lambda suite: figures):
            text = tables.fp32_shapes()
        self.assertIn("|1x64x64|3000 GB/s (75 %)|0.900|–|0.900|", text)
        self.assertIn("± 0.002 or less", text)

    def test_choices_at_random_sizes_are_summed_up(self):
        self.assertIn("|200|0.807|0.864|1.011|1.017 (239x1073x892)|51|", tables.random_sizes())


if __name__ == "__main__":
    unittest.main()
