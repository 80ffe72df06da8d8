# SPDX-License-Identifier: Apache-2.0
"""tune bench over a range of sizes: the device beside the processor, and the way of the data."""

import json
import unittest

from program import GEMM, ProgramTest

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
        self.assertEqual(sweep["schema"], "tune.sweep/1")
        self.assertEqual([size["label"] for size in sweep["sizes"]], ["64", "256"])
        host, device = sweep["sides"]
        self.assertEqual({fared["contender"] for fared in host["times"]}, {"host"})
        self.assertEqual({fared["contender"] for fared in device["times"]}, {"scale", "plain"})
        for fared in host["times"] + device["times"]:
            self.assertEqual(fared["outcome"], "ok")
            self.assertLessEqual(fared["q1_ns"], fared["median_ns"])
        self.assertEqual(len([fared for fared in host["times"] if fared["compile_ms"] > 0]), 1, "once for all sizes")
        self.assertEqual([(trip["size"], trip["placement"]) for trip in device["trips"]],
                         [(size, place) for size in (0, 1) for place in ("pageable", "pinned", "mapped")])
        for trip in device["trips"]:
            self.assertAlmostEqual(trip["total_ns"], trip["to_device_ns"] + trip["kernel_ns"] + trip["to_host_ns"])
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
        self.assertRegex(done.stdout, r"\ntuned +[0-9.]+ .?s")
        self.assertRegex(done.stdout, r"(?m)^CPU: median time +64$")
        self.assertRegex(done.stdout, r"CPU or device, the kernel alone: faster is (CPU|device) at 64")
        self.assertIn("On whole numbers all of them computed the same result, bit for bit.", done.stdout)
        self.assertRegex(done.stderr, r"CPU: .*, \d+ threads, vectors of (128|256|512) bits \(g\+\+ ")
        table = self.directory / "table.json"
        self.tune("export", "--format", "json", "-o", table)
        self.database.unlink()
        done = self.tune("bench", "--space", space, "--backend", "cpu", "--range", "64:64:1", "--table", table)
        self.assertRegex(done.stdout, r"\ntuned +[0-9.]+ .?s")

    def test_the_report_shows_it(self):
        space = self.space_file(with_processors, {"host.cu": FOR_PROCESSORS})
        self.tune("--space", space, "--kernel", "scale", "--backend", "cpu", "--size", "64", "-q")
        sweep = self.tune("bench", "--space", space, "--backend", "cpu", "--range", "64:256:x4", "--cpu", "--transfers",
                          "--json")
        file = self.text_file("sweep.json", sweep.stdout)
        page, = self.tune_json("report", "--sweep", file, "-o", self.directory)["files"]
        page = (self.directory / page).read_text()
        for heading in ("Who is fastest over sizes", "Where the time of a trip goes", "Speed-up", "What is paid once"):
            self.assertIn(f"<h3>{heading}</h3>", page)
        self.refuse("report", "--sweep", self.text_file("no.json", "{}"), code=2,
                    says="no.json: is not what `tune bench --range … --json` writes")

    def test_a_contender_that_is_wrong_is_shown_and_is_not_timed(self):
        space = self.space_file(with_processors, {"host.cu": FOR_PROCESSORS.replace("2 * x", "3 * x")})
        done = self.tune("bench", "--space", space, "--backend", "cpu", "--range", "64:64:1", "--cpu", code=1)
        self.assertRegex(done.stdout, r"(?m)^host +wrong_result$")
        self.assertIn("wrong_result of host at 64:\n", done.stdout)
        self.assertTrue(done.stderr.endswith("error: 1 run did not end ok\n"), done.stderr)

    def test_who_would_take_too_long_is_left_out(self):
        sweep = self.sweep_json("--cpu", "--limit", "1ms", sizes="64:4194304:x65536")
        for side in sweep["sides"]:
            self.assertEqual({fared["size"] for fared in side["times"]}, {0})

    def test_the_shipped_contenders_for_processors(self):
        sweep = self.tune_json("bench", "--space", GEMM, "--backend", "cpu", "--kernel", "gemm_naive", "--cpu", "--size",
                               "33,40,35")
        host, device = sweep["sides"]
        self.assertEqual([fared["contender"].split()[0] for fared in host["times"]],
                         ["OpenBLAS", "gemm_cpu_naive", "gemm_cpu_rows", "gemm_cpu_tiled", "gemm_cpu_threads",
                          "gemm_cpu_simd", "gemm_cpu_eigen"])
        self.assertEqual({fared["outcome"] for fared in host["times"]}, {"ok"})
        self.assertIs(sweep["agree"], True)

    def test_mistakes(self):
        space = self.space_file()
        for arguments, says in ((("--cpu",), "which sizes?"),
                                (("--range", "64"), "a range has three parts"),
                                (("--range", "64:64:1", "--config", "default"), "--config is for one size"),
                                (("--range", "64:64:1", "--kernel", "scael"), "did you mean 'scale'?"),
                                (("--range", "64:64:1", "--transfers", "--memory", "z=mapped"), "no buffer 'z'")):
            with self.subTest(arguments=arguments):
                self.refuse("bench", "--space", space, "--backend", "cpu", *arguments, code=2, says=says)


if __name__ == "__main__":
    unittest.main()
