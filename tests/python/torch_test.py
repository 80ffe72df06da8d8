# SPDX-License-Identifier: Apache-2.0
"""tuner.torch with a stand-in for torch: which products are taken, and what the others get.

gpu_test.py runs it with PyTorch.
"""

import pathlib
import re
import sys
import tempfile
import types
import unittest
import warnings

import numpy
from tuned import gemm_table

import tuner


class Tensor:
    """As much of a tensor on a GPU as the override uses, in the host's memory."""

    def __init__(self, array, device=0):
        self.array, self.device_index = array, device
        self.dtype = {"f4": torch.float32, "f8": torch.float64, "f2": torch.float16}[array.dtype.str[1:]]

    shape = property(lambda self: self.array.shape)
    is_cuda = property(lambda self: self.device_index >= 0)

    def dim(self):
        return self.array.ndim

    def stride(self):
        return tuple(step // self.array.itemsize for step in self.array.strides)

    def get_device(self):
        return self.device_index

    def data_ptr(self):
        return self.array.ctypes.data

    def new_empty(self, shape):
        return Tensor(numpy.full(shape, numpy.nan, self.array.dtype), self.device_index)

    def is_contiguous(self):
        return self.array.flags.c_contiguous

    def copy_(self, other):
        self.array[...] = other.array
        return self

    def expand(self, shape):
        return Tensor(numpy.broadcast_to(self.array, shape), self.device_index)

    def clone(self, memory_format):
        assert memory_format is torch.contiguous_format
        return Tensor(numpy.ascontiguousarray(self.array).copy(), self.device_index)


class Library:
    def __init__(self, namespace, kind):
        assert (namespace, kind) == ("aten", "IMPL")

    def impl(self, name, function, key, with_keyset):
        assert key == "CUDA" and with_keyset
        torch.kernels[name] = function

    def _destroy(self):
        torch.kernels.clear()


def get_kernel(name, key):
    """aten's kernel; notes that it was called."""
    def call(keys, *arguments, **options):
        assert keys == "keys"
        torch.passed_on.append(name)
        *c, a, b = (it.array for it in arguments)
        if "out" in options:
            return options["out"].copy_(Tensor(options.get("alpha", 1) * (a @ b) + (options.get("beta", 1) * c[0] if c else 0)))
        return Tensor(options.get("alpha", 1) * (a @ b) + (options.get("beta", 1) * c[0] if c else 0))

    return types.SimpleNamespace(call_boxed=call)


torch = types.ModuleType("torch")
torch.float32, torch.float64, torch.float16 = "torch.float32", "torch.float64", "torch.float16"
torch.bfloat16, torch.contiguous_format = "torch.bfloat16", "contiguous"
torch.devices, torch.tf32, torch.capturing, torch.kernels, torch.passed_on = 1, False, False, {}, []
torch.library = types.SimpleNamespace(Library=Library, get_kernel=get_kernel)
torch.cuda = types.SimpleNamespace(current_device=lambda: 0, device_count=lambda: torch.devices, is_current_stream_capturing=lambda: torch.capturing)
torch._C = types.SimpleNamespace(_get_cublas_allow_tf32=lambda: torch.tf32, _cuda_getCurrentRawStream=lambda device: 0)
sys.modules["torch"] = torch

_random = numpy.random.default_rng(0)


def floats(*shape):
    return _random.standard_normal(shape, dtype="f4")


class TorchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tune-test-")
        cls.addClassCleanup(folder.cleanup)
        table = gemm_table(pathlib.Path(folder.name), "24,16,8", "24,16,8,TRANS_A=1", "24,16,8,TRANS_A=1,TRANS_B=1",
                           "24,16,8,BATCH=3", "24,16,8,TRANS_A=1,BATCH=3", "24,16,8,TYPE=f16", "24,16,8,TYPE=f64")
        cls.on_the_cpu = tuner.Dispatcher(tuner.Table.text(table), backend="cpu")

    def setUp(self):
        original = tuner.torch.default_dispatcher
        tuner.torch.default_dispatcher = lambda backend, device: self.on_the_cpu
        self.addCleanup(setattr, tuner.torch, "default_dispatcher", original)
        torch.tf32 = torch.capturing = False
        torch.passed_on.clear()
        tuner.torch.enable(measure=False)
        self.addCleanup(tuner.torch.disable)

    def check(self, name, arguments, options=None, taken=True, tolerance=1e-5):
        before = tuner.torch.statistics()
        torch.passed_on.clear()
        result = torch.kernels[name]("keys", *(Tensor(it) for it in arguments), **(options or {})).array
        *c, a, b = (it.astype("f8") for it in arguments)
        expected = (options or {}).get("alpha", 1) * (a @ b) + ((options or {}).get("beta", 1) * c[0] if c else 0)
        numpy.testing.assert_allclose(result, expected, atol=tolerance)
        if taken:
            self.assertEqual(result.dtype, arguments[0].dtype)
        self.assertEqual(torch.passed_on, [] if taken else [f"aten::{name}"])
        after = tuner.torch.statistics()
        self.assertEqual((after.taken - before.taken, after.passed_on - before.passed_on), (taken, not taken))

    def test_tuned_products_are_taken(self):
        for _ in range(2):
            self.check("mm", (floats(24, 8), floats(8, 16)))
            self.check("mm", (floats(8, 24).T, floats(16, 8).T))
            self.check("mm", (floats(24, 20)[:, :8], floats(8, 16)))
            self.check("bmm", (floats(3, 24, 8), floats(3, 8, 16)))
            self.check("bmm", (floats(3, 8, 24).transpose(0, 2, 1), floats(3, 8, 16)))

    def test_a_matrix_is_added(self):
        c, a, b = floats(24, 16), floats(24, 8), floats(8, 16)
        kept = c.copy()
        self.check("addmm", (c, a, b))
        self.check("addmm", (c, a, b), {"beta": 0.5, "alpha": 2})
        self.check("addmm", (floats(16, 24).T, a, b), {"beta": -1})
        self.check("addmm", (numpy.zeros((24, 16), "f4"), a, b), {"beta": 0})
        self.assertTrue((c == kept).all())
        stack = floats(3, 24, 16), floats(3, 24, 8), floats(3, 8, 16)
        self.check("baddbmm", stack)
        self.check("baddbmm", stack, {"beta": 0.5, "alpha": 2})
        self.check("addmm", (floats(24, 16).astype("f8"), a, b), taken=False)

    def test_products_into_an_array_are_taken(self):
        a, b, c = floats(24, 8), floats(8, 16), floats(24, 16)
        into = Tensor(floats(24, 16))
        self.assertIs(torch.kernels["mm.out"]("keys", Tensor(a), Tensor(b), out=into), into)
        numpy.testing.assert_allclose(into.array, a @ b, atol=1e-5)
        self.assertIs(torch.kernels["addmm.out"]("keys", Tensor(c), Tensor(a), Tensor(b), beta=2, alpha=3, out=into), into)
        numpy.testing.assert_allclose(into.array, 3 * (a @ b) + 2 * c, atol=1e-4)
        torch.kernels["addmm.out"]("keys", into, Tensor(a), Tensor(b), out=into)
        numpy.testing.assert_allclose(into.array, 4 * (a @ b) + 2 * c, atol=1e-4)
        stack_a, stack_b = floats(3, 24, 8), floats(3, 8, 16)
        stack = Tensor(floats(3, 24, 16))
        added = stack.array.copy()
        torch.kernels["baddbmm.out"]("keys", stack, Tensor(stack_a), Tensor(stack_b), out=stack)
        numpy.testing.assert_allclose(stack.array, added + stack_a @ stack_b, atol=1e-5)
        torch.kernels["bmm.out"]("keys", Tensor(stack_a), Tensor(stack_b), out=stack)
        numpy.testing.assert_allclose(stack.array, stack_a @ stack_b, atol=1e-5)
        counted = tuner.torch.statistics()
        self.assertEqual((torch.passed_on, counted.taken, counted.passed_on), ([], 5, 0))
        self.assertGreater(counted.saved_s, 0)
        # Rows that are not contiguous are aten's.
        columns = Tensor(floats(16, 24).T)
        self.assertIs(torch.kernels["mm.out"]("keys", Tensor(a), Tensor(b), out=columns), columns)
        numpy.testing.assert_allclose(columns.array, a @ b, atol=1e-5)
        self.assertEqual(torch.passed_on, ["aten::mm.out"])

    def test_products_of_other_types_are_taken_by_their_own_kernels(self):
        a, b, c = floats(24, 8), floats(8, 16), floats(24, 16)
        for element, tolerance in (("f8", 1e-13), ("f2", 1e-2)):
            left, right, added = (it.astype(element) for it in (a, b, c))
            for _ in range(2):
                self.check("mm", (left, right), tolerance=tolerance)
            self.check("addmm", (added, left, right), {"beta": 0.5, "alpha": 2}, tolerance=tolerance)
        self.check("addmm", (c, a.astype("f8"), b.astype("f8")), taken=False)
        torch.tf32 = True  # says nothing of double
        self.check("mm", (a.astype("f8"), b.astype("f8")), tolerance=1e-13)

    def test_products_of_short_types_are_taken_by_kernels_for_tensor_cores(self):
        folder = tempfile.TemporaryDirectory(prefix="tune-test-")
        self.addCleanup(folder.cleanup)
        table = gemm_table(pathlib.Path(folder.name), "24,16,8,TRANS_B=1,TYPE=f16", "24,16,8,TRANS_B=1,TYPE=tf32",
                           family="gemm_tensor", kernel="gemm_wgmma")
        with tuner.Dispatcher(tuner.Table.text(table), backend="cpu") as dispatcher:
            tuner.torch.default_dispatcher = lambda *_: dispatcher
            for measure in (False, True):
                tuner.torch.enable(measure=measure)
                self.check("mm", (floats(24, 8).astype("f2"), floats(16, 8).astype("f2").T), tolerance=1e-2)
            a, b = floats(24, 8), floats(16, 8).T
            self.check("mm", (a, b), taken=False)
            torch.tf32 = True
            self.check("mm", (a, b), tolerance=1e-2)
            torch.tf32 = False
            self.check("mm", (a, b), taken=False)

    def test_a_bias_is_added_by_the_kernel(self):
        folder = tempfile.TemporaryDirectory(prefix="tune-test-")
        self.addCleanup(folder.cleanup)
        table = gemm_table(pathlib.Path(folder.name), "24,16,8,TRANS_B=1,TYPE=f16", family="gemm_tensor", kernel="gemm_wgmma")
        a, b = floats(24, 8).astype("f2"), floats(16, 8).astype("f2").T
        bias, other = floats(16).astype("f2"), floats(16).astype("f2")
        with tuner.Dispatcher(tuner.Table.text(table), backend="cpu") as dispatcher:
            tuner.torch.default_dispatcher = lambda *_: dispatcher
            for measure in (False, True):
                tuner.torch.enable(measure=measure)
                for each in (bias, other, numpy.broadcast_to(bias, (24, 16))):
                    self.check("addmm", (each, a, b), tolerance=1e-2)
                self.check("addmm", (bias, a, b), {"alpha": 2}, tolerance=1e-2)
                into = Tensor(floats(24, 16).astype("f2"))
                self.assertIs(torch.kernels["addmm.out"]("keys", Tensor(bias), Tensor(a), Tensor(b), out=into), into)
                numpy.testing.assert_allclose(into.array, a @ b + bias, atol=1e-2)
            self.check("addmm", (bias, a, b), {"beta": 2}, tolerance=1e-2, taken=False)
            self.check("addmm", (floats(32).astype("f2")[::2], a, b), tolerance=1e-2, taken=False)
            self.check("addmm", (floats(1).astype("f2"), a, b), tolerance=1e-2, taken=False)
        slower = re.sub(r'("ratio_to_library(_tuned)?":)[^,]+', r"\g<1>0.5", table)
        with tuner.Dispatcher(tuner.Table.text(slower), backend="cpu") as dispatcher:
            tuner.torch.enable(measure=False)
            self.check("addmm", (bias, a, b), tolerance=1e-2, taken=False)

    def test_a_bias_that_kernels_do_not_add_is_written_first_where_that_pays(self):
        a, b, bias = floats(24, 8), floats(8, 16), floats(16)
        cost = tuner.torch._SPREAD_NS
        self.addCleanup(setattr, tuner.torch, "_SPREAD_NS", cost)
        for tuner.torch._SPREAD_NS, taken in ((-1e9, True), (1e9, False)):
            tuner.torch.enable(measure=False)
            for options in ({}, {"alpha": 2}):
                self.check("addmm", (bias, a, b), options, taken=taken)
            into = Tensor(floats(24, 16))
            torch.kernels["addmm.out"]("keys", Tensor(bias), Tensor(a), Tensor(b), out=into)
            numpy.testing.assert_allclose(into.array, a @ b + bias, atol=1e-5)

    def test_everything_else_is_aten_s(self):
        a, b = floats(24, 8), floats(8, 16)
        self.check("mm", (a, b.astype("f8")), taken=False)
        self.check("mm", (floats(24, 16)[:, ::2], b), taken=False)
        self.check("bmm", (floats(6, 24, 8)[::2], floats(3, 8, 16)), taken=False)
        self.check("mm", (floats(24, 0), floats(0, 16)), taken=False)
        torch.tf32 = True
        self.check("mm", (a, b), taken=False)
        torch.tf32 = False
        self.check("mm", (a, b))
        self.check("addmm", (floats(24, 16), a, floats(8, 32)[:, ::2]), {"beta": 3, "alpha": 2}, taken=False)

    def test_tensors_on_another_device_than_the_current_one_are_aten_s(self):
        torch.devices = 2
        self.addCleanup(setattr, torch, "devices", 1)
        tuner.torch.enable(measure=False)
        a, b = floats(24, 8), floats(8, 16)
        for devices, passed_on in (((0, 0), []), ((1, 1), ["aten::mm"]), ((0, 1), ["aten::mm"]), ((0, -1), ["aten::mm"])):
            torch.passed_on.clear()
            result = torch.kernels["mm"]("keys", *(Tensor(it, device) for it, device in zip((a, b), devices)))
            self.assertEqual(torch.passed_on, passed_on, devices)
            numpy.testing.assert_allclose(result.array, a @ b, atol=1e-5)

    def test_a_size_that_is_new_in_a_capture_is_aten_s_until_it_ran(self):
        a, b = floats(24, 8), floats(8, 16)
        torch.capturing = True
        self.check("mm", (a, b), taken=False)
        torch.capturing = False
        self.check("mm", (a, b))
        torch.capturing = True
        self.check("mm", (a, b))

    def test_sizes_with_few_rows_are_measured_at_the_first_call_others_at_the_second(self):
        measured, prepare = [], tuner.Dispatcher._prepare
        self.addCleanup(setattr, tuner.Dispatcher, "_prepare", prepare)
        tuner.Dispatcher._prepare = lambda dispatcher, family, sizes, measure: measured.append(tuple(numpy.frombuffer(sizes[0], "i8")[:3]))
        few, many = (floats(24, 8), floats(8, 16)), (floats(72, 8), floats(8, 80))
        for setting, expected in ((None, [[few], [many]]), (True, [[few, many], []]), (False, [[], []])):
            tuner.torch.enable(measure=setting)
            for products in expected:
                measured.clear()
                for a, b in (few, many):
                    torch.kernels["mm"]("keys", Tensor(a), Tensor(b))
                self.assertEqual(measured, [(len(a), b.shape[1], a.shape[1]) for a, b in products], setting)

    def test_a_size_chosen_by_expectation_is_served_in_a_capture(self):
        folder = tempfile.TemporaryDirectory(prefix="tune-test-")
        self.addCleanup(folder.cleanup)
        table = gemm_table(pathlib.Path(folder.name), "72,80,8")
        with tuner.Dispatcher(tuner.Table.text(table), backend="cpu") as dispatcher:
            tuner.torch.default_dispatcher = lambda *_: dispatcher
            tuner.torch.enable()
            product = floats(72, 8), floats(8, 80)
            self.check("mm", product)
            torch.capturing = True
            self.check("mm", product)
            torch.capturing = False
            self.check("mm", product)

    def test_where_the_library_serves_aten_does(self):
        tuner.torch.default_dispatcher = lambda *_: tuner.Dispatcher(tuner.Table.empty(), backend="cpu")
        self.check("mm", (floats(24, 8), floats(8, 16)), taken=False)

    def test_a_launch_that_fails_is_aten_s(self):
        a, b = floats(24, 8), floats(8, 16)
        self.check("mm", (a, b))
        null = Tensor(b)
        null.data_ptr = lambda: 0
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = torch.kernels["mm"]("keys", Tensor(a), null)
        numpy.testing.assert_allclose(result.array, a @ b, atol=1e-5)
        self.assertIn("aten serves this size", str(caught[0].message))
        self.check("mm", (a, b), taken=False)

    def test_disable_gives_everything_back(self):
        self.assertEqual(sorted(torch.kernels), ["addmm", "addmm.out", "baddbmm", "baddbmm.out", "bmm", "bmm.out", "mm", "mm.out"])
        tuner.torch.disable()
        self.assertEqual(torch.kernels, {})
        self.assertEqual(tuner.torch.statistics(), tuner.torch.Statistics(0, 0))


if __name__ == "__main__":
    unittest.main()
