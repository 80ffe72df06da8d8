# SPDX-License-Identifier: Apache-2.0
"""performance_table.py: figures become a section of a document, and nothing else of it changes."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "benchmarks/gemm/performance_table.py"
sys.path.insert(0, str(SCRIPT.parent))
import performance_table  # noqa: E402


def contender(role, kernel):
    return {"role": role, "kernel": kernel, "tflops_per_s": 51.234, "gbytes_per_s": 3000.0}


def shape(text, **members):
    return {"shape": text, "group": "squares", "memory_bound": False, "contenders": [],
            "ours_to_cublas": None, "ours_to_cublasLt": None, "ours_to_default": None,
            "clock_mhz": None, "notes": []} | members


def interval(median):
    return {"median": median, "low": median - 0.002, "high": median + 0.002}


FIGURES = {
    "format": "gemm_benchmark/1", "device": "NVIDIA H200", "driver": "580.1", "cuda": "13.0",
    "library": "cuBLAS 13.1.0", "date": "2026-11-21T00:00:00Z", "copy_gbytes_per_s": 4000.0,
    "shapes": [
        shape("64x64x64", contenders=[contender("ours", "gemm_tiled"), contender("cublas", "sgemm")],
              ours_to_cublas=interval(1.234), clock_mhz=1980.0),
        shape("1x64x64", memory_bound=True, contenders=[contender("ours", "gemv")],
              ours_to_cublas=interval(0.9), notes=["cublasLt has no algorithm for this shape"]),
    ],
    "summary": {"geometric_means": [{"group": None, "shapes": 2, "tuned": 2, "ours_to_cublas": 1.054,
                                     "ours_to_cublasLt": None, "ours_to_default": None}],
                "wrong": ["1x64x64"]},
}


class PerformanceTable(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.document = pathlib.Path(self.directory.name) / "performance.md"
        self.figures = pathlib.Path(self.directory.name) / "figures.json"

    def run_script(self, figures, document):
        self.figures.write_text(json.dumps(figures))
        self.document.write_text(document)
        return subprocess.run([sys.executable, "-B", SCRIPT, self.figures, self.document],
                              capture_output=True, text=True, check=False)

    def test_replaces_what_stands_between_the_markers_and_nothing_else(self):
        empty = f"# Title\n\n{performance_table.BEGIN}\nold\n{performance_table.END}\n\nrest\n"
        self.assertEqual(self.run_script(FIGURES, empty).returncode, 0)
        once = self.document.read_text()
        self.assertTrue(once.startswith(f"# Title\n\n{performance_table.BEGIN}\n"))
        self.assertTrue(once.endswith(f"{performance_table.END}\n\nrest\n"))
        self.assertNotIn("old", once)
        self.assertEqual(self.run_script(FIGURES, once).returncode, 0)
        self.assertEqual(self.document.read_text(), once)

    def test_gives_rates_ratios_and_what_is_absent(self):
        text = performance_table.section(FIGURES)
        self.assertIn("| 64x64x64 | 51.23 | 51.23 | – | 1.234 ± 0.002 | – | – | 1980 |", text)
        self.assertIn("| 1x64x64 | 3000 GB/s (75 %) | – | – | **0.900 ± 0.002** | – | – | – |", text)
        self.assertIn("| all | 2 | 2 | 1.054 | – | – |", text)
        self.assertIn("| 64x64x64 | `gemm_tiled` | `sgemm` | – |", text)

    def test_passes_notes_and_wrong_results_on(self):
        text = performance_table.section(FIGURES)
        self.assertIn("- 1x64x64: cublasLt has no algorithm for this shape", text)
        self.assertIn("- 1x64x64: **the result is not cuBLAS's**", text)

    def test_leaves_a_document_without_markers_alone(self):
        run = self.run_script(FIGURES, "# Title\n")
        self.assertEqual(run.returncode, 1)
        self.assertIn(f"{self.document} needs the lines", run.stderr)
        self.assertEqual(self.document.read_text(), "# Title\n")

    def test_refuses_other_figures(self):
        run = self.run_script({"format": "other/1"}, "")
        self.assertEqual(run.returncode, 1)
        self.assertIn("not of format gemm_benchmark/1", run.stderr)

    def test_the_shipped_document_has_the_markers(self):
        document = SCRIPT.parents[2] / "docs/results/fp32-gemm.md"
        performance_table.with_section(document.read_text(), "")


if __name__ == "__main__":
    unittest.main()
