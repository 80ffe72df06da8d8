# SPDX-License-Identifier: Apache-2.0
"""tune bench over a range of sizes: the device beside the processor, and transfers."""

import json
import unittest

from program import COPY, GEMM, TRANSPOSE, ProgramTest

FOR_PROCESSORS = ("__global__ void doubled(int N, const float* x, float* y) {\n"
                  "  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];\n"
                  "}\n")


def with_processors(document):
    document["kernels"]["host"] = {"source": "host.cu", "entry": "doubled", "backends": ["cpu"],
                                   "launch": {"grid": [1], "block": [1]}}


class SweepTest(ProgramTest):
    def sweep_json(self, *arguments, sizes="64:256:x4"):
        space = self.space_file(with_processors, {"host.cu": FOR_PROCESSORS})
        return self.tune_json("bench", "--space", space, "--backend", "cpu", "--range", sizes, *arguments)

    def test_the_processor_beside_the_device_and_the_way_of_the_data(self):
        sweep = self.sweep_json("--cpu", "--transfers")
        self.assertEqual(sweep["schema"], "tune.sweep/2")
        self.assertEqual([size["label"] for size in sweep["sizes"]], ["64", "256"])
        host, device = sweep["sides"]
        self.assertEqual({timing["contender"] for timing in host["times"]}, {"host"})
        self.assertEqual({timing["contender"] for timing in device["times"]}, {"scale", "plain"})
        for timing in host["times"] + device["times"]:
            self.assertEqual(timing["outcome"], "ok")
            self.assertLessEqual(timing["q1_ns"], timing["median_ns"])
        self.assertEqual(len([timing for timing in host["times"] if timing["compile_ms"] > 0]), 1, "once for all sizes")
        self.assertEqual([(transfer["size"], transfer["placement"]) for transfer in device["transfers"]],
                         [(size, place) for size in (0, 1) for _ in device["times"][::2]
                          for place in ("pageable", "pinned", "mapped")])
        self.assertEqual({transfer["contender"] for transfer in device["transfers"]}, {"scale", "plain"}, "each, not only the fastest")
        for transfer in device["transfers"]:
            parts = ("allocate_ns", "to_device_ns", "kernel_ns", "to_host_ns", "free_ns")
            self.assertAlmostEqual(transfer["total_ns"], sum(transfer[part] for part in parts))
            self.assertEqual(transfer["pin_ns"] > 0, transfer["placement"] != "pageable")
        for side, timing in ((side, timing) for side in sweep["sides"] for timing in side["times"]):
            size = sweep["sizes"][timing["size"]]
            self.assertAlmostEqual(timing["bytes_per_s"], 1e9 * size["bytes"] / timing["median_ns"], delta=1)
            self.assertGreater(timing["cycles"], 0)
        self.assertEqual([side["skipped"] for side in sweep["sides"]], [[], []])
        self.assertGreater(device["start_up"]["device_ms"], 0)
        self.assertGreaterEqual(sweep["vector_bits"], 128)
        self.assertIs(sweep["agree"], True)
        self.assertEqual([each["between"] for each in sweep["comparisons"]],
                         [["CPU", "device"]] * 4 + [["pageable", "pinned"], ["pageable", "mapped"]])
        for each in sweep["comparisons"]:
            self.assertEqual(each["leads"][0]["first"], 0)
            self.assertEqual(each["leads"][-1]["last"], 1)
        self.assertFalse(self.database.exists(), "nothing is stored")

    def test_each_argument_has_a_place_of_its_own(self):
        sweep = self.sweep_json("--transfers", "--memory", "x=mapped,y=pinned", "--memory", "pageable")
        self.assertEqual(sweep["placements"], [{"name": "x=mapped,y=pinned", "places": {"x": "mapped", "y": "pinned"}},
                                               {"name": "pageable", "places": {"x": "pageable", "y": "pageable"}}])
        self.assertEqual(len(sweep["sides"]), 1, "without --cpu the device alone")

    def test_what_was_tuned_takes_part(self):
        space = self.space_file(with_processors, {"host.cu": FOR_PROCESSORS})
        self.tune("--space", space, "--kernel", "scale", "--backend", "cpu", "--size", "64", "--set", "BLOCK=64", "-q")
        done = self.tune("bench", "--space", space, "--backend", "cpu", "--range", "64:64:1", "--cpu")
        self.assertRegex(done.stdout, r"(?m)^device: 64 +cold median +GFLOP/s +cycles$(\n.+)*\n^tuned +[0-9.]+ .?s")
        self.assertRegex(done.stdout, r"(?m)^CPU: 64 +cold median +GFLOP/s +cycles$\n^host +[0-9.]+ .?s ")
        self.assertRegex(done.stdout, r"CPU or device, the kernel alone: faster is (CPU|device|neither) at 64")
        self.assertIn("On whole numbers all of them computed the same result, bit for bit.", done.stdout)
        self.assertRegex(done.stderr, r"CPU: .*, \d+ threads, vectors of (128|256|512) bits \(g\+\+ ")
        table = self.directory / "table.json"
        self.tune("export", "--format", "json", "-o", table)
        self.database.unlink()
        done = self.tune("bench", "--space", space, "--backend", "cpu", "--range", "64:64:1", "--table", table)
        self.assertRegex(done.stdout, r"(?m)^device: 64 .*$(\n.+)*\n^tuned ")

    def test_the_report_shows_it(self):
        space = self.space_file(with_processors, {"host.cu": FOR_PROCESSORS})
        self.tune("--space", space, "--kernel", "scale", "--backend", "cpu", "--size", "64", "-q")
        sweep = self.tune("bench", "--space", space, "--backend", "cpu", "--range", "64:256:x4", "--cpu", "--transfers",
                          "--json")
        file = self.text_file("sweep.json", sweep.stdout)
        page, = self.tune_json("report", "--sweep", file, "-o", self.directory)["files"]
        shown, = self.page_data(page)["sweeps"]
        self.assertIn({"name": "pinned"}, shown["placements"])
        written = json.loads(sweep.stdout)
        self.assertEqual([side["name"] for side in shown["sides"]], ["CPU", "device"])
        for side, of in zip(shown["sides"], written["sides"]):
            self.assertEqual([time["contender"] for time in side["times"]], [time["contender"] for time in of["times"]])
            self.assertEqual(len(side["transfers"]), len(of["transfers"]))
        self.database.unlink()
        alone, = self.tune_json("report", "--sweep", file, "-o", self.directory / "alone")["files"]
        self.assertEqual(self.page_data(alone)["sweeps"], [shown], "without a database")
        self.refuse("report", "--sweep", self.text_file("no.json", "{}"), code=2,
                    says="no.json: is not what `tune bench --range … --json` writes")

    def test_a_contender_that_is_wrong_is_shown_and_is_not_timed(self):
        space = self.space_file(with_processors, {"host.cu": FOR_PROCESSORS.replace("2 * x", "3 * x")})
        done = self.tune("bench", "--space", space, "--backend", "cpu", "--range", "64:64:1", "--cpu", code=1)
        self.assertRegex(done.stdout, r"(?m)^CPU: 64 +cold median +GFLOP/s +cycles$\n^host +wrong_result$")
        self.assertIn("wrong_result of host at 64:\n", done.stdout)
        self.assertIn("CPU or device, the kernel alone: no size has a time of both\n", done.stdout)
        self.assertTrue(done.stderr.endswith("error: 1 run did not end ok\n"), done.stderr)

    def test_who_would_take_too_long_is_left_out(self):
        slow = FOR_PROCESSORS.replace("  for", "  for (volatile int i = 0; i < 40000000; i = i + 1) continue;\n  for", 1)
        space = self.space_file(with_processors, {"host.cu": slow})
        done = self.tune("bench", "--space", space, "--backend", "cpu", "--range", "64:256:x4", "--cpu", "--limit", "2ms")
        self.assertRegex(done.stdout, r"(?m)^CPU: cold median +host$\n^64 +[0-9.]+ ms$\n^256 +–$")
        self.assertRegex(done.stdout, r"CPU skips host at 256: expected to take [0-9.]+ ms, longer than the limit of 2.00 ms")

    def test_kernels_are_chosen_by_name_on_the_side_where_they_run(self):
        def chosen(*kernels):
            named = [word for kernel in kernels for word in ("--kernel", kernel)]
            return [[timing["contender"] for timing in side["times"]]
                    for side in self.sweep_json("--cpu", *named, sizes="64:64:1")["sides"]]
        self.assertEqual(chosen("scale"), [["host"], ["scale"]])
        self.assertEqual(chosen("plain", "scale"), [["host"], ["scale", "plain"]])
        self.assertEqual(chosen("host"), [["host"], ["scale", "plain"]])

    def test_a_size_that_is_too_large_costs_no_other_its_result(self):
        def read_squares(document):
            document["arguments"][1]["count"] = "N*N"
        space = self.space_file(read_squares)
        done = self.tune("bench", "--space", space, "--backend", "cpu", "--range", "64:67108864:x1048576")
        self.assertRegex(done.stdout, r"(?m)^64 +[0-9.]+ .?s +[0-9.]+ .?s$")
        self.assertRegex(done.stdout, r"device skips every contender at 67108864: .* GiB of memory")

    def test_the_shipped_contenders_for_processors(self):
        sweep = self.tune_json("bench", "--space", GEMM, "--backend", "cpu", "--kernel", "gemm_naive", "--cpu", "--size",
                               "33,40,35")
        host, device = sweep["sides"]
        self.assertEqual([timing["contender"].split()[0] for timing in host["times"]],
                         ["OpenBLAS", "gemm_cpu_naive", "gemm_cpu_rows", "gemm_cpu_tiled", "gemm_cpu_threads",
                          "gemm_cpu_simd", "gemm_cpu_eigen"])
        self.assertEqual([timing["contender"] for timing in device["times"]], ["gemm_naive"], "the library is that of the host")
        self.assertEqual({timing["outcome"] for timing in host["times"]}, {"ok"})
        self.assertIs(sweep["agree"], True)

    def test_kernels_at_one_block_beside_the_peak_and_a_copy(self):
        done = self.tune_json("bench", "--space", TRANSPOSE, "--bound", COPY, "--backend", "cpu", "--size", "32,32",
                              "--kernel", "transpose_naive_row", "--kernel", "transpose_shared", "--kernel",
                              "transpose_tiled", "--config", "BLOCK_X=16,BLOCK_Y=16", "--config", "BLOCK_X=32,BLOCK_Y=64")
        side, = done["sides"]
        names = [timing["contender"] for timing in side["times"]]
        self.assertIn("transpose_shared BLOCK_X=16,BLOCK_Y=16", names)
        self.assertEqual([timing["config"]["BLOCK_Y"] for timing in side["times"] if "transpose_naive_row BLOCK_X=16" in
                          timing["contender"]], [16])
        self.assertIn("transpose_shared BLOCK_X=32,BLOCK_Y=64", [skip["contender"] for skip in side["skipped"]])
        fastest = min(timing["median_ns"] for side in (done["bound"], done["sides"][-1]) for timing in side["times"])
        for timing in side["times"]:
            self.assertAlmostEqual(timing["of_bound"], fastest / timing["median_ns"])
            self.assertNotIn("of_peak", timing, "a processor's is not known")

    def test_mistakes(self):
        space = self.space_file()
        for arguments, says in ((("--cpu",), "which sizes?"),
                                (("--range", "64"), "a range has three parts"),
                                (("--range", "64:64:1", "--config", "BLOK=1"), "no kernel of"),
                                (("--range", "64:64:1", "--kernel", "scael"), "did you mean 'scale'?"),
                                (("--range", "64:64:1", "--transfers", "--memory", "z=mapped"), "no buffer 'z'")):
            with self.subTest(arguments=arguments):
                self.refuse("bench", "--space", space, "--backend", "cpu", *arguments, code=2, says=says)


if __name__ == "__main__":
    unittest.main()
