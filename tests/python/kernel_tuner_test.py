# SPDX-License-Identifier: Apache-2.0
"""Scripts in the style of Kernel Tuner on the cpu backend."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings

import numpy

import tuner
import tuner.kernel_tuner as kernel_tuner
from tuner.kernel_tuner import accuracy, util
from tuner.kernel_tuner._stored import stored
from tuner.kernel_tuner.file_utils import store_output_file
from tuner.kernel_tuner.observers.nvml import NVMLObserver

WEIGHTED = """
#include "weights.h"
__constant__ float weights[4];
__global__ void weighted(float *total, const float *x, float *count, int n) {
  int first = (blockIdx.x * block_size_x + threadIdx.x) * per_thread;
  #pragma unroll loop_unroll_factor_0
  for (int i = first; i < first + per_thread; i++)
    if (i < n) {
      total[i] = TWICE(x[i]) * weights[i & 3] + (per_thread == PLANTED && i == 5);
      count[i] += 1;
    }
}
"""
SUM = """
template <typename T, int W>
__global__ void part_sums(T *parts, const T *x, int n) {
  extern __shared__ float unused[];
  T sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += W * gridDim.x) sum += x[i];
  parts[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""
COPY = "__global__ void copy(float *y, const float *x, int n) { int i = blockIdx.x * block_size_x + threadIdx.x; if (i < n) y[i] = x[i]; }"


class KernelTunerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tune-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        patch = unittest.mock.patch.dict(os.environ, {"TUNER_BACKEND": "cpu", "XDG_DATA_HOME": folder.name, "TUNER_DB": f"{folder.name}/results.db"})
        patch.start()
        self.addCleanup(patch.stop)
        self.x = numpy.random.default_rng(1).standard_normal(100).astype("f4")

    def copied(self, params=None, **options):
        given = [numpy.zeros(100, "f4"), self.x, numpy.int32(100)]
        return kernel_tuner.tune_kernel("copy", options.pop("source", COPY), 100, given, params or {"block_size_x": [32, 64]},
                                        answer=[self.x, None, None], quiet=True, **options)

    def test_a_script_with_most_arguments(self):
        """Divisors, restrictions of both kinds, answers, constants, -I, metrics, a pragma that 0 removes."""
        (self.folder / "include").mkdir()
        (self.folder / "include/weights.h").write_text("#define TWICE(a) (2 * (a))\n")
        weights = numpy.array([1, 2, 3, 4], "f4")
        results, env = kernel_tuner.tune_kernel(
            "weighted", WEIGHTED.replace("PLANTED", "4"), "extent", [numpy.zeros(100, "f4"), self.x, numpy.ones(100, "f4"), numpy.int32(100)],
            {"block_size_x": [32, 64], "per_thread": [1, 2, 4], "loop_unroll_factor_0": [0, 2], "extent": [100]},
            grid_div_x=["block_size_x", lambda p: p["per_thread"]], cmem_args={"weights": weights}, atol=1e-5,
            restrictions=["block_size_x * per_thread <= 128 and loop_unroll_factor_0 <= per_thread", lambda block_size_x: block_size_x < 64],
            answer=[2 * self.x * numpy.tile(weights, 25), None, numpy.full(100, 2, "f4"), None], quiet=True, objective="elements per ms",
            objective_higher_is_better=True, metrics={"elements per ms": "extent / time", "double": lambda p: 2 * p["elements per ms"]},
            compiler_options=[f"-I{self.folder}/include"], strategy="brute_force")
        self.assertEqual(len(results), 5)
        self.assertEqual({each["block_size_x"] for each in results}, {32})
        for each in results:
            self.assertEqual("__error__" in each, each["per_thread"] == 4, each)
        wrong = next(each for each in results if "__error__" in each)
        self.assertIsInstance(wrong["__error__"], util.InvalidConfig)
        self.assertRegex(wrong["message"], r"wrong_result: total\[5\]")
        best = env["best_config"]
        self.assertEqual(best["double"], 2 * best["elements per ms"])
        self.assertEqual(best, util.get_best_config(results, "elements per ms", True))
        json.dumps((results, env))

    def test_results_are_stored_and_read(self):
        results, env = self.copied()
        store_output_file(self.folder / "results", results, {"block_size_x": [32, 64]})
        self.assertEqual(len(json.loads((self.folder / "results.json").read_text())["results"]), 2)
        for size in (100, (100, 1)):
            kernel_tuner.store_results(self.folder / "best.json", "copy", COPY, {"block_size_x": [32, 64]}, size, results, env)
        kernel_tuner.create_device_targets(self.folder / "best.h", self.folder / "best.json")
        self.assertRegex((self.folder / "best.h").read_text(), r"#if defined\(TARGET_\w+\)\n#define block_size_x (32|64)\n#else\n")

    def test_verify_looks_at_outputs_of_finalists(self):
        calls = []

        def verify(answer, outputs, atol):
            calls.append(outputs[0].shape)
            return abs(outputs[0].sum() - answer[0]) < 1e-3

        given = [numpy.zeros(128, "f4"), self.x, numpy.int32(100)]
        results, env = kernel_tuner.tune_kernel(
            "part_sums<type, width>", SUM, 1, given, {"block_size_x": [32, 64], "type": ["float"], "width": [32, 64]},
            smem_args={"size": "block_size_x * 4"}, restrictions=[lambda p: p["width"] <= p["block_size_x"]], grid_div_x=[],
            answer=[self.x.sum(), None, None], verify=verify, atol=1e-3, quiet=True)
        self.assertEqual(env["best_config"]["width"], env["best_config"]["block_size_x"])
        self.assertEqual(set(calls), {(128,)})

    def test_without_an_answer_results_may_depend_on_parameters(self):
        source = SUM.replace("template <typename T, int W>\n", "").replace("T ", "float ").replace("i += W * gridDim.x", "i += blockDim.x * gridDim.x")
        with self.assertWarnsRegex(UserWarning, "most configurations of part_sums give other results than the first"):
            results, env = kernel_tuner.tune_kernel("part_sums", source, "blocks", [numpy.zeros(256, "f4"), self.x, numpy.int32(100)],
                                                    {"block_size_x": [32], "blocks": [1, 2, 4]}, smem_args={"size": 128}, grid_div_x=[], quiet=True)
        self.assertEqual((len(results), ["__error__" in each for each in results]), (3, [False] * 3))
        # One that is wrong among others is an error as before.
        wrong = COPY.replace("= x[i]", "= x[i] + (block_size_x == 64)")
        results, env = kernel_tuner.tune_kernel("copy", wrong, 100, [numpy.zeros(100, "f4"), self.x, numpy.int32(100)], {"block_size_x": [32, 64, 96]}, quiet=True)
        self.assertEqual([each["block_size_x"] for each in results if "__error__" in each], [64])

    def test_a_large_array_is_hashed_once(self):
        array = numpy.zeros(1 << 20, "f4")
        first = stored(array)
        with unittest.mock.patch("hashlib.sha256", side_effect=AssertionError):
            self.assertIs(stored(array), first)
        array[-1] = 1  # at the same place
        self.assertEqual(float(numpy.load(stored(array).path)[-1]), 1)
        self.assertNotEqual(stored(array).digest, first.digest)

    def test_arrays_are_aligned_as_kernel_tuner_allocates_them(self):
        source = """__global__ void copy(float *y, const float *x, int n) {
          int i = blockIdx.x * block_size_x + threadIdx.x;
          if (((unsigned long long)x | (unsigned long long)y) % 256) y[i] = -1;
          else if (i < n) y[i] = x[i];
        }"""
        results, _ = self.copied(source=source)
        self.assertEqual([each for each in results if "__error__" in each], [])

    def test_a_kernel_may_read_a_part_of_its_arrays(self):
        given = [numpy.zeros(1, "f4"), numpy.ones(1 << 24, "f4")]
        results, _ = kernel_tuner.tune_kernel("first", "__global__ void first(float *y, const float *x) { if (threadIdx.x == 0) y[0] = x[5]; }", 1, given,
                                              {"block_size_x": [32]}, answer=[numpy.ones(1, "f4"), None], quiet=True)
        self.assertEqual([each for each in results if "__error__" in each], [])

    def test_what_verify_refuses_is_not_the_best(self):
        given = [numpy.zeros(100, "f4"), self.x, numpy.int32(100)]
        results, env = kernel_tuner.tune_kernel("copy", COPY, (100, 1), given, {"block_size_x": [32]},
                                                answer=[self.x, None, None], verify=lambda *_: False, quiet=True)
        self.assertEqual((env["best_config"], ["__error__" in each for each in results]), ({}, [True]))

    def test_an_error_of_the_program_is_told(self):
        given = [numpy.zeros(100, "f4"), self.x, numpy.int32(100)]
        with self.assertRaisesRegex(tuner.Error, "device"):
            kernel_tuner.tune_kernel("copy", COPY, (100, 1), given, {"block_size_x": [32]}, answer=[self.x, None, None], device=7, quiet=True)

    def test_one_launch_returns_the_arguments(self):
        y = numpy.zeros(100, "f4")
        result = {"block_size_x": 32, "time": 0.5, "times": [0.5], "GFLOP/s": 2.0}
        found = kernel_tuner.run_kernel("copy", COPY, (100, 1), [y, self.x, numpy.int32(100)], result)
        numpy.testing.assert_array_equal(found[0], self.x)
        self.assertEqual((y.any(), found[2]), (False, 100))
        wide = "template <typename T>\n" + COPY.replace("float", "T").replace("int n", "int n, const T by").replace("= x[i]", "= by * x[i]")
        found = kernel_tuner.run_kernel("copy<double>", wide, 100, [numpy.zeros(100), self.x.astype("f8"), numpy.int32(100), numpy.float64(0.1)], {"block_size_x": 32})
        numpy.testing.assert_array_equal(found[0], 0.1 * self.x.astype("f8"))
        unused = COPY.replace("int n", "int n, int *unused")
        found = kernel_tuner.run_kernel("copy", unused, 100, [y, self.x, numpy.int32(100), numpy.zeros(0, "i4")], {"block_size_x": 32})
        self.assertEqual(found[3].shape, (0,))
        kernel = kernel_tuner.PythonKernel("copy", COPY, 100, [y, self.x, numpy.int32(100)], {"block_size_x": 64}, outputs=[True, False, False])
        numpy.testing.assert_array_equal(kernel(y, 2 * self.x, numpy.int32(100))[0], 2 * self.x)
        with self.assertRaisesRegex(tuner.Error, "out_of_bounds|crashed|signal 11"):
            kernel_tuner.run_kernel("copy", COPY.replace("i < n", "true"), 4096, [y, self.x, numpy.int32(100)], {"block_size_x": 32})

    def test_a_launch_with_constants_and_options(self):
        """With --fmad=false products are rounded, as in NumPy. Large arrays leave no files behind."""
        source = "__constant__ float less[2];\n" + COPY.replace("= x[i]", "= x[i] * x[i] - less[1]")
        x = numpy.random.default_rng(2).standard_normal(1 << 18).astype("f4")
        found = kernel_tuner.run_kernel("copy", source, x.size, [0 * x, x, numpy.int32(x.size)], {"block_size_x": 64},
                                        cmem_args={"less": numpy.array([0, 0.1], "f4")}, compiler_options=["--fmad=false"])
        numpy.testing.assert_array_equal(found[0], x * x - numpy.float32(0.1))
        self.assertEqual([path.name for path in (self.folder / "tune/kernel_tuner").glob("copy_*/*.npy")], ["symbol_less.npy"])

    def test_sources_from_functions_and_precisions(self):
        results, _ = self.copied({"block_size_x": [32, 64], "scale": [1.0, 0.5]},
                                 source=lambda p: COPY.replace("= x[i]", f"= {p['scale']}f * x[i]").replace("block_size_x", str(p["block_size_x"])))
        self.assertEqual({each["scale"] for each in results if "__error__" not in each}, {1.0})
        many = {"block_size_x": [32, 64], "unused": range(600)}
        with self.assertWarnsRegex(UserWarning, "tuned are 150 of 600 values of unused"):
            results, _ = self.copied(many, source=lambda p: COPY + f"// {p['unused']}", restrictions=[lambda *p: p[1] % 3 == 0 or p[1] % 2 == 0],
                                     strategy_options={"max_fevals": 1})
        self.assertEqual(len(results), 1)
        with self.assertWarnsRegex(UserWarning, "or their sources take more than 900 KiB: tuned are 35 of 70 values of unused"):
            self.copied({"block_size_x": [32], "unused": range(70)}, source=lambda p: COPY + f"// {p['unused']:020000}", strategy_options={"max_fevals": 1})
        precise = accuracy.TunablePrecision("real", self.x)
        with self.assertWarnsRegex(UserWarning, "without an answer"):
            results, _ = kernel_tuner.tune_kernel("copy", COPY.replace("float", "real").replace("block_size_x", "blockDim.x"), 100, [accuracy.TunablePrecision("real", 0 * self.x), precise, numpy.int32(100)],
                                                  {"real": ["float", "double"]}, quiet=True)
        self.assertEqual({each["real"] for each in results if "__error__" not in each}, {"float", "double"})
        # Half rounds the answer; another precision may fail altogether.
        source = "#include <cuda_fp16.h>\n" + COPY.replace("float", "real").replace("block_size_x", "blockDim.x").replace("= x[i]", "= real(float(x[i]) + (sizeof(real) == 8))")
        results, env = kernel_tuner.tune_kernel("copy", source, 100, [accuracy.TunablePrecision("real", 0 * self.x), precise, numpy.int32(100)],
                                                {"real": ["half", "double"]}, answer=[self.x.astype("f8"), None, None], quiet=True)
        self.assertEqual([(each["real"], "__error__" in each) for each in results], [("half", False), ("double", True)])
        self.assertEqual(env["best_config"]["real"], "half")

    def test_what_is_ignored_is_one_warning_and_what_is_impossible_is_named(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            results, _ = self.copied(observers=[NVMLObserver(["nvml_energy"])], iterations=3, strategy="greedy_ils",
                                     strategy_options={"max_fevals": 1}, metrics={"watts": lambda p: p["nvml_power"]},
                                     compiler_options=["-arch=sm_70", "-O3"])
        texts = "\n".join(str(each.message) for each in caught)
        for word in ("NVMLObserver", "iterations", "strategy='greedy_ils'", "-arch=sm_70 -O3", "metric watts"):
            self.assertEqual(texts.count(word), 1, texts)
        self.assertEqual(len(results), 1)
        for options, text in (({"lang": "C"}, "lang='C'"), ({"texmem_args": {"t": self.x}}, "texmem_args"), ({"simulation_mode": True}, "simulation_mode"),
                              ({"compiler_options": ["-rdc=true"]}, "compiler_options: -rdc=true"), ({"objective": "power"}, "objective"),
                              ({"restrictions": ["block_size_x < 0"]}, "restrictions: no configuration"),
                              ({"source": "#pragma acc kernels\nvoid copy() {}"}, "OpenACC")):
            with self.subTest(text), self.assertRaisesRegex(ValueError, text):
                self.copied(**options)

    def test_an_unchanged_script_runs(self):
        script = self.folder / "script.py"
        script.write_text("import sys\nimport numpy\nfrom kernel_tuner import run_kernel\nfrom kernel_tuner.observers.register import RegisterObserver\n"
                          f"print(run_kernel('copy', '''{COPY}''', 3, [numpy.zeros(3, 'f4'), numpy.ones(3, 'f4'), numpy.int32(3)], "
                          "{'block_size_x': 32})[0], sys.argv[1:], __file__)\n")
        done = subprocess.run([sys.executable, "-B", "-m", "tuner.kernel_tuner", "script.py", "word"], text=True, capture_output=True, check=False,
                              cwd=self.folder)
        self.assertEqual(done.stdout, f"[1. 1. 1.] ['word'] {script}\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
