#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tune record, tune --sizes and tune exec, with a program that is linked to a stand-in of cuBLAS."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

TUNE = os.environ["TUNE"]
PROGRAM = os.environ["CUBLAS_PROGRAM"]
LIBRARY = os.environ["TUNER_CUBLAS_LIBRARY"]
GEMM = pathlib.Path(__file__).resolve().parents[2] / "spaces" / "gemm.json"


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = {**os.environ, "TUNER_DB": str(self.folder / "tune.db"), "TUNER_CUBLAS_BACKEND": "cpu"}

    def run_tune(self, *arguments, **options):
        return subprocess.run([TUNE, *map(str, arguments)], env=self.environment, cwd=self.folder, text=True,
                              capture_output=True, timeout=200, **options)

    def test_recorded_products_are_tuned_and_served(self):
        plain = subprocess.run([PROGRAM, "50"], capture_output=True, text=True, check=True)
        recorded = self.run_tune("record", "-o", "sizes.json", "--", PROGRAM, 50)
        self.assertEqual((recorded.returncode, recorded.stdout), (0, plain.stdout), recorded.stderr)
        self.assertIn("16,64,32", recorded.stderr)
        self.assertIn("no: element type", recorded.stderr)
        self.assertRegex(" ".join(recorded.stderr.split()), r"200 calls, .* in cuBLAS on .*; 3 products with .* can be tuned")
        self.assertIn("To tune them: tune --sizes sizes.json", recorded.stderr)
        self.assertNotIn("Expected saving", recorded.stderr)
        suite = json.loads((self.folder / "sizes.json").read_text())
        sizes = {group["family"]: group["sizes"] for group in suite["groups"]}
        self.assertCountEqual(sizes["gemm"], [{"M": 16, "N": 64, "K": 32}, {"M": 8, "N": 8, "K": 4, "BATCH": 4}])
        self.assertEqual(sizes["gemm_tensor"], [{"M": 2, "N": 2, "K": 2, "TYPE": "bf16"}])
        of_tensor_cores = self.run_tune("--space", GEMM.with_name("gemm_tensor.json"), "--sizes", "sizes.json", "--backend",
                                        "cpu", "--dry-run")
        self.assertEqual(of_tensor_cores.returncode, 0, of_tensor_cores.stderr)
        self.assertIn("2x2x2", of_tensor_cores.stdout)
        self.assertIn("2,2,2,TYPE=bf16", recorded.stderr)
        rows = {row["function"]: row for row in suite["recorded"]["products"] if row["type"] != "bf16"}
        self.assertEqual({row["count"] for row in rows.values()}, {50})
        self.assertGreaterEqual(rows["cublasSgemm_v2"]["timed"], 3)
        self.assertGreater(rows["cublasSgemm_v2"]["timed_ns"], 0)
        self.assertEqual(rows["cublasGemmEx"]["type"], "e5m2")

        tuned = self.run_tune("--space", GEMM, "--kernel", "gemm_naive", "--sizes", "sizes.json", "--backend", "cpu",
                              "--max-evals", 2)
        self.assertEqual(tuned.returncode, 0, tuned.stderr)
        again = self.run_tune("record", "--", PROGRAM, 50)
        self.assertRegex(" ".join(again.stderr.split()), r"Expected saving with tuned kernels on this device: \d+\.\d % of that time")
        served = self.run_tune("exec", "--", PROGRAM, 50)
        self.assertEqual((served.returncode, served.stdout), (0, plain.stdout), served.stderr)
        self.assertRegex(served.stderr, r"cuBLAS calls: \d+ served, \d+ passed to cuBLAS \(.*element type 50")

    def test_without_a_database_the_shipped_table_serves(self):
        tuned = self.run_tune("--space", GEMM, "--kernel", "gemm_naive", "--size", "16,64,32", "--backend", "cpu",
                              "--max-evals", 1)
        self.assertEqual(tuned.returncode, 0, tuned.stderr)
        prefix = self.folder / "prefix"
        for folder in ("bin", "lib/x86_64-linux-gnu", "share/tuner/tables"):
            (prefix / folder).mkdir(parents=True)
        program = shutil.copy(TUNE, prefix / "bin")
        shutil.copy(LIBRARY, prefix / "lib")
        exported = self.run_tune("export", "--format", "json", "--family", "gemm")
        device = json.loads(exported.stdout)["device"]["name"]
        table = prefix / "share/tuner/tables" / (re.sub("[^a-z0-9]", "-", device.lower()) + ".json")
        exported = re.sub(r'("ratio_to_library(_tuned)?":)[^,]+', r'\g<1>2', exported.stdout)
        table.write_text(exported)
        saved = r"cuBLAS calls: [12] served.*; saved [0-9.e-]*[1-9]"  # known of the very size alone
        self.environment["TUNER_DB"] = str(self.folder / "none.db")

        def served():
            return subprocess.run([program, "exec", "--", PROGRAM, "1"], env=self.environment, cwd=self.folder,
                                  text=True, capture_output=True, timeout=100).stderr

        def asked(*arguments):
            return subprocess.run([program, "query", "--family", "gemm", "--explain",
                                   *(arguments if "--size" in arguments else ("--size", "16,64,32", *arguments))],
                                  env=self.environment, cwd=self.folder, text=True, capture_output=True, timeout=100)

        self.assertRegex(served(), saved)
        answer = asked("--device", device)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn(f"table: shipped, {table}", " ".join(answer.stdout.split()))
        self.assertEqual(asked().returncode, 5)
        self.assertEqual(asked("--device", "another").returncode, 5)
        # What was tuned here answers for its own sizes, what is shipped for others.
        self.environment["TUNER_DB"] = str(self.folder / "other.db")
        other = self.run_tune("--space", GEMM, "--kernel", "gemm_naive", "--size", "8,8,8", "--backend", "cpu",
                              "--max-evals", 1)
        self.assertEqual(other.returncode, 0, other.stderr)
        self.assertIn("table: shipped", asked().stdout)
        self.assertRegex(served(), saved)
        self.assertNotIn("table: shipped", asked("--size", "8,8,8").stdout)
        self.environment["TUNER_DB"] = str(self.folder / "none.db")
        # What others may change is not trusted, and the table of another device is not used.
        table.chmod(0o666)
        self.assertIn("0 served", served())
        self.assertEqual(asked("--device", device).returncode, 5)
        table.chmod(0o644)
        self.assertRegex(served(), r"cuBLAS calls: [12] served")
        table.write_text(exported.replace(device, device + "2"))
        self.assertIn("0 served", served())

    def test_what_the_family_has_no_size_for_is_left_out(self):
        recorded = self.run_tune("record", "-o", "sizes.json", "--", PROGRAM, 1, "many")
        self.assertRegex(recorded.stderr, r"1,1,1,BATCH=70000 .* no: too large")
        self.assertNotIn("70000", json.dumps(json.loads((self.folder / "sizes.json").read_text())["groups"]))
        checked = self.run_tune("--space", GEMM, "--sizes", "sizes.json", "--backend", "cpu", "--dry-run")
        self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_nothing_is_recorded_of_a_program_without_cublas(self):
        recorded = self.run_tune("record", "-o", "sizes.json", "--", "/bin/echo", "--json", "hello")
        self.assertEqual((recorded.returncode, recorded.stdout), (0, "--json hello\n"))
        self.assertIn("the program computed no product with cuBLAS", recorded.stderr)
        self.assertFalse((self.folder / "sizes.json").exists())

    def test_products_of_several_processes_are_added(self):
        shell = f"{PROGRAM} 5 & {PROGRAM} 7; wait"
        recorded = self.run_tune("record", "-o", "sizes.json", "--", "/bin/sh", "-c", shell)
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        rows = json.loads((self.folder / "sizes.json").read_text())["recorded"]["products"]
        self.assertEqual({row["count"] for row in rows}, {12})

    def test_the_exit_code_is_the_programs(self):
        for command in ("record", "exec"):
            self.assertEqual(self.run_tune(command, "--", PROGRAM, 1, "exit", 42).returncode, 42)
        self.assertEqual(self.run_tune("record", "--", PROGRAM, 1, "raise", 9).returncode, 137)
        self.assertEqual(self.run_tune("exec", "--", PROGRAM, 1, "raise", 9).returncode, -9)
        for command in ("record", "exec"):
            missing = self.run_tune(command, "--", "/no/such/program")
            self.assertEqual(missing.returncode, 127)
            self.assertNotIn("computed no product", missing.stderr)
            self.assertEqual(self.run_tune(command, "--", self.folder).returncode, 126)
            self.assertIn("/no/such/program cannot be started: No such file", missing.stderr)

    def test_signals_reach_the_program(self):
        for command in ("record", "exec"):
            with subprocess.Popen([TUNE, command, "--", PROGRAM, "1", "wait"], env=self.environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                process.stdout.readline()
                process.send_signal(signal.SIGUSR1)
                out, err = process.communicate(timeout=60)
                self.assertEqual((process.returncode, out), (0, "done\n"), err)

    def test_the_database_is_named_to_the_program(self):
        del self.environment["TUNER_DB"]
        (self.folder / "tune.db").touch()
        shown = self.run_tune("exec", "--db", "tune.db", "--", "/bin/sh", "-c", "echo $TUNER_DB $TUNER_CUBLAS $LD_PRELOAD")
        database, mode, preloaded = shown.stdout.split()
        self.assertEqual((database, mode), (str(self.folder / "tune.db"), "serve"))
        self.assertTrue(preloaded.endswith("/libtuner_cublas.so"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
