# SPDX-License-Identifier: Apache-2.0
"""The Python package on a GPU with PyTorch and CuPy, each skipped where it is not installed."""

import ctypes
import importlib.util
import os
import pathlib
import sys
import unittest

import tuner


# The published results of some devices: the tests need no installed table and no database of the user.
TF32 = 3  # its place among the types of gemm_tensor
SEEDS = pathlib.Path(__file__).parents[2] / "db/seed"


def has_gpu():
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


def needs(name):
    return unittest.skipUnless(importlib.util.find_spec(name), f"{name} is not installed")


@needs("torch")
class TorchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        global torch
        import torch
        torch.manual_seed(0)

    def setUp(self):
        self.addCleanup(tuner.torch.disable)

    def enable(self):
        device = torch.cuda.get_device_name()
        table = SEEDS / f"{device.lower().replace(' ', '-')}.json"
        if not table.exists():
            self.skipTest(f"{SEEDS} has no results of {device}")
        self.table = tuner.Table.file(table)
        tuner.torch.enable(table=self.table)

    def floats(self, *shape):
        return torch.randn(shape, device="cuda")

    def check(self, result, a, b, c=None):
        """Against float64, as far as sums of floats in any order may lie off."""
        expected = a.double() @ b.double() + (0 if c is None else c.double())
        magnitude = a.double().abs() @ b.double().abs() + (0 if c is None else c.double().abs())
        self.assertEqual((result.shape, result.dtype, result.device), (expected.shape, torch.float32, a.device))
        self.assertLess(float(((result - expected).abs() / magnitude).max()), 2e-6)

    def test_matmul(self):
        for a, b in (((300, 200), (200, 500)), ((1024, 1024), (1024, 1024)), ((4, 64, 32), (32, 16)), ((7,), (7, 5)),
                     ((2, 1, 33, 17), (3, 17, 9))):
            a, b = self.floats(*a), self.floats(*b)
            self.check(tuner.matmul(a, b), a, b)
        a, b = self.floats(256, 512), self.floats(256, 512)
        self.check(tuner.matmul(a, b.T), a, b.T)
        self.check(tuner.matmul(a[:, ::2], b[:, ::2].T), a[:, ::2], b[:, ::2].T)
        out = torch.empty(256, 256, device="cuda").T
        self.assertIs(tuner.matmul(a, b.T, out), out)
        self.check(out, a, b.T)

    def test_matmul_of_every_type(self):
        a, b = self.floats(300, 208), self.floats(208, 512)
        for dtype, tolerance in ((torch.float64, 1e-14), (torch.bfloat16, 2.0**-8), (torch.float16, 2.0**-11)):
            left, right = a.to(dtype), b.to(dtype)
            result = tuner.matmul(left, right)
            magnitude = left.double().abs() @ right.double().abs()
            error = (result.double() - left.double() @ right.double()).abs() / magnitude
            self.assertEqual(result.dtype, dtype)
            self.assertLess(float(error.max()), tolerance)
        for dtype in (torch.bfloat16, torch.float16):
            left, right = a.to(dtype), b.to(dtype)
            out = torch.empty(300, 512, device="cuda")
            self.check(tuner.matmul(left, right, out), left, right)
        result = tuner.matmul(a, b, allow_tf32=True)
        magnitude = a.double().abs() @ b.double().abs()
        self.assertLess(float(((result.double() - a.double() @ b.double()).abs() / magnitude).max()), 2.0**-9)
        left, right = a.to(torch.float8_e4m3fn), b.T.contiguous().to(torch.float8_e4m3fn).T
        result = tuner.matmul(left, right)
        expected = left.double() @ right.double()
        self.assertEqual(result.dtype, torch.bfloat16)
        self.assertLess(float(((result.double() - expected).abs() / (left.double().abs() @ right.double().abs())).max()), 2.0**-7)
        left, right = (torch.randint(-128, 128, it.shape, dtype=torch.int8, device="cuda") for it in (a, b))
        self.assertTrue(torch.equal(tuner.matmul(left, right).double(), left.double() @ right.double()))

    def test_matmul_follows_the_current_stream(self):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            a, b = self.floats(2048, 2048), self.floats(2048, 2048)
            for _ in range(20):  # on another stream this would read what is not yet written
                before, a = a, tuner.matmul(a, b) / 45
        stream.synchronize()
        self.check(a * 45, before, b)

    def test_what_cannot_be_multiplied_is_said(self):
        a = self.floats(8, 8)
        with self.assertRaisesRegex(ValueError, "gradient"):
            tuner.matmul(a.clone().requires_grad_(), a)
        with self.assertRaisesRegex(TypeError, "bfloat16, b of type float"):
            tuner.matmul(a.bfloat16(), a)
        with self.assertRaisesRegex(ValueError, "a is on cuda 0, b on cpu 0"):
            tuner.matmul(a, a.cpu())

    def test_products_of_aten_are_taken(self):
        self.enable()
        a, b = self.floats(1024, 1024), self.floats(1024, 1024)
        self.check(torch.mm(a, b), a, b)
        self.check(a.T @ b, a.T, b)
        self.check(torch.addmm(b, a, b), a, b, b)
        self.check(torch.addmm(b, a, b, beta=0.5, alpha=2), 2 * a, b, 0.5 * b)
        batch = self.floats(8, 256, 256)
        self.check(torch.bmm(batch, batch), batch, batch)
        print("\n ", tuner.torch.statistics(), end=" ")
        self.assertGreater(tuner.torch.statistics().taken, 0)

    def test_products_of_16_bits_are_taken_by_kernels_for_tensor_cores(self):
        self.enable()
        for dtype in (torch.bfloat16, torch.float16):
            for m in (1, 64, 128):
                x, weights = self.floats(m, 7168).to(dtype), self.floats(256, 7168).to(dtype)
                before = tuner.torch.statistics().taken
                result = torch.nn.functional.linear(x, weights)
                self.assertEqual(tuner.torch.statistics().taken, before + 1, (dtype, m))
                expected = x.double() @ weights.double().T
                self.assertEqual((result.shape, result.dtype), (expected.shape, dtype))
                self.assertLess(float(((result - expected).abs() / expected.abs().clamp(min=1)).max()), 2**-7)

    def test_a_bias_is_added_by_the_kernel(self):
        self.enable()
        for dtype, error in ((torch.bfloat16, 2**-7), (torch.float16, 2**-7), (torch.float32, 2**-16)):
            for m in (1, 64, 128):
                layer = torch.nn.Linear(7168, 256, device="cuda", dtype=dtype)
                x = self.floats(m, 7168).to(dtype)
                before = tuner.torch.statistics().taken
                result = layer(x)
                if dtype is not torch.float32:  # where it need not pay to write the bias first
                    self.assertEqual(tuner.torch.statistics().taken, before + 1, (dtype, m))
                expected = x.double() @ layer.weight.double().T + layer.bias.double()
                self.assertLess(float(((result - expected).abs() / expected.abs().clamp(min=1)).max()), error)

    def test_the_library_adds_a_bias_too(self):
        x, weights, bias = self.floats(48, 4096).half(), self.floats(4096, 4096).half(), self.floats(4096).half()
        expected = x.double() @ weights.double().T + bias.double()
        size = [48, 4096, 4096, 1, 0, 1, 4096, 4096, 4096, 4, 1, 0, 0, 1]
        with tuner.Dispatcher(self.table, mode="exact") as dispatcher:
            for other in (bias, torch.zeros_like(bias)):  # each launch has its own
                result = torch.empty(48, 4096, device="cuda", dtype=torch.half)
                dispatcher.launch("gemm_tensor", size, 1.0, x, weights, 0.0, result, other, result)
                self.assertLess(float((result - expected + (bias - other).double()).abs().max()), 1)
            self.assertEqual(dispatcher.answer("gemm_tensor", size).rung, "library")
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                dispatcher.launch("gemm_tensor", size, 1.0, x, weights, 0.0, result, bias, result)
            graph.replay()
            self.assertLess(float((result - expected).abs().max()), 1)

    def test_choices_of_max_autotune_are_served(self):
        self.enable()
        weights = self.floats(256, 7168).bfloat16()
        compiled = torch.compile(lambda x: torch.nn.functional.silu(x @ weights.T), mode="max-autotune-no-cudagraphs")
        x = self.floats(16, 7168).bfloat16()
        expected = torch.nn.functional.silu(x @ weights.T)
        compiled(x)
        before = tuner.torch.statistics().taken
        self.assertTrue(torch.allclose(compiled(x), expected, atol=2.0**-4, rtol=2.0**-6))
        print("\n ", tuner.torch.statistics().taken - before, "taken", end=" ")

    def test_compiled_products_are_taken(self):
        self.enable()
        x, weights = self.floats(16, 7168).bfloat16(), self.floats(256, 7168).bfloat16()

        def step(x):
            return torch.nn.functional.relu(torch.nn.functional.linear(x, weights)) + 1

        expected = step(x)
        compiled = torch.compile(step)
        compiled(x)
        before = tuner.torch.statistics().taken
        result = compiled(x)
        self.assertEqual(tuner.torch.statistics().taken, before + 1)
        self.assertTrue(torch.allclose(result, expected, atol=2.0**-4, rtol=2.0**-6))

    def test_where_tf32_is_allowed_a_kernel_for_tf32_is_taken(self):
        self.enable()
        x, weights = self.floats(64, 7168), self.floats(256, 7168)
        self.addCleanup(setattr, torch.backends.cuda.matmul, "allow_tf32", torch.backends.cuda.matmul.allow_tf32)
        for allowed, error in ((True, 2e-3), (False, 2e-6)):
            torch.backends.cuda.matmul.allow_tf32 = allowed
            before = tuner.torch.statistics().taken
            result = torch.nn.functional.linear(x, weights)
            if allowed:
                with tuner.Dispatcher(self.table) as dispatcher:  # not every table has tf32
                    answer = dispatcher.answer("gemm_tensor", [64, 256, 7168, 1, 0, 1, 7168, 7168, 256, 4, 0, 0, 0, TF32])
                self.assertEqual(tuner.torch.statistics().taken, before + (answer.kernel != ""), answer)
                print("\n ", answer.rung, answer.kernel, end=" ")
            exact, magnitude = x.double() @ weights.double().T, x.double().abs() @ weights.double().abs().T
            self.assertLess(float(((result - exact).abs() / magnitude).max()), error)

    def test_what_is_not_ours_is_aten_s(self):
        a, b = self.floats(512, 512), self.floats(512, 512)
        expected = [torch.addmm(a[::2, 0].repeat(2)[::2], a, b[:, :256]), torch.mm(a.double(), b.double()), torch.mm(a.cpu(), b.cpu())]
        self.enable()
        results = [torch.addmm(a[::2, 0].repeat(2)[::2], a, b[:, :256]), torch.mm(a.double(), b.double()), torch.mm(a.cpu(), b.cpu())]
        self.assertEqual(tuner.torch.statistics().taken, 0)
        for result, right in zip(results, expected):
            self.assertTrue(torch.equal(result, right))
        with self.assertRaises(RuntimeError):
            torch.mm(a, self.floats(3, 4))

    def test_gradients_and_training(self):
        def losses():
            torch.manual_seed(1)
            model = torch.nn.Sequential(torch.nn.Linear(1024, 1024, bias=False), torch.nn.GELU(),
                                        torch.nn.Linear(1024, 1024)).cuda()
            x = self.floats(1024, 1024)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for _ in range(5):
                optimizer.zero_grad()
                loss = (model(x) - x).square().mean()
                loss.backward()
                optimizer.step()
                yield loss.item()

        plain = list(losses())
        self.enable()
        for ours, expected in zip(losses(), plain):
            self.assertAlmostEqual(ours, expected, delta=1e-5 * abs(expected))
        self.assertGreater(tuner.torch.statistics().taken, 0)

    def test_graphs(self):
        self.enable()
        a, b = self.floats(1024, 1024), self.floats(1024, 1024)
        torch.mm(a, b)
        torch.cuda.synchronize()
        before = tuner.torch.statistics()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            known = torch.mm(a, b)
            new = torch.mm(a[:, :640], b[:640])  # passed on
        after = tuner.torch.statistics()
        self.assertEqual((after.taken - before.taken, after.passed_on - before.passed_on), (1, 1))
        a.normal_()
        graph.replay()
        self.check(known, a, b)
        self.check(new, a[:, :640], b[:640])


@needs("cupy")
class CupyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        global cupy
        import cupy

    def check(self, result, a, b):
        expected = a.astype("f8") @ b.astype("f8")
        magnitude = abs(a).astype("f8") @ abs(b).astype("f8")
        self.assertIsInstance(result, cupy.ndarray)
        self.assertEqual(result.shape, expected.shape)
        self.assertLess(float((abs(result - expected) / magnitude).max()), 2e-6)

    def test_matmul(self):
        for a, b in (((300, 200), (200, 500)), ((1024, 1024), (1024, 1024)), ((4, 64, 32), (32, 16)), ((2, 1, 33, 17), (3, 17, 9))):
            a, b = cupy.random.randn(*a, dtype="f4"), cupy.random.randn(*b, dtype="f4")
            self.check(tuner.matmul(a, b), a, b)
        a = cupy.random.randn(256, 512, dtype="f4")
        self.check(tuner.matmul(a[:, ::2], a[:, ::2].T), a[:, ::2], a[:, ::2].T)
        out = cupy.empty((256, 256), "f4", order="F")
        self.assertIs(tuner.matmul(a, a.T, out), out)
        self.check(out, a, a.T)

    def test_matmul_follows_the_current_stream(self):
        with cupy.cuda.Stream(non_blocking=True) as stream:
            a, b = cupy.random.randn(2048, 2048, dtype="f4"), cupy.random.randn(2048, 2048, dtype="f4")
            for _ in range(20):
                before, a = a, tuner.matmul(a, b) / 45
        stream.synchronize()
        self.check(a * 45, before, b)


if __name__ == "__main__":
    required = os.environ.get("TUNER_REQUIRE_GPU") == "1"
    if not has_gpu() and not required:
        print("no GPU: skipped", file=sys.stderr)
        sys.exit(77)
    unittest.main(verbosity=2)
