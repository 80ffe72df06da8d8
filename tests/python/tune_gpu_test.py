# SPDX-License-Identifier: Apache-2.0
"""tuner.tune() on a GPU whose memory this process uses too, with references in PyTorch and CuPy."""

import pathlib
import sys
import tempfile
import unittest

try:
    import cupy
    import torch
except ImportError as error:
    print(f"{error.name} is not installed", file=sys.stderr)
    sys.exit(77)

import tuner

ROOT = pathlib.Path(__file__).resolve().parents[2]


def source_of(example):
    """The CUDA source in an example, and its mistakes with it."""
    return (ROOT / f"examples/python/{example}.py").read_text().split('"""')[3]


class GpuTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tune-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
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

    def test_an_operator_of_pytorch(self):
        @tuner.kernel(source_of("softmax"), "softmax<BLOCK, NAIVE>", parameters={"BLOCK": [64, 256], "NAIVE": [0]}, grid="ROWS", block="BLOCK",
                      args=lambda ROWS, COLS, rng: dict(cols=COLS, x=rng.normal(ROWS, COLS), y=rng.empty(ROWS, COLS)),
                      sizes=[(512, 1024)], check_sizes=[(1, 1), (3, 37)], backend="cuda", database=self.folder / "results.db",
                      folder=self.folder / "spaces", max_evals=2)
        def softmax(x):
            return torch.softmax(x, dim=1)

        operator = softmax.torch_operator("tuner_test::softmax")

        def doubled(x):
            y = torch.empty_like(x)
            operator(x.shape[1], x, y)
            return 2 * y

        x = torch.randn(512, 1024, device="cuda")
        torch.testing.assert_close(doubled(x), 2 * torch.softmax(x, dim=1))
        torch.testing.assert_close(torch.compile(doubled, fullgraph=True)(x), 2 * torch.softmax(x, dim=1))

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


if __name__ == "__main__":
    unittest.main()
