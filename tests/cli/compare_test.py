# SPDX-License-Identifier: Apache-2.0
"""tune compare: databases, environments and devices beside one another."""

import json
import unittest

from program import ROOT, ProgramTest

PUBLISHED = ROOT / "db" / "seed" / "nvidia-h200.jsonl"
SIZES = 12


def changed(line, factor=1.0, **versions):
    """An exported line as another machine might have written it."""
    best = json.loads(line)
    best["format"] = "tune.best/1"  # which has no checksum
    del best["checksum"]
    best["recorded_at"] = best.pop("provenance")["recorded_at"]
    best["time_ns"] = {key: value if key == "samples" else value * factor
                       for key, value in best["time_ns"].items()}
    best["device"]["name"] = versions.pop("device", best["device"]["name"])
    best["environment"].update(versions)
    return json.dumps(best) + "\n"


class CompareTest(ProgramTest):
    def setUp(self):
        super().setUp()
        lines = [line for line in PUBLISHED.read_text().splitlines() if '"kernel":"gemm_tiled"' in line][:SIZES]
        self.old = self.imported("old.db", [changed(line, driver="570.1") for line in lines])
        # Of twelve sizes one is slower by 5 %, one by 2 %, one is faster by 10 %.
        factors = [1.05, 1.02, 0.9] + [1.0] * (SIZES - 3)
        self.now = [changed(line, factor) for line, factor in zip(lines, factors)]
        self.new = self.imported("new.db", self.now)

    def imported(self, name, lines):
        file = self.text_file(name + ".jsonl", "".join(lines))
        self.tune("-q", "import", file, "--db", self.directory / name)
        return name

    def test_says_what_is_slower_and_faster(self):
        text = self.tune("compare", "old.db", "new.db", env={"COLUMNS": ""}).stdout
        self.assertRegex(text, r"SLOWER +\S+ .* ×0\.952 ")
        self.assertRegex(text, r"FASTER +\S+ .* ×1\.111 ")
        self.assertIn("driver 570.1", text)
        self.assertIn("gemm on NVIDIA H200", text)
        self.assertRegex(text, r"12 sizes: B has ×1\.00\d of A's speed")
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertLess(text.index("SLOWER"), text.index("FASTER"))

    def test_json_has_the_same(self):
        document = self.tune_json("compare", "old.db", "new.db")
        self.assertEqual(document["schema"], "tune.compare/1")
        self.assertEqual(sum(document["changes"].values()), SIZES)
        self.assertEqual(len(document["sizes"]), SIZES)
        slowest = document["sizes"][0]
        self.assertEqual(slowest["change"], "SLOWER")
        self.assertAlmostEqual(slowest["ratio"], slowest["a"]["median_ns"] / slowest["b"]["median_ns"])
        self.assertLess(slowest["high"], 1)
        self.assertEqual((slowest["a"]["driver"], slowest["b"]["driver"]), ("570.1", "580.159.04"))

    def test_a_regression_has_its_exit_code(self):
        done = self.tune("compare", "old.db", "new.db", "--fail-on", "3%", code=6)
        self.assertIn("1 size is slower by more than 3%", done.stderr)
        self.tune("compare", "old.db", "new.db", "--fail-on", "6%")
        self.tune("compare", "new.db", "old.db", "--fail-on", "3%", code=6)  # the faster one
        self.tune("compare", "old.db", "old.db@570", "--fail-on", "0%")
        for share in ("3", "x%", "-1%", "%", "nan%"):
            self.refuse("compare", "old.db", "new.db", f"--fail-on={share}", code=2, says="--fail-on")

    def test_environments_of_one_database(self):
        self.imported("old.db", self.now)
        env = {"TUNER_DB": "old.db"}
        self.assertIn("SLOWER", self.tune("compare", "@570", "@580", env=env).stdout)
        self.refuse("compare", "@570", "@590", code=5, env=env, says=["matches '590'", "driver 570.1", "driver 580"])
        for more in ((), ("--all-environments",)):  # the environment before is there without being asked for
            pages = self.tune("report", *more, "-o", "pages", env=env).stdout.split()
            page = (self.directory / pages[0]).read_text()
            self.assertIn("driver 570.1", page)
            self.assertRegex(page, r"12 sizes: B has ×1\.00\d of A's speed")

    def test_devices(self):
        lines = [changed(line, 2.0, device="NVIDIA H100") for line in PUBLISHED.read_text().splitlines()
                 if '"kernel":"gemm_tiled"' in line][:SIZES]
        self.imported("h100.db", lines)
        self.assertIn("gemm on NVIDIA H100 → NVIDIA H200", self.tune("compare", "h100.db", "new.db").stdout)
        self.imported("all.db", lines + self.now)
        self.assertIn("×2.", self.tune("compare", "all.db@H100", "all.db@H200").stdout)

    def test_by_the_library(self):
        document = self.tune_json("compare", "old.db", "new.db", "--by", "library")
        # The lines' ratios to the library were left as they were.
        self.assertEqual(document["changes"]["SLOWER"], 0)
        self.assertAlmostEqual(document["geometric_mean"], 1)
        self.refuse("compare", "old.db", "new.db", "--by", "libary", code=2, says="did you mean 'library'?")

    def test_a_page(self):
        self.tune("compare", "old.db", "new.db", "-o", "page.html")
        page = (self.directory / "page.html").read_text()
        self.assertIn("old.db → new.db", page)
        rows = self.page_data("page.html")["comparisons"][0]["table"]["rows"]
        self.assertEqual(len([row for row in rows if {"SLOWER", "UNCERTAIN", "FASTER", "SAME"} & set(map(str, row))]), SIZES)
        pages = self.tune("report", "--db", "new.db", "--compare", "old.db", "-o", "pages").stdout.split()
        self.assertIn("old.db → new.db", (self.directory / pages[0]).read_text())
        lines = [changed(line, device="NVIDIA H100") for line in PUBLISHED.read_text().splitlines()[:2]]
        self.imported("h100.db", lines)
        self.refuse("report", "--db", "new.db", "--compare", "h100.db", code=5,
                    says="h100.db has no results of NVIDIA H200 to compare with")

    def test_what_cannot_be_compared(self):
        self.refuse("compare", "old.db", code=2, says="B is required; `--help` lists what this command takes")
        self.refuse("compare", "old.db", "old.db", code=2, says="both 'old.db'")
        self.refuse("compare", "old.db", "none.db", code=5, says="no database at none.db")
        other = [changed(line) for line in PUBLISHED.read_text().splitlines() if '"family":"copy"' in line][:1]
        self.imported("copy.db", other)
        self.refuse("compare", "old.db", "copy.db", code=5, says="no size in common")


if __name__ == "__main__":
    unittest.main()
