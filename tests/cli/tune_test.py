# SPDX-License-Identifier: Apache-2.0
"""Runs on the cpu backend: what they print, keep and take up again."""

import json
import os
import resource
import subprocess
import time
import unittest

from program import GEMM, PATIENCE, ROOT, SHORT_RUN, TUNE, ProgramTest


class TuneTest(ProgramTest):
    def test_a_run_its_resumption_and_a_fresh_one(self):
        first = self.tune(*SHORT_RUN)
        self.assertRegex(first.stdout, r"^gemm_naive +(back to back|cold) +rate .*\n16x16x16 .*BLOCK_X=\d+ BLOCK_Y=\d+\n$")
        self.assertIn("1 to evaluate", first.stderr)
        self.assertIn("tune query --kernel gemm_naive --size 16,16,16", first.stderr)
        self.assertNotIn("\x1b", first.stderr + first.stdout)
        self.assertNotIn("resuming", first.stderr)
        self.assertEqual(self.rows("SELECT outcome FROM result"), [("ok",)])

        second = self.tune(*SHORT_RUN)
        self.assertIn("resuming: 1 result is already in the database", second.stderr)
        self.assertEqual(len(self.rows("SELECT * FROM result")), 1)

        fresh = self.tune(*SHORT_RUN, "--fresh")
        self.assertNotIn("resuming", fresh.stderr)
        self.assertEqual(len(self.rows("SELECT * FROM result")), 2)

        runs = self.tune("runs", "list").stdout.splitlines()
        self.assertEqual(len(runs), 4)  # a heading and three runs
        self.assertIn("complete", runs[1])
        newest = runs[1].split()[0]
        self.assertIn("1 trial; failed: none", self.tune("runs", "show", newest).stdout)
        self.assertIn("1 trial; failed: none", self.tune("runs", "show").stdout)
        self.refuse("runs", "show", "ffffffffffff", code=5, says="tune runs list")
        self.assertEqual(len(self.tune_json("runs", "list")["sessions"]), 3)
        self.assertEqual(self.tune_json("runs", "show")["outcomes"], {"ok": 1})
        self.assertIn("3 runs", self.tune("doctor", code=(0, 3)).stdout)

    def test_several_sizes_share_compilations_and_the_document_names_each(self):
        document = self.tune_json("--space", GEMM, "--kernel", "gemm_naive", "--backend", "cpu",
                                  "--max-evals", 1, "--size", "8,8,8", "--size", "9x8x7", "--size", "8,8,8")
        self.assertEqual(document["schema"], "tune.run/1")
        (kernel,) = document["kernels"]
        self.assertEqual(kernel["state"], "complete")
        self.assertEqual([size["size"] for size in kernel["sizes"]], [[8, 8, 8], [9, 8, 7]])
        for size in kernel["sizes"]:
            self.assertEqual(size["outcomes"], {"ok": 1})
            self.assertGreater(size["best"]["median_ns"], 0)
            self.assertGreater(size["best"]["ratio_to_library"], 0)
        self.assertEqual(self.rows("SELECT count(*) FROM result WHERE compile_ms > 0"), [(1,)])
        costs = {size["size"]: size for size in self.tune_json("runs", "show")["sizes"]}
        self.assertEqual([costs[size]["shared_compilations"] for size in ("8,8,8", "9,8,7")], [0, 1])
        self.assertEqual(costs["9,8,7"]["to_within_3_percent"]["trials"], 1)
        self.assertRegex(self.tune("runs", "show").stdout, r"\n9x8x7 +1 +1 +0\.0 s +\d")

    def test_several_sizes_end_by_patience_unless_all_was_asked_for(self):
        sizes = ("--space", GEMM, "--kernel", "gemm_naive", "--backend", "cpu", "--size", "2,2,2", "--size", "2,2,3",
                 "--set", "BLOCK_X=16,32,64,128", "--set", "BLOCK_Y=4,8")
        for options, all_of_it in ((("--patience", 1), False), ((), True)):
            (kernel,) = self.tune_json(*sizes, "--fresh", *options)["kernels"]
            self.assertEqual(kernel["state"], "complete")
            for size in kernel["sizes"]:
                self.assertEqual(size["evaluated"] == 8, all_of_it, options)

    def test_a_named_list_of_sizes_restricted_parameters_and_a_report(self):
        done = self.tune("--space", GEMM, "--kernel", "gemm_naive", "--backend", "cpu", "--sizes", "smoke",
                         "--set", "BLOCK_X=16", "--set", "BLOCK_Y=16,32", "--max-evals", 1,
                         "--report", self.directory / "pages")
        self.assertIn("64x64x64: 2 valid of 2 configurations", done.stderr)
        self.assertIn("67x45x33", done.stdout)
        (page,) = (self.directory / "pages").iterdir()
        self.assertIn(str(page), done.stderr)

    def test_a_report_is_rewritten_during_the_run(self):
        page = self.directory / "page.html"
        run = self.start("--space", self.space_file(), "--kernel", "scale", "--backend", "cpu", "--size", "64", "--size", "65",
                         "--report", page)
        live = set()
        while run.poll() is None:
            if page.exists():
                text = page.read_text()  # never a part: it is renamed into place
                self.assertIn("</html>", text)
                live.add('"live":{"every_s":5' in text)
            time.sleep(0.02)
        run.communicate()
        self.assertEqual(run.returncode, 0)
        self.assertIn(True, live)
        self.assertNotIn('"live":', page.read_text())

    def test_a_parameter_that_is_set_twice_keeps_the_values_of_both(self):
        scale = ("--space", self.space_file(), "--kernel", "scale", "--backend", "cpu", "--dry-run")
        self.assertIn("2 valid", self.tune(*scale, "--set", "BLOCK=32", "--set", "BLOCK=64").stdout)
        self.assertIn("1 valid", self.tune(*scale, "--set", "BLOCK=32", "--set", "BLOCK=32").stdout)
        self.refuse(*scale, "--set", "BLOCK=32", "--set", "BLOCK=", code=2, says="'BLOCK=' names no value")

    def test_what_eigen_prepares_once_counts_in_no_launch(self):
        # In a virtual machine it takes longer than the product: the kernel seemed to take over results.
        done = self.tune("--space", GEMM, "--kernel", "gemm_cpu_eigen", "--backend", "cpu", "--size", "9,9,9", "--max-evals", 1)
        self.assertNotIn("implausible", done.stdout + done.stderr)

    def test_a_dry_run_of_a_suite_takes_little_longer_than_one_of_a_size(self):
        tiled = ("-q", "--space", GEMM, "--kernel", "gemm_tiled", "--backend", "cpu", "--dry-run")

        def user_s(*sizes):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            count = self.tune(*tiled, *sizes).stdout.count(" valid configurations\n")
            return count, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

        user_s("--size", "1024,1024,1024")  # compiles
        count, one = user_s("--size", "1024,1024,1024")
        self.assertEqual(count, 1)
        count, all_of_them = user_s("--sizes", ROOT / "spaces/suites/fp32.json")
        self.assertEqual(count, 72)
        self.assertLess(all_of_them, 20 * one, "they share what no extent influences")

    def test_a_final_names_the_library_only_where_there_is_one(self):
        self.assertIn("final round: re-timing 1 finalist against OpenBLAS\n", self.tune(*SHORT_RUN).stderr)
        scale = ("--space", self.space_file(), "--kernel", "scale", "--backend", "cpu")
        self.assertIn("final round: re-timing 2 finalists\n", self.tune(*scale).stderr)

    def test_a_reference_that_leaves_results_unwritten_is_said(self):
        def one_block(document):
            for kernel in document["kernels"].values():
                kernel["launch"]["grid"] = [1]

        whole = ("--kernel", "scale", "--backend", "cpu", "--size", "100", "--max-evals", "1")
        self.assertNotIn("caution", self.tune("--space", self.space_file(), *whole).stdout)
        run = ("--space", self.space_file(one_block), *whole, "--fresh")
        says = "the reference leaves 68 of 100 elements of y unwritten, and so must every configuration"
        self.assertIn(f"warning: 100: {says}", self.tune(*run).stdout)
        self.assertIn(says, json.loads(self.tune(*run, "--json").stdout)["kernels"][0]["sizes"][0]["caution"])

    def test_a_dry_run_launches_nothing_and_writes_no_database(self):
        done = self.tune(*SHORT_RUN, "--dry-run")
        self.assertIn("66 valid configurations", done.stdout)
        self.assertIn("the default configuration compiles", done.stdout)
        self.assertFalse(self.database.exists())

    def test_a_kernel_for_another_backend_is_skipped_with_the_reason_and_refused_when_named(self):
        def gpu_only(document):
            document["kernels"]["scale"]["backends"] = ["cuda"]

        file = self.space_file(gpu_only)
        run = self.tune("--space", file, "--backend", "cpu")
        self.assertIn("skipped: kernel scale runs on cuda only", run.stderr)
        self.assertEqual([line.split()[0] for line in run.stdout.splitlines()], ["plain", "64"])
        self.refuse("--space", file, "--backend", "cpu", "--kernel", "scale", code=3,
                    says="kernel scale runs on cuda only, not on the cpu backend")

    def test_an_unproven_kernel_runs_only_where_it_is_named(self):
        def unproven(document):
            document["kernels"]["scale"]["unproven"] = "never run on a GPU"

        file = self.space_file(unproven)
        run = self.tune("--space", file, "--backend", "cpu")
        self.assertIn("skipped: kernel scale, unless --kernel names it: never run on a GPU", run.stderr)
        self.assertEqual([line.split()[0] for line in run.stdout.splitlines()], ["plain", "64"])
        self.assertIn("scale", self.tune("--space", file, "--backend", "cpu", "--kernel", "scale", "--max-evals", 2).stdout)
        ask = ("query", "--size", "64", "--kernel")
        self.assertRegex(self.tune(*ask, "scale").stdout, r"\nwarning +never run on a GPU\n")
        self.assertEqual(self.tune_json(*ask, "scale")["unproven"], "never run on a GPU")
        self.assertNotIn("never run", self.tune(*ask, "plain").stdout)
        self.assertEqual(self.tune_json(*ask, "plain")["unproven"], "")
        self.assertIn("only where --kernel names it: never run on a GPU", self.tune("space", "show", file).stdout)
        self.assertIn("the default is valid; never run on a GPU", self.tune("space", "check", file).stdout)

    def test_sizes_without_a_valid_configuration_are_left_out_as_long_as_one_remains(self):
        def small_only(document):
            document["kernels"]["scale"]["constraints"] = [{"expr": "N <= 64 * BLOCK // 32", "why": "small vectors"}]

        scale = ("--space", self.space_file(small_only), "--backend", "cpu", "--kernel", "scale")
        run = self.tune(*scale, "--size", 500, "--size", 16, "--size", 100, "--size", 64)
        self.assertRegex(run.stderr, r"(?m)^skipped: 2 of 4 sizes for kernel scale; the first: .* at 500; its default "
                                     r"violates N <= 64 \* BLOCK // 32 \(small vectors\): .*N=500")
        self.assertEqual(run.stderr.count("skipped"), 1)
        self.assertEqual([line.split()[0] for line in run.stdout.splitlines()], ["scale", "16", "64"])
        self.assertEqual(self.rows("SELECT size FROM problem ORDER BY size"), [("16",), ("64",)])

        only_the_default_breaks = self.tune(*scale, "--size", 100, "--size", 64, "--dry-run")
        self.assertRegex(only_the_default_breaks.stderr, r"skipped: 1 of 2 sizes .* the default configuration is not "
                                                         r"valid at the size 100: .*small vectors")
        done = self.refuse(*scale, "--size", 500, "--size", 600, code=4, says=("at 500", "small vectors"))
        self.assertNotIn("600", done.stderr)

    def test_sizes_too_large_for_the_device_are_left_out_as_long_as_one_remains(self):
        def much_memory(document):
            document["arguments"][1]["count"] = "4096 * N"

        scale = ("--space", self.space_file(much_memory), "--backend", "cpu", "--kernel", "scale")
        run = self.tune(*scale, "--size", 2**31 - 1, "--size", 64)
        self.assertRegex(run.stderr, r"(?m)^skipped: 1 of 2 sizes for kernel scale; the first: scale: to check a kernel "
                                     r"at the size 2147483647 takes 65576\.0 GiB of memory, of which the device has")
        self.assertEqual([line.split()[0] for line in run.stdout.splitlines()], ["scale", "64"])
        self.refuse(*scale, "--size", 2**31 - 1, code=2, says=("65576.0 GiB", "take a smaller size"))

    def test_a_kernel_for_other_sizes_is_left_out_unless_it_is_named(self):
        def large_only(document):
            document["kernels"]["scale"]["constraints"] = [{"expr": "N > 64", "why": "large vectors"}]
            document["problem"]["sizes"]["large"] = [[100]]

        file = self.space_file(large_only)
        run = self.tune("--space", file, "--backend", "cpu")
        self.assertIn("skipped: 1 of 1 size for kernel scale", run.stderr)
        self.assertEqual([line.split()[0] for line in run.stdout.splitlines()], ["plain", "64"])
        self.refuse("--space", file, "--backend", "cpu", "--kernel", "scale", code=4, says="large vectors")
        self.assertRegex(self.tune("space", "check", file).stdout, "scale: .* 2 valid configurations at 100;")
        self.refuse("space", "check", file, "--size", 64, "--kernel", "scale", code=4, says="no valid configuration")

    def test_without_a_backend_and_with_an_empty_cache_the_device_of_the_machine_is_used(self):
        done = self.tune("--space", self.space_file(), "--kernel", "scale", "--max-evals", 1,
                         env={"XDG_CACHE_HOME": str(self.directory / "cache")})
        self.assertIn("1 to evaluate", done.stderr)
        self.assertEqual(self.rows("SELECT outcome FROM result"), [("ok",)])

    def test_quiet_says_nothing_but_the_result(self):
        self.assertEqual(self.tune(*SHORT_RUN, "-q").stderr, "")

    def test_without_readers_the_run_goes_on_and_everything_is_kept(self):
        reading, writing = os.pipe()
        os.close(reading)
        try:
            done = subprocess.run([TUNE, *map(str, SHORT_RUN)], env=self.environment(), cwd=self.directory,
                                  stdout=subprocess.DEVNULL, stderr=writing, timeout=PATIENCE)
        finally:
            os.close(writing)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.rows("SELECT state FROM session"), [("complete",)])

    def test_on_a_terminal_one_line_is_redrawn_unless_ci_or_a_dumb_terminal_asks_for_plain_lines(self):
        for changes, redrawn in (({"TERM": "xterm"}, True),
                                 ({"TERM": "xterm", "CI": "1"}, False),
                                 ({"TERM": "dumb"}, False)):
            with self.subTest(changes=changes):
                controller, terminal = os.openpty()
                self.addCleanup(os.close, controller)
                subprocess.run([TUNE, *map(str, SHORT_RUN)], env=self.environment(**changes), timeout=PATIENCE,
                               cwd=self.directory, stdout=subprocess.DEVNULL, stderr=terminal, check=True)
                os.close(terminal)
                self.assertEqual(b"\x1b[K" in os.read(controller, 65536), redrawn)


if __name__ == "__main__":
    unittest.main()
