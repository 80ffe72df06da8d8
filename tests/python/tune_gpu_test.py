# SPDX-License-Identifier: Apache-2.0
"""tuner.tune() on a GPU whose memory this process uses too, with references in PyTorch and CuPy."""

import faulthandler
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

try:
    import cupy
    import numpy
    import torch
except ImportError as error:
    print(f"{error.name} is not installed", file=sys.stderr)
    sys.exit(77)

import notebook

import tuner
from tuner import _memory

ROOT = pathlib.Path(__file__).resolve().parents[2]


def source_of(example):
    """The CUDA source in an example, and its mistakes with it."""
    return (ROOT / f"examples/python/{example}.py").read_text().split('"""')[3]


class GpuTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tune-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        faulthandler.dump_traceback_later(200, exit=True)  # says where a test waits that does not end
        self.addCleanup(faulthandler.cancel_dump_traceback_later)
        self.held = torch.ones(1 << 20, device="cuda")  # a context, and memory

    def tune(self, example, entry=None, **given):
        return tuner.tune(source_of(example), entry, backend="cuda", database=self.folder / "results.db", folder=self.folder / "spaces",
                          effort="quick", **given)

    def outcomes(self, k, mistake):
        for trial in k.trials():
            self.assertEqual(trial["outcome"], "wrong_result" if trial[mistake] else "ok", trial)

    def test_softmax_against_torch(self):
        k = self.tune("softmax", "softmax<BLOCK, NAIVE>", parameters={"BLOCK": [64, 256, 1024], "NAIVE": [0, 1]},
                      reference=lambda x: torch.softmax(x, dim=1), tolerance="torch",
                      args=lambda ROWS, COLS, rng: dict(cols=COLS, x=rng.normal(ROWS, COLS), y=rng.empty(ROWS, COLS)),
                      grid="ROWS", block="BLOCK", sizes=[(4096, 4096)], check_sizes=[(1, 1), (3, 37), (2, 1300)])
        self.outcomes(k, "NAIVE")
        x = torch.randn(4096, 4096, device="cuda")
        y = torch.empty_like(x)
        k(4096, x, y)
        torch.testing.assert_close(y, torch.softmax(x, dim=1))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            k(4096, x, y)
        x.normal_()
        graph.replay()
        torch.testing.assert_close(y, torch.softmax(x, dim=1))

    def kernel(self):
        @tuner.kernel(source_of("softmax"), "softmax<BLOCK, NAIVE>", parameters={"BLOCK": [64, 256], "NAIVE": [0]}, grid="ROWS", block="BLOCK",
                      args=lambda ROWS, COLS, rng: dict(cols=COLS, x=rng.normal(ROWS, COLS), y=rng.empty(ROWS, COLS)),
                      sizes=[(512, 1024)], check_sizes=[(1, 1), (3, 37)], backend="cuda", database=self.folder / "results.db",
                      folder=self.folder / "spaces", max_evals=2)
        def softmax(x):
            return torch.softmax(x, dim=1)

        return softmax

    def test_an_operator_of_pytorch_writes_in_place(self):
        operator = self.kernel().torch_operator("tuner_test::softmax_")

        def doubled(x):
            y = torch.empty_like(x)
            operator(x.shape[1], x, y)
            return 2 * y

        x = torch.randn(512, 1024, device="cuda")
        torch.library.opcheck(operator, (1024, x, torch.empty_like(x)))
        torch.testing.assert_close(doubled(x), 2 * torch.softmax(x, dim=1))
        compiled = torch.compile(doubled, fullgraph=True)
        for rows in (512, 100, 7):  # static, then symbolic sizes
            part = x[:rows].clone()
            torch.testing.assert_close(compiled(part), 2 * torch.softmax(part, dim=1))
        torch.testing.assert_close(torch.compile(doubled, mode="reduce-overhead")(x), 2 * torch.softmax(x, dim=1))

    def test_an_operator_of_pytorch_returns_new_tensors(self):
        operator = self.kernel().torch_function("tuner_test::softmax")

        def setup(ctx, inputs, output):
            ctx.save_for_backward(output)

        def backward(ctx, gradient):
            [y] = ctx.saved_tensors
            return None, y * (gradient - (gradient * y).sum(dim=1, keepdim=True))

        operator.register_autograd(backward, setup_context=setup)
        x = torch.randn(512, 1024, device="cuda", requires_grad=True)
        weights = torch.randn(512, 1024, device="cuda")
        torch.library.opcheck(operator, (1024, x))
        for function in (lambda x: operator(x.shape[1], x), torch.compile(lambda x: operator(x.shape[1], x), fullgraph=True)):
            x.grad = None
            (function(x) * weights).sum().backward()
            found, x.grad = x.grad, None
            (torch.softmax(x, dim=1) * weights).sum().backward()
            torch.testing.assert_close(found, x.grad)
        graph, fixed = torch.cuda.CUDAGraph(), x.detach().clone()
        with torch.no_grad(), torch.cuda.graph(graph):
            y = operator(1024, fixed)
        fixed.normal_()
        graph.replay()
        torch.testing.assert_close(y, torch.softmax(fixed, dim=1))

    def test_inductor_chooses_between_the_kernel_and_its_reference(self):
        from torch._inductor import select_algorithm
        operator = self.kernel().torch_choice("tuner_test::softmax_choice")
        timed = []
        select_algorithm.add_feedback_saver(lambda timings, *rest: timed.append([choice.name for choice in timings]))
        self.addCleanup(select_algorithm.clear_feedback_savers)
        x = torch.randn(512, 1024, device="cuda")
        torch.library.opcheck(operator, (x, 1024))
        compiled = torch.compile(lambda x: 2 * operator(x, x.shape[1]), mode="max-autotune-no-cudagraphs", fullgraph=True)
        torch.testing.assert_close(compiled(x), 2 * torch.softmax(x, dim=1))
        self.assertEqual([len(each) for each in timed], [2], timed)

    def test_a_prepared_size_is_captured(self):
        k = self.kernel().tuned
        x, y = torch.randn(333, 77, device="cuda"), torch.empty(333, 77, device="cuda")
        k.prepare((333, 77))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            k(77, x, y)
        graph.replay()
        torch.testing.assert_close(y, torch.softmax(x, dim=1))

    def test_arrays_of_cupy_on_their_stream(self):
        k = self.kernel().tuned
        with cupy.cuda.Stream(non_blocking=True) as stream:
            x = cupy.sin(cupy.arange(512 * 1024, dtype="f4")).reshape(512, 1024)
            y = cupy.empty_like(x)
            k(1024, x, y)
            stream.synchronize()
        torch.testing.assert_close(torch.as_tensor(y, device="cuda"), torch.softmax(torch.as_tensor(x, device="cuda"), dim=1))

    def test_arrays_that_do_not_fit(self):
        k = self.kernel().tuned
        x = torch.randn(512, 1024, device="cuda")
        with self.assertRaisesRegex(ValueError, "not contiguous"):
            k(1024, x.t().contiguous().t(), torch.empty_like(x))
        with self.assertRaisesRegex(ValueError, "not contiguous"):
            k(1024, x[:1].expand(512, 1024), torch.empty_like(x))
        with self.assertRaisesRegex(ValueError, "is on cpu"):
            k(1024, x.cpu(), torch.empty_like(x))

    def scale(self, count, reference=lambda x: 2 * x, **given):
        source = "__global__ void scale(long long n, const float* x, float* y) {\n" \
                 "  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n  if (i < n) y[i] = 2 * x[i];\n}\n"
        return tuner.tune(source, "scale", args=lambda N, rng: dict(n=N, x=rng.normal(N), y=rng.empty(N)), grid="ceil_div(N, BLOCK)", block="BLOCK",
                          parameters={"BLOCK": [256, 512]}, sizes=[count], check_sizes=[1, 37], reference=reference,
                          backend="cuda", database=self.folder / "results.db", folder=self.folder / "spaces", effort="quick", **given)

    def test_tensors_make_room(self):
        _memory._release_caches()  # of other tests
        count = 1 << 23  # 0.75 GiB to be checked
        filler = torch.empty(torch.cuda.mem_get_info()[0] - (5 << 30), dtype=torch.int8, device="cuda")
        large = torch.zeros(9 << 27, device="cuda")  # of the 5 GiB 4.5
        view = large[100:200].fill_(7)
        with self.assertRaisesRegex(tuner.Error, "GPU 0 to be checked.*are free: this process holds.*offload=True"):
            self.scale(count)
        self.assertEqual(self.scale(count, offload=[large], time="20s").best().size, {"N": count})
        weights = torch.full((1 << 20,), 2.0, device="cuda")  # of the reference: back for it, away from the run
        k = self.scale(count, lambda x: torch.mul(x, weights[:1]), offload=[large, weights], time="20s")
        self.assertEqual((k.best().size, float(weights.sum())), ({"N": count}, 2 << 20))
        self.assertEqual((float(view.sum()), float(large[99]), float(large.max())), (700, 0, 7))
        large[150] = 0
        self.assertEqual(float(view.sum()), 693)  # one memory, as before
        del filler

    def test_a_reference_that_works_on_the_cpu(self):
        with self.assertRaisesRegex(tuner.Error, "returns y on the CPU .*its inputs are on GPU 0: let it keep their device"):
            self.scale(1000, lambda x: torch.mul(x.cpu(), 2))

    @unittest.skipIf(torch.cuda.device_count() < 2, "one GPU")
    def test_tensors_on_another_gpu(self):
        x = torch.ones(100, device="cuda:1")
        with self.assertRaisesRegex(ValueError, "x is on GPU 1, tuned is on GPU 0: move it, or pass device=1"):
            tuner.tune("__global__ void copy(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }", args={"x": x, "y": torch.empty_like(x)},
                       grid=1, block=100, reference=lambda x: x + 0, backend="cuda")

    def test_the_notebook_runs(self):
        with unittest.mock.patch.dict(os.environ, {"TUNER_DB": str(self.folder / "results.db"), "XDG_DATA_HOME": str(self.folder)}):
            _, [_, k, failures, error] = notebook.run(ROOT / "examples/python/tune.ipynb")
        self.assertEqual((k.backend, list(failures)), ("cuda", ["wrong_result"]))
        self.assertLess(error, 1e-3)

    def test_quantized_product_against_torch(self):
        def gemv(q, scale, x):
            weights = torch.stack([q & 15, q >> 4], dim=-1).reshape(*scale.shape, 32).to(x.dtype) - 8
            return (scale * (weights * x.reshape(1, -1, 32)).sum(dim=2)).sum(dim=1)

        k = self.tune("quantized", "gemv<BLOCK, SKIP>", parameters={"BLOCK": [32, 128], "SKIP": [0, 1]}, reference=gemv,
                      args=lambda ROWS, GROUPS, rng: dict(
                          rows=ROWS, groups=GROUPS, q=rng.integers(0, 256, ROWS, GROUPS * 16), scale=rng.normal(ROWS, GROUPS),
                          x=rng.normal(GROUPS * 32), y=rng.empty(ROWS)),
                      grid="ceil_div(ROWS, BLOCK)", block="BLOCK", sizes=[(4096, 128)], check_sizes=[(1, 1), (37, 3), (130, 2)])
        self.outcomes(k, "SKIP")

    def test_stencil_against_cupy(self):
        def stencil(c, **arrays):
            p = cupy.pad(arrays["in"], 1)
            return c * p[1:-1, 1:-1] + p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]

        k = self.tune("stencil", parameters={"TILE_X": [32], "TILE_Y": [4, 8], "EARLY": [0, 1]}, reference=stencil,
                      args=lambda H, W, rng: {"h": H, "w": W, "c": -4.0, "in": rng.normal(H, W), "out": rng.empty(H, W)},
                      grid=lambda p, s: (-(-s.W // p.TILE_X), -(-s.H // p.TILE_Y)), block=("TILE_X", "TILE_Y"),
                      sizes=[(4096, 4096)], check_sizes=[(1, 1), (37, 41), (64, 32)])
        self.outcomes(k, "EARLY")
        array = cupy.sin(cupy.arange(512 * 512, dtype="f4")).reshape(512, 512)
        result = cupy.empty_like(array)
        k(h=512, w=512, c=-4.0, **{"in": array}, out=result)
        cupy.testing.assert_allclose(result, stencil(numpy.float32(-4), **{"in": array}), rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    unittest.main()
