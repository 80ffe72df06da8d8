# SPDX-License-Identifier: Apache-2.0
"""`tune space results`: another program computes the results of a reference, and a run compares with them."""

import array
import copy
import json
import pathlib
import subprocess
import unittest

from program import SCALE_SOURCES, SCALE_SPACE, TUNE, ProgramTest

CODES = {"F32": "f", "F64": "d"}


def read(path):
    """Texts and the arrays of a safetensors file."""
    content = pathlib.Path(path).read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8:8 + length])
    texts, arrays = header.pop("__metadata__", {}), {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        if entry["dtype"] in CODES:
            arrays[name] = array.array(CODES[entry["dtype"]], content[8 + length + begin:8 + length + end])
    return texts, arrays


def write(path, dtype, values):
    data = array.array(CODES[dtype], values).tobytes()
    header = json.dumps({"y": {"dtype": dtype, "shape": [len(values)], "data_offsets": [0, len(data)]}}).encode()
    pathlib.Path(path).write_bytes(len(header).to_bytes(8, "little") + header + data)


class ResultsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.space = self.directory / "scale.json"
        document = copy.deepcopy(SCALE_SPACE)
        document["check"]["reference"] = {"results": "expected"}
        del document["kernels"]["plain"]
        self.space.write_text(json.dumps(document))
        (self.directory / "scale.cu").write_text(SCALE_SOURCES["scale.cu"])

    def answered(self, answer, *options):
        """The command with a function that answers requests: its exit code, last line, errors, requests."""
        running = subprocess.Popen([TUNE, "space", "results", self.space, "--backend", "cpu", *options], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.environment())
        requests, last = [], None
        for line in running.stdout:
            last = json.loads(line)
            if "inputs" not in last:
                continue
            texts, arrays = read(last["inputs"])
            requests.append(texts)
            said = answer(texts, arrays, last)
            if said is None:
                running.stdin.close()
                break
            running.stdin.write(said + "\n")
            running.stdin.flush()
        with running:
            if not running.stdin.closed:
                running.stdin.close()
            errors = running.stderr.read()
        return running.returncode, last, errors, requests

    @staticmethod
    def twice(texts, arrays, request, factor=2):
        kind = json.loads(texts["outputs"])["y"]["dtype"]
        write(request["results"], kind, [factor * x for x in arrays["x"]])
        return "ok"

    def tune(self, *options):
        return subprocess.run([TUNE, "--space", self.space, "--kernel", "scale", "--backend", "cpu", "--json", *options], text=True,
                              capture_output=True, env=self.environment())

    def outcomes(self, *options):
        done = self.tune(*options)
        self.assertTrue(done.stdout, done.stderr)
        return json.loads(done.stdout)["kernels"][0]["sizes"][0]["outcomes"]

    def make(self, answer=twice.__func__):
        code, last, errors, requests = self.answered(answer)
        self.assertEqual(code, 0, errors)
        return last, requests

    def test_a_run_compares_with_the_results(self):
        last, requests = self.make()
        self.assertEqual(last["made"], last["files"])
        self.assertEqual({request["precision"] for request in requests}, {"own", "double"})
        self.assertIn("zeros", {request["law"] for request in requests})
        self.assertEqual({json.loads(request["size"])["N"] for request in requests}, {1, 33, 64})
        self.assertEqual(self.outcomes(), {"ok": 2})
        self.assertEqual(self.outcomes(), {"ok": 2})  # reused

    def test_a_kernel_that_differs_is_refused(self):
        self.make()
        source = self.directory / "scale.cu"
        source.write_text(source.read_text().replace("2 * x[i]", "(BLOCK == 64 && i == 32 ? 2.0001f : 2.f) * x[i]"))
        self.assertEqual(self.outcomes(), {"ok": 1, "wrong_result": 1})

    def test_results_are_kept_and_changed_ones_replaced(self):
        first, requests = self.make()
        again, fewer = self.make()
        self.assertEqual((again["identity"], again["made"], again["replaced"]), (first["identity"], 0, 0))
        self.assertLess(len(fewer), len(requests) / 2)  # the effect of rounding errors is stored
        self.assertEqual(self.outcomes(), {"ok": 2})
        other, _ = self.make(lambda *given: self.twice(*given, factor=3))
        self.assertNotEqual(other["identity"], first["identity"])
        self.assertEqual(other["replaced"], other["files"])
        self.assertEqual(self.outcomes(), {"wrong_result": 2})

    def test_missing_and_changed_files_end_a_run(self):
        done = self.tune()
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "expected: has no results for these inputs.*make them by `tune space results`")
        self.make()
        done = self.tune("--seed", "7")
        self.assertRegex(done.stderr, "has no results for these inputs .*seed 7")
        for file in (self.directory / "expected").glob("*.safetensors"):
            content = bytearray(file.read_bytes())
            content[-1] ^= 1
            file.write_bytes(content)
        done = self.tune("--fresh")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "is not the file that the manifest .* names")
        self.make()  # makes them again
        self.assertEqual(self.outcomes("--fresh"), {"ok": 2})

    def test_a_program_may_refuse_the_inputs_of_a_law(self):
        def picky(texts, arrays, request):
            return "refused: not below 0" if texts["law"] == "negative" else self.twice(texts, arrays, request)

        self.make(picky)
        done = subprocess.run([TUNE, "judge", self.space, "--backend", "cpu", "--json"], text=True, capture_output=True,
                              env=self.environment())
        left_out = {law["law"]: law["reason"] for law in json.loads(done.stdout)["laws_left_out"]}
        self.assertIn("not below 0", left_out["negative"])

    def test_answers_that_are_none_end_the_command(self):
        def answer(said, dtype="F32", count=None):
            def function(texts, arrays, request):
                if dtype:
                    write(request["results"], dtype, [0.0] * (len(arrays["x"]) if count is None else count))
                return said
            return function

        for function, text in ((answer("failed: out of memory"), "out of memory"),
                               (answer("fine"), r'"fine" on stdin is no answer'),
                               (answer("ok", dtype=None), "there is no file"),
                               (answer("ok", dtype="F64"), "elements of type F64; the output has"),
                               (answer("ok", count=7), '"y" has 7 elements'),
                               (answer(None), "ended without an answer.*what is finished is kept")):
            code, _, errors, _ = self.answered(function)
            self.assertNotEqual(code, 0)
            self.assertRegex(errors, text)
        pathlib.Path(self.directory / "expected/manifest.json").write_text("{}")
        self.assertRegex(self.answered(self.twice)[2], "is no manifest of results")

    def test_a_file_that_is_no_safetensors_is_refused(self):
        for content, text in ((b"", "shorter than 8 bytes"), (b"\xff" * 8, "header is longer"),
                              (b"\x02" + b"\0" * 7 + b"[]", "header is no object"),
                              (self.with_header({"y": {"dtype": "Q3", "shape": [1], "data_offsets": [0, 4]}}), "type Q3"),
                              (self.with_header({"y": {"dtype": "F32", "shape": [1 << 40, 1 << 40], "data_offsets": [0, 4]}}), "larger"),
                              (self.with_header({"y": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}), "does not lie"),
                              (self.with_header({"y": {"dtype": "F32"}}), "shape")):
            def function(texts, arrays, request):
                pathlib.Path(request["results"]).write_bytes(content)
                return "ok"

            code, _, errors, _ = self.answered(function)
            self.assertNotEqual(code, 0)
            self.assertRegex(errors, text)

    @staticmethod
    def with_header(header):
        text = json.dumps(header).encode()
        return len(text).to_bytes(8, "little") + text + b"\0\0\0\0"

    def test_what_a_space_file_may_say(self):
        def refused(change, text):
            document = json.loads(self.space.read_text())
            change(document)
            other = self.directory / "other.json"
            other.write_text(json.dumps(document))
            done = subprocess.run([TUNE, "space", "check", other], text=True, capture_output=True, env=self.environment())
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertRegex(done.stderr, text)

        refused(lambda it: it["check"]["reference"].update(results="../x"), "must be a folder below")
        refused(lambda it: it["check"]["reference"].update(results="/x"), "must be a folder below")
        refused(lambda it: it["check"]["reference"].update(kind=1), "kind")
        refused(lambda it: it["kernels"]["scale"].update(check_sizes=[["BLOCK"]]), "sizes of one kernel")
        done = subprocess.run([TUNE, "space", "check", self.space], text=True, capture_output=True, env=self.environment())
        self.assertIn("results are checked against the results in expected", done.stdout)
        done = subprocess.run([TUNE, "space", "results", pathlib.Path(__file__).parents[2] / "spaces/copy.json"], text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, env=self.environment())
        self.assertRegex(done.stderr, "names no folder of results")


if __name__ == "__main__":
    unittest.main()
