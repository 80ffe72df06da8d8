# SPDX-License-Identifier: Apache-2.0
"""References in Python on requests as `tune space results` makes them, and the files they travel in."""

import json
import os
import pathlib
import tempfile
import time
import unittest
import unittest.mock

import numpy

from tuner import _program, _safetensors
from tuner._reference import Reference, BadReference, library_of


def request(folder, arrays, outputs, size, law="", precision="own"):
    """A file of inputs, and the line that announces it."""
    path = folder / "inputs.safetensors"
    _safetensors.write(path, arrays)
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8:8 + length])
    header["__metadata__"] = {"size": json.dumps(size), "inputs": f"size {size['N']}, normal inputs", "law": law,
                              "precision": precision, "outputs": json.dumps(outputs)}
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + length:])
    return json.dumps({"inputs": str(path), "results": str(folder / "results.safetensors")})


class ReferenceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tune-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def served(self, function, *, kind="F32", outputs=("y",), x=None, wanted=None, device=("cpu", 0), **options):
        """The answer, and the results where it is "ok"."""
        x = numpy.arange(6, dtype=_safetensors.stored_dtype(kind)) if x is None else x
        arrays = {"n": ("I32", numpy.array(6, "<i4")), "a": ("F32", numpy.array(2, "<f4")), "x": (kind, x)}
        line = request(self.folder, arrays, wanted or {name: {"dtype": kind, "count": 6} for name in outputs}, {"N": 6}, **options)
        shapes = {name: lambda size: (size["N"],) for name in ("x", "y", "z")}
        reference = Reference(function, ["n", "a", "x", "y"], outputs, shapes, device)
        answers = []
        reference.serve(iter([line, json.dumps({"identity": "1"})]), answers.append, lambda count: None)
        written = _safetensors.read(self.folder / "results.safetensors")[1] if answers == ["ok"] else None
        return answers, written

    def refuses(self, function, text, **options):
        with self.assertRaisesRegex((BadReference, TypeError), text):
            self.served(function, **options)

    def test_results_are_written(self):
        answers, written = self.served(lambda a, x: a * x)
        self.assertEqual(answers, ["ok"])
        self.assertEqual(written["y"][1].tolist(), [0, 2, 4, 6, 8, 10])
        _, written = self.served(lambda x: {"y": x, "z": x + 1}, outputs=("y", "z"))
        self.assertEqual(written["z"][1][0], 1)
        self.assertEqual(self.served(lambda a, **others: a * others["x"])[1]["y"][1][1], 2)  # y has no content
        self.assertEqual(self.served(lambda x: x.astype("f8"))[1]["y"][1].dtype, "f4")  # rounded once

    def test_mistakes_of_a_reference_are_named(self):
        self.refuses(lambda x: 1 / 0, "raised ZeroDivisionError.*size 6, normal inputs.*correct it")
        self.refuses(lambda x: None, "returns None.*must return y")
        self.refuses(lambda x: x[:5], r"shape \(5,\).*the output has \(6,\)")
        self.refuses(lambda x: x.reshape(2, 3), r"shape \(2, 3\)")
        self.refuses(lambda x: x.astype("i4"), "of type I32.*the output is of type F32")
        self.refuses(lambda x: x.astype("f2"), "of type F16")
        self.refuses(lambda x: 3.0, "float for y.*must be an array")
        self.refuses(lambda x: (x, x), "must be an array|2 results")
        self.refuses(lambda x: (x,), "1 results", outputs=("y", "z"))
        self.refuses(lambda x: numpy.add(x, 1, out=x), "changes its input x.*copy")
        self.refuses(lambda x: x + numpy.float32(time.perf_counter_ns() % 997), "another y each time")
        self.refuses(lambda w: w, "must be named as those of the kernel")
        self.refuses(lambda x, y: y, "takes y, whose content no kernel reads")

    def test_results_on_another_gpu_are_refused(self):
        class Elsewhere:  # as CuPy's
            shape, dtype = (6,), numpy.dtype("f4")
            __cuda_array_interface__ = {"typestr": "<f4", "shape": (6,), "data": (4096, False), "version": 3}

            def __dlpack_device__(self):
                return 2, 1

            def __array__(self, dtype=None):
                return numpy.zeros(6, "f4")

        self.refuses(lambda x: Elsewhere(), "returns y on GPU 1.*its inputs are on GPU 0: let it keep their device", device=("cuda", 0))

    def test_a_law_is_left_out_where_the_reference_raises(self):
        def picky(x):
            raise ValueError("singular")

        self.assertEqual(self.served(picky, law="zeros")[0], ["refused: ValueError: singular"])
        self.assertEqual(self.served(picky, precision="double")[0], ["refused: ValueError: singular"])

    def test_a_reference_in_one_precision_is_not_evaluated_in_double(self):
        line_of = {"y": {"dtype": "F64", "count": 6}}
        answers, _ = self.served(lambda x: x, precision="double", wanted=line_of)
        self.assertRegex(answers[0], "refused: .*of type F32.*the output is of type F64")

    def test_a_command_that_says_nothing_is_stopped(self):
        program = self.folder / "tune"
        program.write_text("#!/bin/sh\necho asked; read answer; echo $answer; sleep 1000\n")
        program.chmod(0o755)
        with unittest.mock.patch.dict(os.environ, {"TUNER_PROGRAM": str(program)}), _program.Running([], silence_s=0.5) as running:
            lines = running.lines()
            self.assertEqual(next(lines), "asked")
            time.sleep(1)  # it waits for this process
            running.answer("slow")
            self.assertEqual(list(lines), ["slow"])
            self.assertRegex(str(running.error(running.finish())), "tune said nothing for 0.5 s")

    def test_interruption_ends_the_command(self):
        def interrupted(x):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.served(interrupted)

    def test_narrow_types_are_floats_for_numpy(self):
        bits = numpy.array([0x3F80, 0x4000, 0xC040, 0, 0x8000, 0x7F80], "<u2")  # 1, 2, −3, 0, −0, infinity
        _, written = self.served(lambda x: x * numpy.float32(1.0), kind="BF16", x=bits)
        self.assertEqual(written["y"][1].tolist(), bits.tolist())

    def test_every_narrow_number_survives(self):
        for kind in ("BF16", "F8_E4M3", "F8_E5M2"):
            bits = numpy.arange(1 << 16 if kind == "BF16" else 256).astype(_safetensors.stored_dtype(kind))
            numbers = _safetensors.widened(bits, kind)
            again = _safetensors.widened(_safetensors.narrowed(numbers, kind), kind)
            numpy.testing.assert_array_equal(numbers, again)

    def test_narrow_numbers_are_rounded_to_even(self):
        self.assertEqual(_safetensors.narrowed(numpy.float32([1 + 1 / 256, 1 + 3 / 256, 1 + 1.001 / 256]), "BF16").tolist(),
                         [0x3F80, 0x3F82, 0x3F81])
        values = _safetensors.widened(_safetensors.narrowed(numpy.float32([17, 19, 17.1, 449, -1e-9]), "F8_E4M3"), "F8_E4M3")
        self.assertEqual(values.tolist(), [16, 20, 18, 448, 0])

    def test_the_library_is_that_of_the_functions(self):
        self.assertEqual(library_of(lambda x: numpy.exp(x)), "numpy")
        self.assertEqual(library_of(lambda x: x), "numpy")


if __name__ == "__main__":
    unittest.main()
