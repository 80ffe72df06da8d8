# SPDX-License-Identifier: Apache-2.0
"""tune tables check: what a dispatch table answers."""

import json
import re
import shutil
import subprocess
import unittest

from program import PATIENCE, ROOT, TUNE, ProgramTest

SHIPPED = ROOT / "db/seed/nvidia-h200.json"
FP32 = ROOT / "spaces/suites/fp32.json"
COPY = ROOT / "spaces/suites/copy.json"


class TablesTest(ProgramTest):
    def test_the_shipped_table_answers_its_suites(self):
        suites = sorted((ROOT / "spaces/suites").glob("*.json"))
        suites[suites.index(COPY)] = f"{COPY}:squares"  # of the copies these were tuned
        document = self.tune_json("tables", "check", SHIPPED, *(it for suite in suites for it in ("--sizes", suite)))
        self.assertEqual((document["schema"], document["device"]), ("tune.tables/1", "NVIDIA H200"))
        self.assertEqual([(it["missing"], it["stale"]) for it in document["suites"]], [([], [])] * len(suites))
        families = {it["family"]: it for it in document["families"]}
        self.assertEqual(sorted(families), ["convolution", "copy", "gemm", "gemm_grouped", "gemm_tensor", "reduction", "transpose", "window_square"])
        self.assertGreater(len(families["gemm"]["sizes"]), 150)
        text = self.tune("tables", "check", SHIPPED, "--sizes", FP32).stdout
        self.assertRegex(text, r"NVIDIA H200, driver 580.159.04, NVRTC 13.0, cuBLAS 13.1.0\n")
        self.assertRegex(text, r"fp32.json +gemm +72 of 72 +complete")

    def test_every_shipped_table_is_of_the_device_that_its_name_says(self):
        tables = sorted((ROOT / "db/seed").glob("*.json"))
        self.assertGreater(len(tables), 1)
        for table in tables:
            document = self.tune_json("tables", "check", table)
            self.assertEqual(re.sub("[^a-z0-9]", "-", document["device"].lower()), table.stem)
            self.assertEqual(document["warnings"], [])
            self.assertEqual([len(it["stale"]) for it in document["families"]], [0] * len(document["families"]))
            self.assertTrue(all(it["sizes"] for it in document["families"]))

    def test_tables_of_one_device_are_merged(self):
        space = ROOT / "spaces/gemm.json"
        for size in ("16,64,32", "32,64,32"):
            self.database = self.directory / f"{size}.db"
            self.tune("-q", "--space", space, "--kernel", "gemm_naive", "--size", size, "--backend", "cpu", "--max-evals", 1)
            self.tune("export", "--format", "json", "-o", f"{size}.json")
        text = self.tune("tables", "merge", "16,64,32.json", "32,64,32.json", "-o", "both.json").stdout
        self.assertIn("1 kernel, 2 tuned sizes, 0 portfolios", text)
        [family] = self.tune_json("tables", "check", "both.json")["families"]
        self.assertEqual(family["sizes"], ["16,64,32", "32,64,32"])
        refused = self.tune("tables", "merge", "both.json", SHIPPED, "-o", "none.json", code=2).stderr
        self.assertIn("merge tables of one device model", refused)
        self.assertFalse((self.directory / "none.json").exists())

    def test_a_search_begins_with_the_winners_of_installed_tables(self):
        space = ROOT / "spaces/gemm.json"
        run = ("--space", space, "--kernel", "gemm_naive", "--size", "16,64,32", "--backend", "cpu")
        self.tune("-q", *run, "--set", "BLOCK_X=64", "--max-evals", 1)
        table = json.loads(self.tune("export", "--format", "json").stdout)
        del table["checksum"]
        table["device"]["name"] = "another processor"
        installed = self.installed_with(table["device"]["name"], json.dumps(table))
        (self.directory / "prefix/share/tuner/tables/bad.json").write_text("{")
        done = subprocess.run([installed, "--db", "new.db", "-v", *run, "--max-evals", "2"], cwd=self.directory,
                              env=self.environment(), text=True, capture_output=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"(?s)bad\.json.*; the search continues\s+without it")
        self.database = self.directory / "new.db"
        [_, (second,)] = self.rows("SELECT c.json FROM result r JOIN config c ON c.id = r.config_id ORDER BY r.id")
        [won] = table["kernels"][0]["configs"]
        self.assertEqual(json.loads(second), json.loads(won["values"]))

    def test_what_was_tuned_here_answers_for_other_sizes_where_the_installed_table_knows_less(self):
        space = ROOT / "spaces/gemm.json"
        run = ("-q", "--space", space, "--kernel", "gemm_naive", "--backend", "cpu", "--max-evals", 1)
        for size in ("16,16,16", "16,64,32"):
            self.tune(*run, "--size", size)
        table = self.tune("export", "--format", "json").stdout
        installed = self.installed_with(json.loads(table)["device"]["name"], table)

        def source_of(database, size):
            done = subprocess.run([installed, "query", "--db", database, "--kernel", "gemm_naive", "--size", size, "--explain"],
                                  cwd=self.directory, env=self.environment(), text=True, capture_output=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 0, done.stderr)
            return "shipped" if "table: shipped" in done.stdout else "own"

        for size in ("32,32,32", "32,32,48", "32,64,64"):
            self.tune(*run, "--size", size, "--db", "own.db")
            if size == "32,32,48":
                self.assertEqual(source_of("own.db", "48,48,48"), "shipped", "as many sizes")
        self.assertEqual(source_of("own.db", "48,48,48"), "own")
        self.assertEqual(source_of("own.db", "16,64,32"), "shipped", "which was tuned at the very size")
        self.assertEqual(source_of("own.db", "32,32,32"), "own")

    def test_a_program_in_its_build_tree_finds_the_tables_beside_it(self):
        tree = self.directory / "build"
        (tree / "share/tuner").mkdir(parents=True)
        (tree / "share/tuner/tables").symlink_to(ROOT / "db/seed")
        program = shutil.copy(TUNE, tree)
        done = subprocess.run([program, "query", "--family", "gemm", "--device", "NVIDIA H200", "--size", "1024,1024,1024", "--explain"],
                              cwd=self.directory, env=self.environment(), text=True, capture_output=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("table: shipped", done.stdout)

    def test_what_is_missing_or_stale_is_named(self):
        table = json.loads(SHIPPED.read_text())
        del table["checksum"]
        environment = {**table["environment"], "driver": "570.1"}
        for kernel in table["kernels"]:
            kernel["environments"].append(environment)
            kernel["entries"] = [it for it in kernel["entries"] if it["size"] != "1024,1024,1024"]
            for entry in kernel["entries"]:
                if entry["size"] == "2048,2048,2048":
                    entry["environment"] = len(kernel["environments"]) - 1
        changed = self.text_file("changed.json", json.dumps(table))
        done = self.tune("tables", "check", changed, "--sizes", FP32, code=5)
        self.assertIn("missing: 1024,1024,1024\n", done.stdout)
        self.assertIn("stale: 2048,2048,2048\n", done.stdout)
        self.assertIn("71 of 72", done.stdout)
        self.assertIn("driver 570.1", done.stdout)
        self.assertIn("warning: the file was changed after `tune export` wrote it", done.stderr)

    def test_what_the_dispatcher_would_not_run_is_named(self):
        table = json.loads(SHIPPED.read_text())
        kernel = next(it for it in table["kernels"] if len(it["entries"]) > 2)
        first, second = kernel["entries"][0], kernel["entries"][1]
        broken = dict(kernel["configs"][first["config"]])
        broken["values"] = re.sub(":\\d+", ":12345", broken["values"], count=1)
        first["config"] = len(kernel["configs"])
        kernel["configs"].append(broken)
        changed = self.text_file("changed.json", json.dumps(table))
        warnings = self.tune_json("tables", "check", changed)["warnings"]
        self.assertEqual(len(warnings), 2, warnings)
        self.assertRegex(warnings[1], f"^{kernel['kernel']} at {re.escape(first['size'])}: .*12345.* is not used: ")
        kernel["source"] += "\n__global__ void more() {}\n"
        changed = self.text_file("changed.json", json.dumps(table))
        self.refuse("tables", "check", changed, code=2, says=kernel["kernel"])
        kernel["space"] = kernel["source"] = ""
        table["kernels"] = [{**kernel, "entries": [second]}]
        del table["portfolios"]  # whose members are of other kernels, too
        changed = self.text_file("changed.json", json.dumps(table))
        done = self.tune("tables", "check", changed)
        self.assertIn(f"warning: {kernel['kernel']} has results without sources: the dispatcher cannot run it", done.stderr)

    def test_what_is_no_table_or_suite_is_refused(self):
        self.refuse("tables", "check", "none.json", code=2, says="none.json")
        self.refuse("tables", "check", FP32, code=2, says="fp32.json")
        other = self.text_file("other.json", COPY.read_text().replace('"copy"', '"none"'))
        self.refuse("tables", "check", SHIPPED, "--sizes", other, code=2,
                    says=("these are sizes of 'none', of which the table has nothing", "it has ", "gemm"))


if __name__ == "__main__":
    unittest.main()
