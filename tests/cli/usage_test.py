# SPDX-License-Identifier: Apache-2.0
"""The command line itself: help, mistakes and suggestions, output that cannot be written."""

import json
import os
import re
import signal
import subprocess
import unittest

from program import GEMM, PATIENCE, SEED, SHORT_RUN, TUNE, ProgramTest


class HelpTest(ProgramTest):
    def test_help_lists_the_commands(self):
        text = self.tune("--help").stdout
        for command in ("bench", "query", "report", "export", "runs", "space", "doctor"):
            self.assertIn(command, text)

    def test_every_command_has_help(self):
        for command in (["bench"], ["query"], ["report"], ["export"], ["runs", "show"], ["space", "why"], ["doctor"]):
            self.assertIn("--help", self.tune(*command, "--help").stdout)

    def test_help_has_examples_of_the_options_there_are_and_names_the_common_ones_once(self):
        common = set(re.findall(r"--[a-z][a-z-]*", self.tune("--help").stdout.split("Options")[1]))
        for command in ("finalize", "bench", "portfolio", "judge", "explain", "query", "report", "compare", "export", "import", "merge", "record"):
            text = self.tune(command, "--help").stdout
            described, examples = text.split("\nExamples\n")
            with self.subTest(command=command):
                self.assertNotIn("--trust-db", described)
                self.assertIn("Common options: tune --help", text)
                examples = examples.split("Common options")[0]
                self.assertEqual(len(re.findall(rf"tune {command}\b", examples)), 2, examples)
                for option in re.findall(r" (--?[a-z][a-z-]*)", examples.replace(" -- ", " ")):
                    self.assertTrue(re.search(rf"{option}[ ,\n]", described) or option in common, option)

    def test_version(self):
        self.assertRegex(self.tune("--version").stdout, r"^tune \d+\.\d+\.\d+ \((commit \w+, )?(CUDA [\d.]+|without CUDA), SQLite [\d.]+\)\n$")

    def test_it_starts_without_the_libraries_that_it_may_need_later(self):
        # OpenBLAS starts a thread for each core when it is loaded, cuBLAS takes 60 ms: on a machine
        # of 64 cores the first left a compiler no address space.
        done = subprocess.run([TUNE, "--version"], env=os.environ | {"LD_DEBUG": "libs"},
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertIn("libfmt", done.stderr)
        for library in ("openblas", "cublas", "nvrtc"):
            self.assertNotIn(library, done.stderr)

    def test_doctor_needs_nothing(self):
        self.assertIn("host compiler", self.tune("doctor", code=(0, 3)).stdout)
        document = self.tune_json("doctor", code=(0, 3))
        self.assertEqual(document["schema"], "tune.doctor/1")
        self.assertFalse(self.database.exists())
        found = {it["what"]: it["detail"] for it in document["findings"]}
        if "CUDA" in found:
            self.assertRegex(found["CUDA"], r"^built with \d+\.\d+; needs a driver that supports CUDA 1\d\.\d+, and NVRTC and cuBLAS of CUDA 1\d")

    def test_doctor_ends_by_what_is_missing(self):
        done = self.tune("doctor", "--json", code=(0, 3))
        missing = [found["what"] for found in json.loads(done.stdout)["findings"] if found["status"] == "missing"]
        self.assertEqual(done.returncode, 3 if missing else 0, missing)
        self.assertEqual(self.tune("doctor", code=3, env={"TUNER_HOST_CXX": "/no/such/compiler"}).stderr, "")
        self.text_file("results.db", "text")
        self.tune("doctor", code=3 if missing else 1)


class MissingGpuTest(ProgramTest):
    """What `auto` says where it takes the CPU."""

    def setUp(self):
        super().setUp()
        findings = json.loads(self.tune("doctor", "--json", code=(0, 3)).stdout)["findings"]
        if not any(found["status"] == "missing" for found in findings):
            self.skipTest("this machine has a GPU")

    def test_the_missing_driver_and_the_time_are_named_once(self):
        run = ("--space", self.space_file(), "--kernel", "scale")
        said = self.tune(*run).stderr
        self.assertRegex(said, r"(?m)^(no NVIDIA driver|the NVIDIA driver|CUDA cannot|not in this build).*: tuning the CPU \(.+\) "
                               r"for at most 10 min.*; --backend cuda requires a GPU, --max-time or --effort full sets another time$")
        self.assertEqual(said.count("tuning the CPU"), 1)

    def test_who_says_how_long_is_not_limited(self):
        run = ("--space", self.space_file(), "--kernel", "scale", "--fresh")
        for option in (("--max-time", "1m"), ("--max-evals", 1), ("--effort", "full"), ("--dry-run",)):
            said = self.tune(*run, *option).stderr
            self.assertRegex(said, r"(?m): tuning the CPU \(.+\); --backend cuda requires a GPU$")
        for chosen in (("--backend", "cpu"), ("-q",)):
            self.assertNotIn("tuning the CPU", self.tune(*run, *chosen).stderr)


class MistakesTest(ProgramTest):
    def test_without_a_space_file_the_next_step_is_named(self):
        done = self.tune(code=2)
        self.assertTrue(done.stderr.startswith("error: nothing to tune"))
        self.assertIn("tune --kernel gemm_shared --space spaces/gemm.json", done.stderr)

    def test_misspelt_words_are_corrected(self):
        for line, meant in ((["--kernal", "x"], "--kernel"),
                            (["qury"], "query"),
                            (["space", "cout", GEMM], "count"),
                            (["runs", "shw"], "show"),
                            (["query", "--explian"], "--explain")):
            with self.subTest(line=line):
                self.refuse(*line, code=2, says=f"did you mean '{meant}'?")

    def test_an_unknown_word_is_named(self):
        self.refuse("frobnicate", code=2, says="'frobnicate'")
        self.refuse("query", "extra", code=2, says="'extra'")
        self.refuse("query", "--table", "x", code=2, says="option '--table' is one of another command")

    def test_unknown_names_of_options_are_corrected(self):
        for line, meant in ((["--backend", "cudaa"], "cuda"),
                            (["--strategy", "randm"], "random"),
                            (["--sizes", "smok"], "smoke"),
                            (["--kernel", "gemm_nave"], "gemm_naive")):
            with self.subTest(line=line):
                self.refuse("--space", GEMM, *line, code=2, says=f"did you mean '{meant}'?")
        for line, meant in ((["--format", "jsn"], "json"), (["--policy", "exat"], "exact")):
            with self.subTest(line=line):
                self.refuse("query", "--kernel", "a", "--size", "1", *line, code=2,
                            says=f"did you mean '{meant}'?")

    def test_numbers_must_be_numbers_that_make_sense(self):
        for option, values in (("--patience", ("0", "-3", "x")),
                               ("--max-evals", ("0", "-3", "x", "1.5", "99999999999999999999")),
                               ("--seed", ("-1", "x")),
                               ("--jobs", ("0", "-1", "x", "5000")),
                               ("--device", ("-1", "x")),
                               ("--max-time", ("soon", "-5", "0", "10 m", "10y", "9999999h", ""))):
            for value in values:
                with self.subTest(option=option, value=value):
                    self.refuse("--space", GEMM, "--backend", "cpu", f"{option}={value}", code=2, says=option)

    def test_a_value_that_is_missing_or_given_twice(self):
        self.refuse("query", "--kernel", code=2, says="--kernel: a value is missing")
        self.refuse("query", "--kernel", "a", "--kernel", "b", code=2,
                    says="--kernel: given 2 times")

    def test_a_command_that_lacks_its_action(self):
        self.refuse("space", code=2, says="check")

    def test_questions_that_lack_a_part(self):
        self.refuse("query", "--size", "1,1,1", code=2, says="--kernel")

    def test_an_error_is_a_document_too_where_one_is_asked_for(self):
        for line, code in ((["query", "--kernel", "x", "--size", "1", "--json"], 5), (["--json", "qury"], 2)):
            done = self.tune(*line, code=code)
            document = json.loads(done.stdout)
            self.assertEqual((document["schema"], document["code"]), ("tune.error/1", code))
            self.assertIn(document["message"].splitlines()[0], done.stderr)
        self.assertEqual(self.tune("query", "--kernel", "x", "--size", "1", code=5).stdout, "")

    def test_all_mistakes_of_a_space_file_are_told_with_their_places(self):
        def spoil(document):
            document["arguments"][0]["type"] = "flaot"
            document["kernels"]["scale"]["launch"]["grid"] = ["ceil_div(N, BLOK)"]
            document["problem"]["flop"] = document["problem"].pop("flops")
        path = self.space_file(spoil)
        lines = path.read_text().splitlines()
        done = self.tune("space", "check", path, "--json", code=2)
        errors = json.loads(done.stdout)["errors"]
        places = [lines[each["line"] - 1][each["column"] - 1:].strip(",") for each in errors]
        self.assertEqual(places, ['"flop": "N"', '"flaot"', '"ceil_div(N, BLOK)"'])
        for each in errors:
            self.assertIn(f"scale.json:{each['line']}:{each['column']}: ", each["message"])
            self.assertIn(each["message"].splitlines()[0], done.stderr)
        for action in (("count", path), ("show", path), ("why", path, "BLOCK=64")):
            self.assertEqual(json.loads(self.tune("space", *action, "--json", code=2).stdout)["errors"], errors, action[0])


class DocumentTest(ProgramTest):
    """Each command writes the document that --json asks for, or refuses --json."""

    # Of commands whose documents tests of their own read.
    ELSEWHERE = {"bench", "compare", "explain", "finalize", "judge", "merge", "portfolio", "replay", "report", "setup",
                 "tables check", "tune"}
    REFUSING = {
        "capture": ("--kernel", "k", "--", "true"), "completion": ("bash",), "exec": ("--", "true"), "export": (),
        "help": ("query",), "man": (), "mcp": (), "record": ("--", "true"), "space export": (GEMM,), "space import": (GEMM,),
        "space init": (GEMM,), "space results": (GEMM,), "tables compile": ("t.json",),
        "tables merge": ("a.json", "b.json", "-o", "c.json")}

    def commands(self, *above):
        """All that is completed, down to those without commands of their own."""
        names = self.tune("completion", "bash", "--", "tune", *above, "").stdout.split()
        found = set()
        for name in names if above[-1:] != ("help",) and above != ("completion",) else ():
            found |= self.commands(*above, name)
        return found or {" ".join(above)}

    def writing(self):
        kernel = ("--kernel", "scale")
        return {"doctor": (), "import": (SEED,), "quarantine clear": (), "quarantine list": (), "query": (), "runs": (),
                "runs list": (), "runs show": (), "space check": (self.space_file(),), "space count": (self.space_file(),),
                "space show": (self.space_file(),), "space why": (self.space_file(), "BLOCK=32", *kernel)}

    def test_every_command_is_one_or_the_other(self):
        writing = self.writing()
        # Both run without a command below them, too.
        self.assertEqual(self.commands() | {"runs", "tune"}, self.ELSEWHERE | set(self.REFUSING) | set(writing))

    def test_a_document_is_all_that_is_written(self):
        self.tune("-q", *SHORT_RUN)
        for command, arguments in self.writing().items():
            with self.subTest(command=command):
                document = self.tune_json(*command.split(), *arguments, code=(0, 3))
                self.assertNotIn("error", document["schema"])

    def test_what_has_no_document_refuses_to_write_one(self):
        for command, arguments in self.REFUSING.items():
            with self.subTest(command=command):
                done = self.tune("--json", *command.split(), *arguments, code=2)
                self.assertTrue(done.stderr.startswith(f"error: --json has no effect on `tune {command}`: "), done.stderr)
                self.assertEqual(json.loads(done.stdout)["schema"], "tune.error/1")
        self.assertFalse((self.directory / "c.json").exists())


class OutputTest(ProgramTest):
    """Writing fails where it can: one message and no crash."""

    def run_into(self, stdout):
        return subprocess.run([TUNE, "space", "count", str(GEMM), "--kernel", "gemm_naive"], env=self.environment(), text=True,
                              stdout=stdout, stderr=subprocess.PIPE, timeout=PATIENCE)

    def test_a_full_device(self):
        with open("/dev/full", "w") as full:
            done = self.run_into(full)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "error: the result cannot be written: No space left on device\n")

    def closed(self, descriptor, *arguments):
        """A run that is started without one of its standard streams."""
        return subprocess.run([TUNE, *map(str, arguments)], cwd=self.directory, env=self.environment(), text=True,
                              capture_output=True, timeout=PATIENCE, preexec_fn=lambda: os.close(descriptor))

    def test_a_stream_that_is_closed(self):
        for descriptor in (0, 2):
            with self.subTest(descriptor=descriptor):
                done = self.closed(descriptor, *SHORT_RUN, "--fresh")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("16x16x16", done.stdout)
                self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])
        self.assertEqual(self.rows("SELECT count(*) FROM result"), [(2,)])
        done = self.closed(1, *SHORT_RUN)
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: the result cannot be written: Bad file descriptor\n", done.stderr)

    def test_a_reader_that_has_gone(self):
        reading, writing = os.pipe()
        os.close(reading)
        try:
            done = self.run_into(writing)
        finally:
            os.close(writing)
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, ""))


if __name__ == "__main__":
    unittest.main()
