# SPDX-License-Identifier: Apache-2.0
"""tune tables check: what a dispatch table answers."""

import json
import re
import unittest

from program import ROOT, ProgramTest

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
        self.assertEqual(sorted(families), ["convolution", "copy", "gemm", "gemm_tensor", "reduction", "transpose", "window_square"])
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
            self.assertEqual([len(it["stale"]) for it in document["families"]], [0] * len(document["families"]))
            self.assertTrue(all(it["sizes"] for it in document["families"]))

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

    def test_what_is_no_table_or_suite_is_refused(self):
        self.refuse("tables", "check", "none.json", code=2, says="none.json")
        self.refuse("tables", "check", FP32, code=2, says="fp32.json")
        other = self.text_file("other.json", COPY.read_text().replace('"copy"', '"none"'))
        self.refuse("tables", "check", SHIPPED, "--sizes", other, code=2,
                    says=("these are sizes of 'none', of which the table has nothing", "it has ", "gemm"))


if __name__ == "__main__":
    unittest.main()
