# SPDX-License-Identifier: Apache-2.0
"""Questions to a database that one short run filled: query, export, report."""

import json
import math
import re
import unittest

from program import SCALE_SOURCES, SCALE_SPACE, SEED, SHORT_RUN, ProgramTest


class QueryTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.fill(*SHORT_RUN)

    def ask(self, size, *arguments, **options):
        return self.tune("query", "--kernel", "gemm_naive", "--size", size, *arguments, **options)

    def test_the_table_says_what_and_how_fast(self):
        text = self.ask("16,16,16").stdout
        self.assertRegex(text, r"answer +exact\n")
        self.assertRegex(text, r"cold +[\d.]+ [nµm]s \(quartiles")
        self.assertIn("of OpenBLAS", text)

    def test_a_result_of_a_processor_comes_without_cuda_code_unless_it_is_asked_for(self):
        text = self.ask("16,16,16").stdout
        self.assertTrue(text.endswith('\n\n{"BLOCK_X":16,"BLOCK_Y":16}\n'
                                      "timed on a CPU: tune on the GPU before you use it there\n"), text)
        code = self.ask("16,16,16", "--format", "cpp").stdout
        self.assertIn("kernel<<<dim3(1, 1, 1), dim3(16, 16, 1), 0, stream>>>(M, N, K, alpha, A, lda, B, ldb, beta, C, ldc, "
                      "stride_a, stride_b, stride_c);", code)

    def test_without_a_size_what_is_tuned_is_listed(self):
        heading, entry = (line.split("\t") for line in self.tune("query").stdout.splitlines())
        self.assertEqual(heading[:3], ["kernel", "size", "device"])
        self.assertEqual(entry[:2], ["gemm_naive", "16x16x16"])
        (result,) = self.tune_json("query", "--kernel", "gemm_naive")["results"]
        self.assertEqual((result["size"], result["verified"]), ("16,16,16", True))
        self.refuse("query", "--family", "none", code=5, says="nothing is tuned for these options")

    def test_the_listed_sizes_of_a_kernel_are_in_the_order_of_their_work(self):
        self.database = self.directory / "seed.db"
        self.tune("-q", "import", SEED)
        work = {}
        for result in self.tune_json("query")["results"]:
            numbers = [int(number) for number in result["size"].split(",")[:3]]
            work.setdefault((result["device"], result["kernel"]), []).append(math.prod(numbers))
        self.assertGreater(max(map(len, work.values())), 2)
        for products in work.values():
            self.assertEqual(products, sorted(products))

    def test_each_time_and_each_ratio_are_of_the_measure_that_stands_with_them(self):
        self.database = self.directory / "measures.db"
        log = self.directory / "log"
        run = self.tune(*SHORT_RUN, "--log", log)
        heading, row = (re.split(r" {2,}", line.strip()) for line in run.stdout.splitlines()[:2])
        shown = dict(zip(heading, row))
        self.assertIn("vs default, cold" if "back to back" in heading else "vs default", heading)
        best = self.tune_json("query", "--kernel", "gemm_naive", "--size", "16,16,16")["tuned"]
        self.assertAlmostEqual(best["ratio_to_default"], best["default_ns"] / best["median_ns"])
        self.assertLessEqual({"joules", "clock_mhz", "max_clock_mhz", "power_limit_w", "shared"}, best.keys())
        ratio = f"×{best['ratio_to_default']:.2f}"
        self.assertEqual(shown["vs default, cold"], ratio)
        self.assertRegex(run.stderr, rf"16x16x16: {shown['back to back']} back to back, {shown['vs library']} OpenBLAS, {ratio} default \(cold\)")
        (size,) = [event for line in log.read_text().splitlines() if (event := json.loads(line))["event"] == "size"]
        (listed,) = self.tune_json("query")["results"]
        for each in (size, listed):
            self.assertEqual(each["ratio_to_default"], best["ratio_to_default"])
        answer = self.ask("16,16,16").stdout
        self.assertRegex(answer, rf"back to back +{shown['back to back']}.*\nrate +{shown['rate']}\n")
        self.assertRegex(" ".join(answer.split()), rf"speed {shown['vs library']} of OpenBLAS.*, {ratio} of the default configuration \(cold\)")

    def test_ties_are_counted_in_words(self):
        self.database = self.directory / "seed.db"
        self.tune("-q", "import", SEED)
        for size, ties in (("4096,4096,4096", "1 other finalist"), ("1024,1024,1024", "4 other finalists")):
            self.assertRegex(self.ask(size).stdout, rf"ties +{ties} not shown to be over 1 % slower\n")

    def test_a_kernel_that_changed_and_found_nothing_since_says_so(self):
        self.database = self.directory / "changed.db"
        for name, text in {"scale.json": json.dumps(SCALE_SPACE), **SCALE_SOURCES}.items():
            (self.directory / name).write_text(text)
        run = ("--space", "scale.json", "--kernel", "scale", "--backend", "cpu", "-q")
        ask = ("query", "--kernel", "scale", "--size", "64")
        self.tune(*run)
        self.assertNotIn("warning", self.tune(*ask).stdout)
        (self.directory / "scale.cu").write_text(SCALE_SOURCES["scale.cu"].replace("2 * x[i]", "x[i] + x[i]"))
        (self.directory / "plain.cu").write_text("no type here;" + SCALE_SOURCES["plain.cu"])
        self.tune(*run, code=1)
        self.assertRegex(self.tune(*ask).stdout, r"answer +default\nwarning +scale has changed since; its entries from before \(1\)")

    def test_a_word_too_many_is_named(self):
        self.refuse("query", "gemm_naive", code=2, says="'gemm_naive' is one argument too many")

    def test_the_document(self):
        document = json.loads(self.ask("16,16,16", "--format", "json").stdout)
        self.assertEqual(document["schema"], "tune.query/1")
        self.assertEqual(document["rung"], "exact")
        self.assertEqual(document["config"], {"BLOCK_X": 16, "BLOCK_Y": 16})
        self.assertEqual(json.loads(self.ask("16,16,16", "--json").stdout), document)

    def test_compiler_arguments(self):
        self.assertEqual(self.ask("16,16,16", "--format", "args").stdout, "-DBLOCK_X=16 -DBLOCK_Y=16\n")

    def test_reasons_are_not_printed_into_code(self):
        code = self.ask("16,16,16", "--format", "cpp", "--explain")
        self.assertEqual(code.stdout, self.ask("16,16,16", "--format", "cpp").stdout)
        self.assertIn("reasons:\n  - ", code.stderr)

    def test_launch_code_has_the_grid_of_the_asked_size(self):
        text = self.ask("40,20,16", "--format", "cpp").stdout
        self.assertIn("const int M = 40;", text)
        self.assertIn("const auto kernel = gemm_naive<float,float,0,0,16,16>;", text)
        self.assertIn("dim3(2, 3, 1), dim3(16, 16, 1)", text)

    def test_another_size_is_answered_from_the_nearest_and_says_so(self):
        text = self.ask("17,16,16", "--explain").stdout
        self.assertRegex(text, r"answer +nearest\nexpected +not known: too few results for a cost model\ntaken from +16x16x16\n")
        self.assertNotRegex(text, r"(?m)^(time|rate|speed) {2}", "of the other size")
        self.assertRegex(text, r"cold there +[\d.]+ [nµm]s")
        self.assertIn("reasons:\n  - ", text)

    def test_what_is_expected_at_another_size_is_of_that_size(self):
        self.database = self.directory / "expected.db"
        sizes = [part for n in (16, 24, 32, 48, 64, 96) for part in ("--size", f"{n},{n},{n}")]
        self.tune(*[part for part in SHORT_RUN if part not in ("--size", "16,16,16", "--max-evals", "1")], *sizes,
                  "--max-evals", "2", "-q")
        text = self.tune("query", "--kernel", "gemm_naive", "--size", "80,80,80").stdout
        expected = re.search(r"expected +([\d.]+) (ns|µs|ms), ([\d.]+) ([MGT])FLOP/s \(cost model\)\n", text)
        self.assertIsNotNone(expected, text)
        seconds = float(expected[1]) * {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3}[expected[2]]
        rate = float(expected[3]) * {"M": 1e6, "G": 1e9, "T": 1e12}[expected[4]]
        self.assertAlmostEqual(rate * seconds / (2 * 80**3), 1, delta=0.02)
        # Which size depends on the times: those of one launch are short, and the machine may be busy.
        # What was fastest at no size is taken from none.
        taken = re.search(r"taken from +(\d+)x\1x\1\n", text)
        if taken is not None:
            self.assertIn(int(taken[1]), (16, 24, 32, 48, 64, 96))

    def test_a_family_is_answered_with_its_best_kernel(self):
        text = self.tune("query", "--family", "gemm", "--size", "16,16,16").stdout
        self.assertTrue(text.startswith("gemm_naive at 16x16x16"), text)

    def test_what_is_not_there_is_exit_code_5(self):
        self.refuse("query", "--kernel", "gemm_nave", "--size", "16,16,16", code=5, says="gemm_naive")
        self.refuse("query", "--family", "gem", "--size", "16,16,16", code=5, says="gem")
        self.refuse("query", "--kernel", "gemm_naive", "--size", "17,16,16", "--policy", "exact", code=5,
                    says="17,16,16")
        self.refuse("query", "--kernel", "gemm_naive", "--size", "16,16,16", "--device", "no such", code=5,
                    says="no such")
        self.refuse("report", "--device", "no such", code=5, says="no such")
        self.refuse("export", "--device", "no such", code=5, says="no such")
        for name in ('a"b', "a'b", "<script>", "../../etc/passwd", ""):
            with self.subTest(name=name):
                self.refuse("query", f"--kernel={name}", "--size", "16,16,16", code=5 if name else 2, says=name)

    def test_sizes_that_are_none(self):
        for size in ("0,16,16", "-1,16,16", "1099511627776,16,16", "16,16", "16,16,16,16", "a,b,c", "", "16,,16"):
            with self.subTest(size=size):
                self.refuse("query", "--kernel", "gemm_naive", f"--size={size}", code=2, says="size")

    def test_the_report_is_one_file_that_loads_nothing(self):
        pages = self.directory / "new" / "pages"
        done = self.tune("report", "-o", pages)
        (page,) = pages.iterdir()
        self.assertEqual(done.stdout, f"{page}\n")
        text = page.read_text()
        self.assertTrue(text.lower().startswith("<!doctype html>"))
        self.assertIn("Content-Security-Policy", text)
        self.assertNotRegex(text, r"<(?:link|img|iframe|script)\b[^>]*\b(?:src|href)=")
        self.assertIn("gemm_naive", text)
        self.assertEqual(self.tune_json("report", "-o", pages)["files"], [str(page)])

    def test_a_report_that_cannot_be_written(self):
        file = self.text_file("file", "")
        for place in (file, file / "below", "/proc/none"):
            with self.subTest(place=place):
                self.refuse("report", "-o", place, code=1, says=[str(place), "cannot be written"])
        self.assertEqual(file.read_text(), "")

    def test_an_export_is_one_sorted_line_a_result(self):
        (line,) = self.tune("export").stdout.splitlines()
        self.assertEqual(json.loads(line)["format"], "tune.best/2")
        self.tune("export", "-o", "bests.jsonl")
        self.assertEqual((self.directory / "bests.jsonl").read_text(), line + "\n")
        self.refuse("export", "-o", "/proc/none/bests.jsonl", code=1, says="cannot be written")


if __name__ == "__main__":
    unittest.main()
