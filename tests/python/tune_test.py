# SPDX-License-Identifier: Apache-2.0
"""tuner.tune() on the cpu backend, with NumPy."""

import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import types
import unittest
import unittest.mock
import warnings

import numpy

import tuner
from tuner import _arrays, _program, _tune

SCALE = """
template <int ITEMS>
__global__ void scale(int n, float a, const float* x, float* y) {
  for (int item = 0; item < ITEMS; ++item) {
    const int i = (blockIdx.x * ITEMS + item) * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i];
  }
}
"""


class TuneTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tune-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def tune(self, source=SCALE, entry="scale<ITEMS>", **changes):
        given = {"args": lambda N, rng: dict(n=N, a=2.0, x=rng.normal(N), y=rng.empty(N)), "grid": lambda p, s: -(-s.N // (p.BLOCK * p.ITEMS)),
                 "block": "BLOCK", "parameters": {"BLOCK": [32, 64], "ITEMS": [1, 2]}, "sizes": [1000], "check_sizes": [1, 37],
                 "reference": lambda a, x: a * x, "backend": "cpu", "database": self.folder / "results.db",
                 "folder": self.folder / "spaces", "effort": "quick", **changes}
        return tuner.tune(source, entry, **given)

    def refuses(self, exception, text, **changes):
        with self.assertRaisesRegex(exception, text):
            self.tune(**changes)


class ResultTest(TuneTest):
    def test_a_kernel_is_tuned_launched_and_looked_up(self):
        k = self.tune()
        best = k.best()
        self.assertEqual(best.size, {"N": 1000})
        self.assertEqual(set(best.config), {"BLOCK", "ITEMS"})
        self.assertEqual(len({(t["BLOCK"], t["ITEMS"]) for t in k.trials()}), 4)
        self.assertEqual({t["outcome"] for t in k.trials()}, {"ok"})
        self.assertTrue(k.complete and not k.looked_up)
        x, y = numpy.arange(1000, dtype="f4"), numpy.zeros(1000, "f4")
        k(1000, 2.0, x, y)
        numpy.testing.assert_array_equal(y, 2 * x)
        k(x=x[:500], y=y[:500], a=3.0, n=500)  # a size that was not tuned
        numpy.testing.assert_array_equal(y[:500], 3 * x[:500])
        with self.assertRaisesRegex(ValueError, "contiguous"):
            k(500, 2.0, x[::2], y[:500])
        with self.assertRaisesRegex(TypeError, r"scale takes \(n, a, x, y\)"):
            k(1000, x, y)
        self.assertIn("BLOCK=", repr(k))
        self.assertIn("<table>", k._repr_html_())
        again = self.tune()
        self.assertTrue(again.looked_up)
        self.assertEqual(again.best(), best)
        exported = k.export(self.folder / "table.json")
        self.assertEqual(json.loads(exported.read_text())["format"], "dispatch/1")

    def test_another_function_is_noticed(self):
        self.tune()
        with self.assertRaisesRegex(tuner.Error, "no configuration ended ok.*wrong_result"):
            self.tune(reference=lambda a, x: a * x + 1)
        self.assertFalse(self.tune().looked_up)

    def test_a_wrong_configuration_is_found(self):
        source = SCALE.replace("if (i < n)", "if (i < n && !(ITEMS == 2 && i == 36))")
        k = self.tune(source)
        self.assertEqual({t["ITEMS"] for t in k.failures()["wrong_result"]}, {2})
        self.assertEqual(k.best().config["ITEMS"], 1)

    def test_the_bound_is_measured(self):
        """A sum in half precision is refused, one in another order is not."""
        source = """
        __global__ void row_sum(int cols, const float* x, float* y) {
          float sum = 0;
          for (int i = 0; i < cols; ++i) {
            const int at = ORDER == 1 ? cols - 1 - i : i;
            sum += x[blockIdx.x * cols + at];
            if (ORDER == 2) sum = __uint_as_float(__float_as_uint(sum) & 0xFFFFE000u);
          }
          y[blockIdx.x] = sum;
        }"""
        k = self.tune(source, "row_sum", args=lambda R, C, rng: dict(cols=C, x=rng.normal(R, C), y=rng.empty(R)),
                      reference=lambda x: x.sum(axis=1), grid="R", block=1, parameters={"ORDER": [0, 1, 2]}, sizes=[(8, 300)],
                      check_sizes=[(1, 1), (2, 37)])
        outcomes = {t["ORDER"]: t["outcome"] for t in k.trials()}
        self.assertEqual(outcomes[2], "wrong_result")
        self.assertLessEqual({outcomes[0], outcomes[1]}, {"ok", "implausible"})  # on a busy machine a right one may have no plausible time

    def test_fixed_arrays_are_verified_at_one_size(self):
        x = numpy.arange(100, dtype="f4")
        with self.assertWarnsRegex(UserWarning, "verified at one size"):
            k = self.tune(args={"n": 100, "a": 2.0, "x": x, "y": numpy.zeros(100, "f4")}, sizes=None, check_sizes=None,
                          grid="ceil_div(N, BLOCK*ITEMS)")
        y = numpy.zeros(100, "f4")
        k(100, 2.0, x, y)
        numpy.testing.assert_array_equal(y, 2 * x)
        with self.assertWarns(UserWarning):  # other data are another problem
            self.assertFalse(self.tune(args={"n": 100, "a": 2.0, "x": x + 1, "y": numpy.zeros(100, "f4")}, sizes=None,
                                       check_sizes=None, grid="ceil_div(N, BLOCK*ITEMS)").looked_up)

    def test_a_source_may_be_a_function_or_a_file(self):
        (self.folder / "scale.cu").write_text(SCALE)
        self.assertEqual(self.tune(self.folder / "scale.cu", max_evals=1).kernel, "scale")
        k = self.tune(lambda p: SCALE.replace("ITEMS", str(p["ITEMS"])).replace(f"template <int {p['ITEMS']}>", ""), "scale")
        self.assertEqual(len(k.trials()), 4)

    def test_a_reference_may_be_a_kernel(self):
        plain = "__global__ void plain(int n, float a, const float* x, float* y) {\n" \
                "  const int i = blockIdx.x * 256 + threadIdx.x;\n  if (i < n) y[i] = a * x[i];\n}\n"
        self.assertTrue(self.tune(reference=tuner.CudaReference(plain, grid="ceil_div(N, 256)"), max_evals=1).complete)

    def test_without_a_reference_the_default_is_compared_with(self):
        with self.assertWarnsRegex(UserWarning, "without a reference"):
            self.tune(reference=None, max_evals=1)

    def test_other_types_and_outputs_in_place(self):
        source = "__global__ void add(int n, const __nv_bfloat16* x, int* hits, __nv_bfloat16* y) {\n" \
                 "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n" \
                 "  if (i < n) { y[i] = __float2bfloat16(__bfloat162float(x[i]) + __bfloat162float(y[i])); hits[i] = i; }\n}\n"
        k = self.tune("#include <cuda_bf16.h>\n" + source, "add", out=["y", "hits"], grid="ceil_div(N, BLOCK)",
                      args=lambda N, rng: dict(n=N, x=rng.normal(N), hits=rng.empty(N), y=rng.normal(N)),
                      parameters={"BLOCK": [32, 64]}, reference=lambda n, x, y: {"y": x + y, "hits": numpy.arange(n, dtype="i4")})
        self.assertEqual({t["outcome"] for t in k.trials()}, {"ok"})

    def test_constraints_may_be_texts_and_functions(self):
        k = self.tune(constraints=["BLOCK <= 64", (lambda p: p.BLOCK * p.ITEMS <= 64, "few elements")])
        self.assertEqual({(t["BLOCK"], t["ITEMS"]) for t in k.trials()}, {(32, 1), (32, 2), (64, 1)})

    def test_tolerances(self):
        self.assertEqual(self.tune(tolerance="torch", max_evals=1).failures(), {})
        with self.assertRaisesRegex(TypeError, "tolerance is 'loose'"):
            self.tune(tolerance="loose")


class KernelTest(TuneTest):
    def test_a_decorated_function_is_the_reference_of_a_kernel(self):
        calls = []

        @tuner.kernel(SCALE, "scale<ITEMS>", args=lambda N, rng: dict(n=N, a=2.0, x=rng.normal(N), y=rng.empty(N)),
                      grid="ceil_div(N, BLOCK*ITEMS)", block="BLOCK", parameters={"BLOCK": [32, 64], "ITEMS": [1, 2]}, sizes=[1000],
                      backend="cpu", database=self.folder / "results.db", folder=self.folder / "spaces", max_evals=1)
        def scale(a, x):
            """Scaled numbers."""
            calls.append(len(x))
            return a * x

        self.assertEqual((scale.__doc__, calls), ("Scaled numbers.", []))  # nothing runs before the first launch
        x, y = numpy.arange(1000, dtype="f4"), numpy.zeros(1000, "f4")
        scale(1000, 2.0, x, y)
        numpy.testing.assert_array_equal(y, scale.reference(2.0, x))
        known = len(calls)
        scale(1000, 3.0, x, y)
        self.assertEqual((y[1], len(calls)), (3, known))
        self.assertEqual(scale.tuned.outputs, ["y"])


    def test_operators_of_pytorch(self):
        """With a stand-in for PyTorch; tune_gpu_test.py runs it with the real one."""
        class Tensor(numpy.ndarray):
            requires_grad, layout, device = False, None, types.SimpleNamespace(type="cpu", index=None)
            is_conj = is_neg = lambda self: False
            data_ptr = property(lambda self: lambda: self.ctypes.data)
            stride = lambda self: tuple(step // self.itemsize for step in self.strides)
            new_empty = lambda self, shape, dtype: numpy.empty(shape, dtype).view(Tensor)
            clone = lambda self, memory_format: self.copy()

        made = []

        def custom_op(name, function, mutates_args, schema):
            made.append((name, schema, list(mutates_args)))
            function.register_fake = lambda fake: setattr(function, "fake", fake)
            return function

        torch = types.SimpleNamespace(Tensor=Tensor, library=types.SimpleNamespace(custom_op=custom_op), is_grad_enabled=lambda: False, strided=None,
                                      float32="f4", contiguous_format=None)
        update = SCALE.replace("y[i] = a * x[i]", "y[i] += a * x[i]")
        options = {"args": lambda N, rng: dict(n=N, a=2.0, x=rng.normal(N), y=rng.normal(N)), "grid": "ceil_div(N, BLOCK*ITEMS)", "block": "BLOCK",
                   "parameters": {"BLOCK": [32], "ITEMS": [1]}, "sizes": [1000], "backend": "cpu", "max_evals": 1,
                   "database": self.folder / "results.db", "folder": self.folder / "spaces"}
        new = tuner.kernel(SCALE, "scale<ITEMS>", **{**options, "args": lambda N, rng: dict(n=N, a=2.0, x=rng.normal(N), y=rng.empty(N))})(lambda a, x: a * x)
        updated = tuner.kernel(update, "scale<ITEMS>", **options)(lambda a, x, y: y + a * x)
        new.tuned, updated.tuned
        x, y = (numpy.arange(6, dtype="f4").view(Tensor) for _ in range(2))
        with unittest.mock.patch.dict(sys.modules, torch=torch), unittest.mock.patch.dict(_arrays.TORCH_ELEMENTS, {"": "float", "float32": "float"}):
            self.assertEqual(new.torch_function("mine::new")(6, 3.0, x).tolist(), [0, 3, 6, 9, 12, 15])
            self.assertEqual(updated.torch_function("mine::update")(6, 3.0, x, y).tolist(), [0, 4, 8, 12, 16, 20])
            self.assertEqual(y.tolist(), x.tolist())
            updated.torch_operator("mine::update_")(6, 3.0, x, y)
            self.assertEqual(y.tolist(), [0, 4, 8, 12, 16, 20])
            with self.assertRaisesRegex(tuner.Error, r"cannot time an operator beside code of its own .*: use torch_function\(\)"):
                new.torch_choice("mine::choice")
            inductor = types.SimpleNamespace(CustomOpConfig=lambda function: function, register_custom_op_autotuning=lambda operator, configs: choices.extend(configs))
            choices = []
            with unittest.mock.patch.dict(sys.modules, {"torch._inductor.kernel.custom_op": inductor}):
                with self.assertRaisesRegex(TypeError, "the reference is of numpy"):
                    new.torch_choice("mine::choice")
                with unittest.mock.patch("tuner._operator.library_of", lambda function: "torch"):
                    self.assertEqual(new.torch_choice("mine::choice")(x, 6, 3.0).tolist(), [0, 3, 6, 9, 12, 15])
            self.assertEqual([each(x, n=6, a=4.0).tolist() for each in choices], [[0, 4, 8, 12, 16, 20]])
        self.assertEqual(made, [("mine::new", "(SymInt n, float a, Tensor x) -> Tensor", []),
                                ("mine::update", "(SymInt n, float a, Tensor x, Tensor y) -> Tensor", []),
                                ("mine::update_", "(SymInt n, float a, Tensor x, Tensor(a3!) y) -> ()", ["y"]),
                                ("mine::choice", "(Tensor x, SymInt n, float a) -> Tensor", [])])


class BadInputTest(TuneTest):
    def test_mistakes_of_a_reference_are_one_exception(self):
        def raises(x):
            raise ZeroDivisionError("no")

        self.refuses(tuner.Error, "the reference raised ZeroDivisionError: no", reference=raises)
        self.refuses(tuner.Error, r"shape \(\d+,\).*the output has", reference=lambda x: x[1:])
        self.refuses(tuner.Error, "of type I32", reference=lambda x: x.astype("i4"))
        self.refuses(tuner.Error, "changes its input x", reference=lambda x: numpy.add(x, 1, out=x))
        self.refuses(tuner.Error, "another y each time", reference=lambda x: x + numpy.float32(time.perf_counter_ns() % 997))
        self.assertEqual(self.left_behind(), [])
        self.assertTrue(self.tune(max_evals=1).complete)  # nothing is lost

    @staticmethod
    def left_behind():
        found = subprocess.run(["ps", "-o", "args=", "--ppid", str(os.getpid())], text=True, capture_output=True, check=False)
        return [line for line in found.stdout.splitlines() if "space results" in line]

    def test_arrays_that_a_kernel_would_misread(self):
        def given(x):
            return {"args": {"n": 50, "a": 2.0, "x": x, "y": numpy.zeros(50, "f4")}, "sizes": None, "check_sizes": None, "grid": 1}

        square = numpy.zeros((10, 10), "f4")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.refuses(ValueError, "x is not contiguous.*ascontiguousarray", **given(numpy.zeros(100, "f4")[::2]))
            self.refuses(ValueError, "x is not contiguous", **given(square.T[:5]))
            self.refuses(ValueError, "x is not contiguous.*strides", **given(numpy.broadcast_to(numpy.float32(1), (50,))))
            self.refuses(TypeError, "x has elements of type double, the kernel takes float", **given(numpy.zeros(50)))

    def test_arrays_on_another_gpu(self):
        class Elsewhere:  # as CuPy's
            shape, dtype = (50,), numpy.dtype("f4")
            __cuda_array_interface__ = {"typestr": "<f4", "shape": (50,), "data": (4096, False), "version": 3}

            def __dlpack_device__(self):
                return 2, 1

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.refuses(ValueError, r"x is on GPU 1, tuned is on GPU 0: move it, or pass device=1", sizes=None, check_sizes=None, backend="cuda",
                         args={"n": 50, "a": 2.0, "x": Elsewhere(), "y": numpy.zeros(50, "f4")})

    def test_a_size_that_does_not_fit_is_refused_before_anything_runs(self):
        begin = time.monotonic()
        self.refuses(tuner.Error, r"scale: the size 68719476736 needs about 1792.0 GiB on this machine to be checked \(inputs 2 times, outputs 5 "
                                  r"times\), of which [\d.]+ of [\d.]+ are free: free arrays, or take smaller sizes", sizes=[1000, 1 << 36])
        self.assertLess(time.monotonic() - begin, 5)

    def test_functions_that_are_none_of_the_size(self):
        self.refuses(TypeError, "grid: the function gives another result each time", grid=lambda p, s: time.perf_counter_ns())
        self.refuses(TypeError, "args: a is another", args=lambda N, rng: dict(n=N, a=time.perf_counter(), x=rng.normal(N), y=rng.empty(N)))
        self.refuses(TypeError, "args: what the function returns cannot be written for every size",
                     args=lambda N, rng: dict(n=N, a=2.0, x=numpy.zeros(N, "f4"), y=rng.empty(N)))

    def test_what_is_missing_is_named(self):
        self.refuses(TypeError, "args lacks a: the kernel takes", args=lambda N, rng: dict(n=N, x=rng.normal(N), y=rng.empty(N)))
        self.refuses(TypeError, "args has b: ", args=lambda N, rng: dict(n=N, a=1, b=1, x=rng.normal(N), y=rng.empty(N)))
        self.refuses(TypeError, "sizes: which are to be tuned", sizes=None)
        self.refuses(TypeError, "constraints: no configuration", constraints=["BLOCK > 64"])
        self.refuses(TypeError, "must be named as those of the kernel", reference=lambda x, q: x)
        self.refuses(TypeError, "x is rng.empty", args=lambda N, rng: dict(n=N, a=1, x=rng.empty(N), y=rng.empty(N)))
        self.refuses(tuner.Error, "there is no kernel 'scal'", entry="scal<ITEMS>")
        self.refuses(ValueError, "backend is 'gpu'", backend="gpu")
        self.refuses(tuner.Error, "time: 'soon' is not a duration", time="soon")
        self.refuses(tuner.Error, "effort: .*quick", effort="most")
        self.refuses(tuner.Error, "there is no CPU device 7", device=7)
        (self.folder / "file").write_text("")
        self.refuses(OSError, "name another folder, as in tuner.tune", folder=self.folder / "file")

    def test_a_missing_program_is_named(self):
        before = os.environ.get("TUNER_PROGRAM")
        self.addCleanup(lambda: os.environ.update(TUNER_PROGRAM=before) if before else os.environ.pop("TUNER_PROGRAM"))
        os.environ["TUNER_PROGRAM"] = str(self.folder / "none")
        self.refuses(tuner.Error, "is no program: set it to the path of `tune`")
        os.environ["TUNER_PROGRAM"] = ""
        with unittest.mock.patch.object(_program, "_candidates", return_value=[]), \
                unittest.mock.patch.dict(os.environ, PATH=str(self.folder)):
            self.refuses(tuner.Error, "the program `tune` is not installed: install the wheel that scripts/wheel.sh makes")

    def test_messages_name_arguments_of_python(self):
        text = _program.message_of("tuning\nerror: the GPU is used by others: choose another with --device, or accept it with --allow-shared\n")
        self.assertEqual(text, "the GPU is used by others: choose another with device=…, or accept it with allow_shared=True")

    def test_a_program_that_is_killed_leaves_no_process_and_loses_nothing(self):
        script = self.folder / "script.py"
        script.write_text(textwrap.dedent(f"""
            import sys
            sys.path[:0] = {sys.path!r}
            import tune_test
            class Test(tune_test.TuneTest):
                def runTest(self): pass
            test = Test()
            import pathlib
            test.folder = pathlib.Path({str(self.folder)!r})
            test.tune(parameters={{"BLOCK": [32 * i for i in range(1, 33)], "ITEMS": [1, 2, 4, 8]}}, effort="full", progress=False)
        """))
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(pathlib.Path(__file__).parent), *sys.path])}
        running = subprocess.Popen([sys.executable, "-B", str(script)], env=environment)
        deadline = time.monotonic() + 60
        while not self.children(str(self.folder / "spaces"), "--progress") and time.monotonic() < deadline:
            self.assertIsNone(running.poll())
            time.sleep(0.05)
        time.sleep(1)
        running.send_signal(signal.SIGKILL)
        running.wait()
        while (left := self.children(str(self.folder / "spaces"))) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(left, [])
        self.assertTrue(self.tune().complete)

    @staticmethod
    def children(*words):
        """Processes of `tune` whose command has these words."""
        listed = subprocess.run(["ps", "-eo", "args="], text=True, capture_output=True, check=True).stdout.splitlines()
        return [line for line in listed if all(word in line for word in words) and "tune" in line.split()[0]]

    def test_two_runs_on_one_device_take_turns(self):
        found = []
        threads = [threading.Thread(target=lambda size=size: found.append(self.tune(sizes=[size], max_evals=1).best().size["N"]))
                   for size in (100, 200)]
        with self.assertWarnsRegex(UserWarning, "waits until another run of this user on cpu 0 has ended"):
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(sorted(found), [100, 200])

    def test_ctrl_c_gives_what_was_found(self):
        """The first ends the search; an equal call continues."""
        many = {"parameters": {"BLOCK": [32 * i for i in range(1, 33)], "ITEMS": [1, 2, 4, 8]}, "effort": "full"}
        seen = threading.Event()

        def take(*given):
            taken(*given)
            if len(given[1]) == 3 and not seen.is_set():
                seen.set()
                os.kill(os.getpid(), signal.SIGINT)

        taken = _tune._take
        with unittest.mock.patch.object(_tune, "_take", take):
            k = self.tune(**many)
        self.assertTrue(seen.is_set())
        self.assertFalse(k.complete)
        self.assertIn("interrupted", repr(k))
        self.assertIn("interrupted", k._repr_html_())
        self.assertTrue(2 < len(k.trials()) < 100)
        self.assertEqual(k.best().size, {"N": 1000})
        self.assertEqual(self.left_behind(), [])


class NotebookTest(unittest.TestCase):
    """With a stand-in for IPython."""

    def test_one_output_shows_the_progress(self):
        updates, handles = [], []

        class Handle:
            def update(self, content, raw):
                updates.append(content["text/plain"])

        def display(content, raw, display_id):
            handles.append(content["text/plain"])
            return Handle()

        kernel = types.SimpleNamespace(kernel=None)
        modules = {"IPython": types.SimpleNamespace(get_ipython=lambda: kernel), "IPython.display": types.SimpleNamespace(display=display)}
        with unittest.mock.patch.dict(sys.modules, modules):
            line = _program.Line(None)
            for text in ("1 of 4", "2 of 4", "3 of 4"):
                line.show(text)
            line.end()
        self.assertEqual((handles, updates), (["1 of 4"], ["2 of 4", "3 of 4"]))

    def test_a_script_without_a_terminal_shows_nothing(self):
        with unittest.mock.patch("sys.stderr", io.StringIO()) as shown:
            _program.Line(None).show("1 of 4")
            self.assertEqual(shown.getvalue(), "")


if __name__ == "__main__":
    unittest.main()
