# SPDX-License-Identifier: Apache-2.0
"""The Python package on the cpu backend, with NumPy."""

import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import numpy
from tuned import ROOT, gemm_table, tune

import tuner
from tuner import _arrays, _matmul
from tuner._library import GEMM_TF32

_random = numpy.random.default_rng(0)


def floats(*shape):
    return _random.standard_normal(shape, dtype="f4")


class OnlyDlpack:
    """An array of a library that has nothing but DLPack."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self):
        return self._array.__dlpack__()

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class PythonTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tune-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.dispatcher = tuner.Dispatcher(tuner.Table.empty(), backend="cpu")

    def multiply(self, a, b, out=None):
        return tuner.matmul(a, b, out, dispatcher=self.dispatcher)

    def check(self, a, b):
        result, expected = self.multiply(a, b), numpy.matmul(a, b)
        self.assertIs(type(result), type(expected))
        self.assertEqual(numpy.shape(result), numpy.shape(expected))
        numpy.testing.assert_allclose(result, expected, atol=1e-5)


class MatmulTest(PythonTest):
    def test_shapes_and_broadcasting_are_those_of_numpy(self):
        for a, b in (((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4, 5)),
                     ((2, 1, 3, 4), (3, 4, 5)), ((2, 3, 4, 5), (2, 3, 5, 4)), ((3, 0), (0, 5)), ((0, 3), (3, 2)),
                     ((2, 3, 4), (2, 4, 1)), ((5, 1, 3), (1, 3, 2)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,))):
            with self.subTest(a=a, b=b):
                self.check(floats(*a), floats(*b))

    def test_every_layout_is_taken(self):
        a, b, batch = floats(6, 8), floats(8, 10), floats(4, 3, 6, 8)
        for left in (a, a[::2], a[:, ::-1], a[::-1], numpy.asfortranarray(a), numpy.broadcast_to(a[0], (6, 8))):
            for right in (b, b[:, ::2], b[:, 2:7], numpy.asfortranarray(b), floats(10, 8).T):
                self.check(left, right)
        for left in (batch, batch[::2], batch[:, ::2], batch.transpose(1, 0, 2, 3), batch[:1], batch[..., ::2, :]):
            self.check(left, b)

    def test_arrays_reversed_along_any_dimensions_are_taken(self):
        a, b, right = floats(4, 3, 6, 8), floats(4, 3, 8, 5), floats(4, 3, 6, 5)
        for steps in itertools.product((1, -1), repeat=4):
            turned = tuple(slice(None, None, step) for step in steps)
            with self.subTest(steps):
                self.check(a[turned], b)
                self.check(a, b[turned])
                self.check(a[turned], b[turned])
                self.check(a[turned][:1, 0], b[turned][0, :1])
                out = right.copy()[turned]
                self.assertIs(self.multiply(a, b, out), out)
                numpy.testing.assert_allclose(out, a @ b, atol=1e-5)
        self.check(a[0, 0, 0][::-1], b[0, 0])
        self.check(a[0, 0], b[0, 0, :, 0][::-1])

    def test_arrays_expanded_along_any_dimensions_are_taken(self):
        a, b = floats(4, 3, 6, 8), floats(4, 3, 8, 5)
        for axes in itertools.product((False, True), repeat=4):
            first = tuple(slice(0, 1) if expanded else slice(None) for expanded in axes)
            wide_a, wide_b = numpy.broadcast_to(a[first], a.shape), numpy.broadcast_to(b[first], b.shape)
            with self.subTest(axes):
                self.check(wide_a, b)
                self.check(a, wide_b)
                self.check(wide_a, wide_b[:, ::-1])
        self.check(numpy.broadcast_to(a[0, 0, 0, :1], (8,)), b)

    def test_out_whose_elements_share_memory_is_assigned(self):
        a, b = floats(6, 8), floats(8, 5)
        memory = numpy.zeros((7, 6, 5), "f4")
        row, matrix = memory.strides[1], memory.strides[0]
        # Two dimensions of a batch: one is expanded, the other one has more than its share of memory.
        out = numpy.lib.stride_tricks.as_strided(memory, (3, 2, 6, 5), (0, 3 * matrix, row, 4))
        self.multiply(numpy.broadcast_to(a, (3, 2, 6, 8)), b, out)
        numpy.testing.assert_allclose(memory[[0, 3]], numpy.broadcast_to(a @ b, (2, 6, 5)), atol=1e-5)
        self.assertFalse(memory[[1, 2, 4, 5, 6]].any())

    def test_every_type_has_a_product(self):
        a, b = floats(3, 6, 8), floats(8, 10)
        for element, result, tolerance in (("f8", "f8", 1e-13), ("f2", "f2", 2e-2), ("i1", "i4", 0)):
            with self.subTest(element):
                left, right = ((it * (50 if element == "i1" else 1)).astype(element) for it in (a, b))
                for x, y in ((left, right), (left[:, ::2], right[:, 2:7]), (left.transpose(0, 2, 1), right[2:].copy())):
                    y = y if x.shape[-1] == y.shape[0] else y[:x.shape[-1]]
                    product = self.multiply(x, y)
                    self.assertEqual(product.dtype, numpy.dtype(result))
                    expected = x.astype("f8") @ y.astype("f8")
                    numpy.testing.assert_allclose(product, expected, rtol=0, atol=tolerance)
                out = numpy.empty((3, 10, 6), result).transpose(0, 2, 1)
                self.assertIs(self.multiply(left, right, out), out)
                numpy.testing.assert_allclose(out, left.astype("f8") @ right.astype("f8"), rtol=0, atol=tolerance)

    def test_sums_of_16_bits_are_of_float(self):
        a = numpy.full((1, 4096), 1, "f2")
        a[0, 0] = 2048  # to which 1 cannot be added in 16 bits
        self.assertEqual(self.multiply(a, numpy.ones((4096, 1), "f2"))[0, 0], numpy.float16(2048 + 4095))

    def test_out_is_written_whatever_its_layout(self):
        a, b = floats(6, 8), floats(8, 10)
        for out in (numpy.empty((6, 10), "f4"), numpy.empty((6, 10), "f4", order="F"), floats(12, 20)[::2, ::2],
                    floats(6, 14)[:, 2:12]):
            self.assertIs(self.multiply(a, b, out), out)
            numpy.testing.assert_allclose(out, a @ b, atol=1e-5)
        square = floats(8, 8)
        expected = square @ square
        self.multiply(square, square, square)
        numpy.testing.assert_allclose(square, expected, atol=1e-5)
        whole = floats(3, 8, 8)
        expected = whole[:2] @ whole[1:]
        self.multiply(whole[:2], whole[1:], whole[:2])
        numpy.testing.assert_allclose(whole[:2], expected, atol=1e-5)

    def test_memory_around_the_result_stays(self):
        wide = numpy.full((8, 16), 7, "f4")
        self.multiply(floats(6, 8), floats(8, 10), wide[1:7, 3:13])
        wide[1:7, 3:13] = 7
        self.assertTrue((wide == 7).all())

    def test_arrays_with_dlpack_alone(self):
        a, b, out = floats(6, 8), floats(8, 10), numpy.empty((6, 10), "f4")
        self.multiply(OnlyDlpack(a), OnlyDlpack(b), out)
        numpy.testing.assert_allclose(out, a @ b, atol=1e-5)
        strided = _arrays.view(OnlyDlpack(b.T[1:]))
        expected = _arrays.view(b.T[1:])
        self.assertEqual((strided.pointer, strided.shape, strided.strides), (expected.pointer, (9, 8), (1, 10)))
        with self.assertRaisesRegex(TypeError, "pass out="):
            self.multiply(OnlyDlpack(a), OnlyDlpack(b))

    def test_the_result_may_be_wider_and_the_operands_narrower(self):
        a, b, out = floats(6, 8).astype("f2"), floats(8, 10).astype("f2"), numpy.empty((6, 10), "f4")
        self.multiply(a, b, out)
        numpy.testing.assert_allclose(out, a.astype("f4") @ b.astype("f4"), atol=1e-6)
        a, b = floats(6, 8), floats(8, 10)
        with unittest.mock.patch.object(_matmul, "_multiply", wraps=_matmul._multiply) as multiply:
            product = tuner.matmul(a, b, allow_tf32=True, dispatcher=self.dispatcher)
        numpy.testing.assert_allclose(product, a @ b, atol=1e-2)
        self.assertEqual(multiply.call_args.args[2], GEMM_TF32)

    def test_what_cannot_be_multiplied_is_said(self):
        a = floats(6, 8)
        for error, text, arguments in (
                (ValueError, "8 columns.*6 rows", (a, a)),
                (TypeError, "a has elements of type double, b of type float: convert one", (a.astype("f8"), floats(8, 3))),
                (TypeError, "b has elements of type int; float, .* can be multiplied", (a, numpy.ones((8, 3), "i4"))),
                (TypeError, "b has elements of type >f4", (a, floats(8, 3).astype(">f4"))),
                (TypeError, "int is no array", (3, a)),
                (ValueError, "is a number", (a, numpy.float32(3))),
                (ValueError, "batches of", (floats(2, 3, 4), floats(3, 4, 5))),
                (ValueError, r"out has the shape \(6, 2\)", (a, floats(8, 3), floats(6, 2))),
                (TypeError, "out has elements of type double", (a, floats(8, 3), numpy.empty((6, 3)))),
                (TypeError, "out has elements of type signed char, the product int",
                 (a.astype("i1"), numpy.ones((8, 3), "i1"), numpy.empty((6, 3), "i1"))),
                (ValueError, "read-only", (a, floats(8, 3), numpy.broadcast_to(floats(3), (6, 3))))):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                self.multiply(*arguments)

    def test_without_a_database_the_library_multiplies(self):
        environment = {**os.environ, "HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder / "none")}
        environment.pop("TUNER_DB", None)
        program = "import numpy, tuner; print(tuner.matmul(*numpy.ones((2, 2, 2), 'f4')))"
        done = subprocess.run([sys.executable, "-c", program], env=environment, text=True, capture_output=True)
        self.assertEqual(done.stdout, "[[2. 2.]\n [2. 2.]]\n", done.stderr)
        named = subprocess.run([sys.executable, "-c", program], env={**environment, "TUNER_DB": "/no/such.db"}, text=True,
                               capture_output=True)
        self.assertRegex(named.stderr, "tuner.Error: .*such.db")

    def test_without_the_library_the_import_of_it_fails(self):
        done = subprocess.run([sys.executable, "-c", "import tuner; tuner.Dispatcher()"], text=True,
                              env={**os.environ, "TUNER_LIBRARY": "/no/such.so"}, capture_output=True)
        self.assertRegex(done.stderr, r"ImportError: .*/no/such.so.*TUNER_LIBRARY")


class FamilyTest(PythonTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        database = cls.folder / "tune.db"
        tune(database, "--space", ROOT / "examples/saxpy/saxpy.json", "--kernel", "saxpy", "--size", "1000",
             "--backend", "cpu", "--max-evals", "2", "-q")
        cls.saxpy = tuner.Dispatcher(tuner.Table.database(database), backend="cpu")

    def test_a_family_is_launched_by_its_name(self):
        x, y = floats(1000), floats(1000)
        expected = 2 * x + y
        self.saxpy.prepare("saxpy", [1000])
        self.saxpy.launch("saxpy", 1000, 2.0, x, y)
        numpy.testing.assert_allclose(y, expected, rtol=1e-6)
        answer = self.saxpy.answer("saxpy", [1000])
        self.assertEqual((answer.rung, answer.kernel, answer.prepared), ("exact", "saxpy", True))
        self.assertGreater(answer.expected_ns, 0)
        arguments = self.saxpy.arguments("saxpy", 1000)
        self.assertEqual([(it.name, it.type, it.element, it.elements, it.is_written) for it in arguments],
                         [("a", "float", "", 0, False), ("x", "array", "float", 1000, False),
                          ("y", "array", "float", 1000, True)])

    def test_a_number_is_converted_and_measured_sizes_are_prepared(self):
        self.saxpy.prepare("saxpy", [500, 700], measure=True)
        x, y = floats(500), numpy.zeros(500, "f4")
        self.saxpy.launch("saxpy", (500,), numpy.float64(3), x, y)
        numpy.testing.assert_allclose(y, 3 * x, rtol=1e-6)

    def test_exact_takes_what_was_tuned_and_launches_are_counted(self):
        with tuner.Dispatcher(tuner.Table.database(self.folder / "tune.db"), backend="cpu", mode="exact") as exact:
            exact.launch("saxpy", 1000, 2.0, floats(1000), floats(1000))
            with self.assertRaisesRegex(tuner.Error, "not tuned for this size"):
                exact.launch("saxpy", 500, 2.0, floats(500), floats(500))
            self.assertEqual(exact.served(), [tuner.Served("saxpy", "exact", True, 1, 1)])
            exact.pin(self.folder / "pins.json")
        with tuner.Dispatcher(tuner.Table.database(self.folder / "tune.db"), backend="cpu", mode="pinned",
                              pins=self.folder / "pins.json") as pinned:
            self.assertIn("pinned by", pinned.answer("saxpy", 1000).explanation)
            with self.assertRaisesRegex(tuner.Error, "pins.json.* saxpy 500 cannot be used"):
                pinned.launch("saxpy", 500, 2.0, floats(500), floats(500))
        with self.assertRaisesRegex(ValueError, "'precise', neither of 'any', 'exact', 'pinned'"):
            tuner.Dispatcher(backend="cpu", mode="precise")

    def test_what_cannot_be_launched_is_said(self):
        x, y = floats(1000), floats(1000)
        fixed = y.copy()
        fixed.flags.writeable = False
        for error, text, arguments in (
                (TypeError, r"takes \(float a, array x, array y\), 2 are given", (1000, 2.0, x)),
                (TypeError, "a is a number of type float, given is 'two'", (1000, "two", x, y)),
                (TypeError, "y has elements of type float, given are double", (1000, 2.0, x, y.astype("f8"))),
                (ValueError, "x needs 1000 elements at this size, given are 999", (1000, 2.0, x[1:], y)),
                (ValueError, "y is written by the kernel", (1000, 2.0, x, fixed)),
                (ValueError, "x is not contiguous", (500, 2.0, x[::2], y)),
                (ValueError, "y is not contiguous", (1000, 2.0, x, y[::-1])),
                (TypeError, "a size is a whole number", (1.5, 2.0, x, y)),
                (tuner.Error, "saxpy", ((1000, 2, 3), 2.0, x, y))):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                self.saxpy.launch("saxpy", *arguments)
        with self.assertRaisesRegex(tuner.Error, "did you mean"):
            self.saxpy.answer("saxpi", 1000)
        with self.assertRaisesRegex(tuner.Error, "/no/such"):
            tuner.Dispatcher(tuner.Table.file("/no/such"), backend="cpu")

    def test_matmul_launches_a_tuned_kernel(self):
        table = gemm_table(self.folder, "24,16,8")
        with tuner.Dispatcher(tuner.Table.text(table), backend="cpu") as dispatcher:
            a, b = floats(24, 8), floats(8, 16)
            numpy.testing.assert_allclose(tuner.matmul(a, b, dispatcher=dispatcher), a @ b, atol=1e-5)
            answer = dispatcher.answer("gemm", (24, 16, 8))
            self.assertEqual((answer.kernel, answer.prepared), ("gemm_naive", True))
            dispatcher.reload(tuner.Table.empty())
            with self.assertRaises(tuner.Error):
                dispatcher.answer("gemm", (24, 16, 8))
        with self.assertRaises(tuner.Error):
            dispatcher.answer("gemm", (24, 16, 8))


if __name__ == "__main__":
    unittest.main()
