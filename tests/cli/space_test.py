# SPDX-License-Identifier: Apache-2.0
"""`tune space` and space files that are wrong: one message, the exit code, no database made."""

import json
import signal
import struct
import time
import unittest

from program import GEMM, PATIENCE, ROOT, SCALE_SOURCES, SCALE_SPACE, ProgramTest


class SpaceTest(ProgramTest):
    def test_check_count_and_show(self):
        self.assertIn("gemm_naive: 2 parameters, 1 constraint, 66 valid", self.tune("space", "check", GEMM).stdout)
        text = self.tune("space", "count", GEMM, "--kernel", "gemm_naive").stdout
        self.assertIn("66 valid configurations", text)
        self.assertIn("threads per block: within the device limit", text)
        (kernel,) = self.tune_json("space", "count", GEMM, "--kernel", "gemm_naive")["kernels"]
        self.assertEqual((kernel["cartesian"], kernel["valid"]), (121, 66))
        self.assertIn("threads of a block along M", self.tune("space", "show", GEMM).stdout)

    def test_an_installed_file_is_found_from_elsewhere(self):
        self.assertIn("66 valid", self.tune("space", "count", "spaces/gemm.json", "--kernel", "gemm_naive").stdout)
        self.refuse("space", "count", "spaces/other.json", code=2, says="spaces/other.json")

    def test_why_names_the_constraint(self):
        ask = ("space", "why", GEMM, "--kernel", "gemm_naive")
        self.assertIn("is valid", self.tune(*ask, "BLOCK_X=32").stdout)
        rejected = self.tune(*ask, "BLOCK_X=1024,BLOCK_Y=2", code=4).stdout
        self.assertIn("threads per block: within the device limit", rejected)
        self.refuse(*ask, code=2, says="which configuration?")
        self.refuse(*ask, "BLOK_X=1", code=2, says="did you mean 'BLOCK_X'?")
        self.refuse("space", "why", GEMM, "BLOCK_X=1", code=2, says="name one with --kernel: gemm_naive, ")
        self.refuse(*ask, "BLOCK_X=1", "BLOCK_Y=2", code=2, says="'BLOCK_Y=2' is one argument too many: commas join values, such as A=1,B=2")

    @staticmethod
    def hash_of(count, most):
        """Parameters of which nothing that equal sums have in common can be kept: there are too many."""
        total = " + ".join(f"P{i} * {1299709 + 104729 * i * i}" for i in range(count))
        return {"parameters": {f"P{i}": {"range": [1, most, 1], "default": 1, "kind": "define"} for i in range(count)},
                "constraints": [{"expr": f"({total}) % 1000003 == 5", "why": "a hash"}]}

    def test_a_space_that_is_too_hard_is_refused(self):
        def hard(space):
            space["kernels"]["scale"]["parameters"].update(self.hash_of(6, 60)["parameters"])
            space["kernels"]["scale"]["constraints"] = self.hash_of(6, 60)["constraints"]
        for action in ("count", "check", "show"):
            with self.subTest(action=action):
                self.refuse("space", action, self.space_file(hard), code=2,
                            says=["tie P0, P1, P2, P3, P4, P5 together", "takes too long", "fewer values"])

    def test_a_count_that_takes_long_says_so_and_can_be_ended(self):
        def slow(space):  # each within the limit
            for i in range(300):
                space["kernels"][f"scale{i}"] = {**space["kernels"]["plain"], **self.hash_of(5, 24)}
        run = self.start("space", "count", self.space_file(slow),
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        begin = time.monotonic()
        self.assertIn("finding the valid configurations", run.stderr.readline())
        self.assertGreater(time.monotonic() - begin, 1.5)
        sent = time.monotonic()
        run.send_signal(signal.SIGINT)
        run.wait(timeout=PATIENCE)
        self.assertLess(time.monotonic() - sent, 2)
        self.assertEqual(run.returncode, -signal.SIGINT)

    def test_names_that_are_not_there(self):
        self.refuse("space", "check", GEMM, "--kernel", "gemm_nave", code=2, says="did you mean 'gemm_naive'?")
        self.refuse("space", "check", GEMM, "--device", "h20", code=2, says="did you mean 'h200'?")
        self.refuse("space", "check", code=2, says="file")


class CoverageTest(ProgramTest):
    PLAIN = ("__global__ void plain(int N, const float* x, float* y) {\n"
             "  const int i = blockIdx.x * 32 + threadIdx.x;\n"
             "  if (i >= N) return;\n"
             "  y[i] = x[i] > 20 ? 40 : 2 * x[i];\n"
             "}\n")

    @staticmethod
    def ordinary(space):
        """By a law, an input may reach what is to be missing here."""
        space["arguments"][1]["laws"] = {"exclude": ["zeros", "magnitudes", "offsets", "outliers", "equal", "negative",
                                                     "small", "wide", "shared", "runs"], "reason": "ordinary numbers"}

    def check(self, plain, *options, change=None):
        def both(space):
            self.ordinary(space)
            if change:
                change(space)
        space = self.space_file(both, {"plain.cu": plain})
        return self.tune("space", "check", "--coverage", "--backend", "cpu", space, *options)

    @staticmethod
    def warnings(done):
        """Without what is said where the machine is slow."""
        return [line for line in done.stderr.splitlines() if not line.endswith("Ctrl-C ends it")]

    def test_all_is_reached(self):
        done = self.check(SCALE_SOURCES["plain.cu"])
        self.assertIn("coverage: the checks reach all of the reference: 1 condition\n", done.stdout)
        self.assertEqual(self.warnings(done), [])

    def test_what_no_check_reaches_is_listed_until_one_does(self):
        done = self.check(self.PLAIN)
        self.assertIn("warning: no check reached 1 part of the reference kernel", done.stderr)
        self.assertIn("  plain.cu:4: `x[i] > 20 ? …` was never true in any check: add a \"fill\", a case or a check size",
                      done.stderr)
        coverage = json.loads(self.check(self.PLAIN, "--json").stdout)["coverage"]
        self.assertEqual((coverage["conditions"], coverage["problem"]), (2, ""))
        (gap,) = coverage["gaps"]
        self.assertEqual((gap["file"], gap["line"], gap["text"], gap["within"], gap["unseen"]),
                         ("plain.cu", 4, "x[i] > 20 ? …", "", "never_true"))

        def wide(space):
            space["arguments"][1]["fill"] = {"uniform": [-50, 50]}
        self.assertEqual(self.warnings(self.check(self.PLAIN, change=wide)), [])

    def test_sizes_that_are_multiples_of_the_block(self):
        def exact(space):
            space["check"]["sizes"] = [[32], [64]]
        done = self.check(SCALE_SOURCES["plain.cu"], change=exact)
        self.assertIn("plain.cu:3: `if (i < N)` was never false in any check: add a check size, such as no multiple of "
                      "the block", done.stderr)

    def test_a_reference_without_a_source_has_none(self):
        done = self.tune("space", "check", "--coverage", "--backend", "cpu", GEMM, "--kernel", "gemm_naive")
        self.assertIn("coverage: the reference is no kernel of the file", done.stdout)
        self.assertIsNone(self.tune_json("space", "check", "--coverage", GEMM, "--kernel", "gemm_naive")["coverage"])

    def test_a_source_that_takes_no_probes_is_said_and_loses_nothing(self):
        plain = "#define saw seen\n" + SCALE_SOURCES["plain.cu"]
        done = self.check(plain)
        self.assertIn("the default is valid", done.stdout)
        self.assertIn("warning: what the checks reach of the reference kernel is not known", done.stderr)
        self.assertIn("compile_error", done.stderr)

    def test_a_reference_that_cannot_run_is_one_error(self):
        space = self.space_file(sources={"plain.cu": SCALE_SOURCES["plain.cu"].replace("2 *", "two *")})
        self.refuse("space", "check", "--coverage", "--backend", "cpu", space, code=1, says=["plain", "two"])

    def test_tune_names_three_after_the_first_trial(self):
        conditions = "".join(f"  if (x[i] > {limit}) y[i] = {limit};\n" for limit in (20, 30, 40, 50))
        plain = SCALE_SOURCES["plain.cu"].replace("  if (i < N) y[i] = 2 * x[i];\n",
                                                  "  if (i >= N) return;\n  y[i] = 2 * x[i];\n" + conditions)
        run = ("--space", self.space_file(self.ordinary, {"plain.cu": plain}), "--kernel", "scale", "--backend", "cpu", "--max-evals", 2)
        done = self.tune(*run)
        self.assertEqual(done.stderr.count("warning: no check reached 4 parts of the reference kernel"), 1)
        self.assertIn("`tune space check --coverage FILE` lists all", done.stderr)
        self.assertEqual([f"`if (x[i] > {limit})`" in done.stderr for limit in (20, 30, 40, 50)], [True, True, True, False])
        self.assertIn("BLOCK=", done.stdout)
        again = self.tune_json(*run, "--fresh", "--log", "events")
        self.assertEqual([gap["line"] for gap in again["coverage"]["gaps"]], [5, 6, 7, 8])
        events = [json.loads(line) for line in (self.directory / "events").read_text().splitlines()]
        self.assertEqual([event["event"] for event in events if event["event"] == "coverage"], ["coverage"])


class InitTest(ProgramTest):
    def test_a_draft_passes_the_check_and_can_be_tuned(self):
        self.text_file("scale.cu", SCALE_SOURCES["scale.cu"].replace("[i] = 2 *", "[i] = s *")
                       .replace("const float* x", "float s, const float* x"))
        done = self.tune("space", "init", "scale.cu", "-o", "spaces/scale.json")
        self.assertIn("tune space check spaces/scale.json", done.stderr)
        self.assertIn("// TODO", (self.directory / "spaces/scale.json").read_text())
        self.assertIn("the default is valid", self.tune("space", "check", "spaces/scale.json").stdout)
        run = self.tune("-q", "--space", "spaces/scale.json", "--kernel", "scale", "--backend", "cpu", "--size", "1000",
                        "--max-evals", "2")
        self.assertIn("BLOCK=", run.stdout)

    def test_a_draft_of_bools_and_structs_can_be_tuned(self):
        self.text_file("k.cu", "struct Point { float x, y; };\n"
                       "__global__ void k(int n, const bool* on, const Point* from, float* to, bool all) {\n"
                       "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                       "  if (i < n) to[i] = on[i] || all ? from[i].x * from[i].y : 0;\n}\n")
        self.tune("space", "init", "k.cu", "-o", "k.json")
        self.assertIn("the default is valid", self.tune("space", "check", "k.json").stdout)
        run = self.tune("-q", "--space", "k.json", "--kernel", "k", "--backend", "cpu", "--size", "1000", "--max-evals", "2")
        self.assertIn("THREADS=", run.stdout)

    def test_what_was_edited_is_not_replaced(self):
        self.text_file("scale.cu", SCALE_SOURCES["scale.cu"])
        edited = self.text_file("scale.json", "// edited")
        self.refuse("space", "init", "scale.cu", "-o", edited, code=2, says="exists already and is not replaced")
        self.assertEqual(edited.read_text(), "// edited")

    def test_drafts_of_published_kernels_pass_the_check(self):
        for name in ("examples/saxpy/saxpy.cu", "examples/own_kernel/rms_norm.cu", "kernels/gemm/gemm_shared_square.cu",
                     "kernels/reduction/reduction_plain.cu", "kernels/transpose/transpose_tiled.cu"):
            with self.subTest(source=name):
                self.tune("space", "init", ROOT / name, "-o", "draft.json")
                self.tune("space", "check", "draft.json")
                self.assertEqual(self.tune("space", "init", ROOT / name).stdout,
                                 (self.directory / "draft.json").read_text())
                (self.directory / "draft.json").unlink()

    def test_what_has_no_draft(self):
        self.refuse("space", "init", "none.cu", code=2, says="none.cu")
        self.refuse("space", "init", self.text_file("host.cu", "int main() {}"), code=2, says="no __global__ function")


class BadSpaceFileTest(ProgramTest):
    """Everything that reads a space file refuses it alike."""

    def refuse_space(self, path, says, code=2):
        for line in (["space", "check", path], ["--space", path, "--backend", "cpu"]):
            with self.subTest(line=line[0]):
                self.refuse(*line, code=code, says=says)
        self.assertFalse(self.database.exists())

    def test_no_such_file(self):
        self.refuse_space(self.directory / "none.json", "No such file")

    def test_a_directory(self):
        self.refuse_space(self.directory, "is a directory")

    def test_empty(self):
        self.refuse_space(self.text_file("empty.json", ""), "empty")

    def test_truncated(self):
        text = json.dumps(SCALE_SPACE)
        self.refuse_space(self.text_file("cut.json", text[:len(text) // 2]), "line 1")

    def test_not_json(self):
        self.refuse_space(self.text_file("kernel.json", "__global__ void f() {}\n"), "line 1, column 1")
        path = self.directory / "binary.json"
        path.write_bytes(bytes(range(128, 256)))
        self.refuse_space(path, "not valid JSON")

    def test_two_mebibytes(self):
        self.refuse_space(self.text_file("large.json", " " * (2 << 20) + "{}"), "1048576 bytes")

    def test_nested_ten_thousand_deep(self):
        self.refuse_space(self.text_file("deep.json", "[" * 10_000 + "]" * 10_000), "nested deeper than 32")
        self.refuse_space(self.text_file("deep2.json", '{"a":' * 10_000 + "1" + "}" * 10_000), "nested deeper")

    def test_a_duplicate_key(self):
        text = json.dumps(SCALE_SPACE).replace('"family"', '"format": "space/1", "family"')
        self.refuse_space(self.text_file("twice.json", text), '"format" appears twice')

    def test_sixty_thousand_keys(self):
        begin = time.monotonic()
        path = self.text_file("keys.json", json.dumps({**SCALE_SPACE, **{f"k{i}": i for i in range(60_000)}}))
        said = self.tune("space", "check", path, code=2).stderr
        self.assertEqual(said.count("unknown key"), 20)
        self.assertIn("and more", said)

        def parameters(space):
            space["kernels"]["scale"]["parameters"].update({f"P{i}": {"values": [1], "default": 1} for i in range(8_000)})
        self.refuse("space", "check", self.space_file(parameters), code=2, says="64")
        self.assertLess(time.monotonic() - begin, 5)

    def test_an_unknown_key(self):
        def change(space):
            space["kernels"]["scale"]["constrains"] = space["kernels"]["scale"].pop("constraints")
        self.refuse_space(self.space_file(change), ["kernels.scale", "did you mean 'constraints'?"])

    def test_a_type_that_is_not_the_kernels(self):
        path = self.space_file(lambda space: space["arguments"][1].update(type="int*"))
        self.refuse_space(path, ["scale.json: arguments: 'x' is int*", "parameter 2 of scale is 'const float* x' (scale.cu:1)",
                                 'write "type": "float*"'])
        self.refuse("bench", "--space", path, "--backend", "cpu", "--kernel", "scale", code=2, says="'x' is int*")

    def test_a_function_that_the_source_does_not_have(self):
        def change(space):
            space["kernels"]["plain"]["entry"] = "plan"
        says = ["kernels.plain.entry: plain.cu has no __global__ function 'plan'", "did you mean 'plain'?"]
        self.refuse_space(self.space_file(change), says)
        # It is the reference, whichever kernel is tuned.
        self.refuse("--space", self.space_file(change), "--backend", "cpu", "--kernel", "scale", code=2, says=says)

    def test_an_unknown_name_in_an_expression(self):
        def change(space):
            space["kernels"]["scale"]["launch"]["block"] = ["BLOK"]
        self.refuse_space(self.space_file(change), ["kernels.scale.launch.block[0]", "did you mean 'BLOCK'?", "^^^^"])

    def constrained(self, *expressions):
        def change(space):
            space["kernels"]["scale"]["constraints"] = [{"expr": expression, "why": "a test"}
                                                        for expression in expressions]
        return self.space_file(change)

    def test_a_kernel_for_other_cards_says_what_shows_why(self):
        says = "kernel scale has no valid configuration; `tune space count {} --kernel scale --device rtx4090` shows why"
        file = self.constrained("dev.compute_capability == 90")
        self.refuse("space", "check", file, "--device", "rtx4090", code=4, says=says.format(file))

    def test_a_constraint_that_has_no_value_for_any_configuration(self):
        self.refuse_space(self.constrained("BLOCK // (N - N) > 0"), "no valid configuration", code=4)
        self.refuse_space(self.constrained("BLOCK * 9223372036854775807 > 0"), "no valid configuration", code=4)

    def test_a_constraint_that_has_no_value_for_some_configurations(self):
        for expression in ("64 // (BLOCK - 64) != 0", "BLOCK * 288230376151711743 > 0"):
            with self.subTest(expression=expression):
                path = self.constrained(expression)
                self.assertIn("1 valid", self.tune("space", "check", path, "--kernel", "scale").stdout)
                text = self.tune("space", "why", path, "--kernel", "scale", "BLOCK=64", code=4).stdout
                self.assertRegex(text, "division by zero|overflow")

    def test_no_valid_configuration(self):
        self.refuse_space(self.constrained("BLOCK > 64"), "no valid configuration", code=4)

    def test_a_default_that_breaks_a_constraint(self):
        self.refuse_space(self.constrained("BLOCK > 32"), ["scale", "default configuration is not valid", "a test"])

    def test_a_kernel_for_other_devices_is_left_out(self):
        path = self.constrained("dev.compute_capability >= 90")
        done = self.tune("--space", path, "--backend", "cpu")
        self.assertRegex(done.stderr, "skipped: .* for kernel scale; the first: .*a test")
        self.assertIn("plain", done.stdout)

    def test_names_that_are_none(self):
        for name in ('a"b', "<script>alert(1)</script>", "../../etc/passwd", "a b", ""):
            with self.subTest(name=name):
                def change(space, name=name):
                    space["kernels"][name] = space["kernels"]["scale"]
                self.refuse_space(self.space_file(change), "is not a name")

    def test_sources_that_are_none(self):
        for source, says in (("none.cu", "none.cu"), ("/etc/passwd", "relative"), (".", "there is no file")):
            with self.subTest(source=source):
                def change(space, source=source):
                    space["kernels"]["scale"]["source"] = source
                self.refuse_space(self.space_file(change), ["kernels.scale.source", says])


class ArrayFileTest(ProgramTest):
    """Inputs that numpy.save wrote."""

    def change(self, space, sizes=((64,),)):
        space["arguments"][1]["fill"] = {"npy": "x.npy"}
        space["check"]["sizes"] = [list(size) for size in sizes]

    def save(self, count):
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({count},), }}".ljust(117) + "\n"
        (self.directory / "x.npy").write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + header.encode() + struct.pack(f"<{count}f", *range(count)))

    def test_a_check_opens_the_file(self):
        path = self.space_file(self.change)
        self.assertIn("x.npy is not there: save the array by numpy.save", self.tune("space", "check", path).stderr)
        self.save(64)
        self.assertNotIn("x.npy", self.tune("space", "check", path).stderr)
        self.save(63)
        self.refuse("space", "check", path, code=2, says="holds 63 elements, but at the size 64 the argument has 64")

    def test_check_sizes_must_be_that_of_the_file(self):
        path = self.space_file(lambda space: self.change(space, sizes=((64,), (33,))))
        self.save(64)
        for line in (("space", "check", path), ("--space", path, "--backend", "cpu", "--kernel", "scale")):
            with self.subTest(line=line[0]):
                self.refuse(*line, code=2, says=["holds 64 elements, but at the size 33 the argument has 33",
                                                 'tune and check only the size that it is for ("problem": "sizes"; "check": "sizes"'])


class BadSizeTest(ProgramTest):
    def test_sizes_that_are_none(self):
        for size, says in (("0,16,16", "is not in 1"), ("-1,16,16", "is not in 1"),
                           ("1099511627776,16,16", "is not in 1"), ("99999999999999999999,1,1", "is too large"),
                           ("16,16", "M,N,K"), ("16,16,16,16", "M,N,K"),
                           ("a,b,c", "not a whole number"), ("", "--size: a value is missing"),
                           ("16,,16", "a number is missing"), ("1e3,1,1", "not a whole number")):
            with self.subTest(size=size):
                self.refuse("--space", GEMM, "--backend", "cpu", f"--size={size}", code=2, says=says)
                self.refuse("space", "count", GEMM, f"--size={size}", code=2, says=says)
        self.assertFalse(self.database.exists())

    def test_a_size_that_no_memory_holds(self):
        self.refuse("--space", GEMM, "--kernel", "gemm_naive", "--backend", "cpu",
                    "--size", "2147483647,2147483647,2147483647", code=2, says="does not fit in memory")

    def test_a_buffer_whose_bytes_do_not_fit_into_64_bits(self):
        def change(space):  # 2^62 elements of 4 bytes at N = 2^20
            space["arguments"][1].update(count="4*N*N*N")
        self.refuse("--space", self.space_file(change), "--backend", "cpu", "--kernel", "scale",
                    "--size", "1048576", code=1, says="memory")

    def test_values_that_are_none(self):
        for assignment, says in (("FOO=1", "FOO"), ("BLOCK_X=7", "BLOCK_X"), ("BLOCK_X", "="), ("BLOCK_X=", "value")):
            with self.subTest(assignment=assignment):
                self.refuse("--space", GEMM, "--kernel", "gemm_naive", "--backend", "cpu", "--set", assignment,
                            code=2, says=says)

    def test_a_device_that_is_not_there(self):
        self.refuse("--space", GEMM, "--backend", "cpu", "--device", "7", code=3, says="7")


if __name__ == "__main__":
    unittest.main()
