# SPDX-License-Identifier: Apache-2.0
"""tune bench: configurations looked at by hand, failures shown again."""

import json
import re
import shlex
import shutil
import struct
import unittest

from program import GEMM, SCALE_SOURCES, ProgramTest

HALF_RIGHT = SCALE_SOURCES["scale.cu"].replace("2 * x[i]", "(BLOCK == 64 ? 3 : 2) * x[i]")
SCALE = ("--kernel", "scale", "--backend", "cpu")
NAIVE = ("bench", "--space", GEMM, "--kernel", "gemm_naive", "--backend", "cpu", "--size", "16,16,16",
         "--rounds", "6")


class BenchTest(ProgramTest):
    def bench(self, *arguments, **options):
        return self.tune("bench", "--space", self.space_file(), *SCALE, "--size", "64", "--rounds", "6",
                         *arguments, **options)

    def test_a_configuration_stands_beside_the_default_and_the_library(self):
        done = self.tune(*NAIVE, "--config", "BLOCK_X=16,BLOCK_Y=4")
        lines = done.stdout.splitlines()
        self.assertTrue(lines[0].startswith("gemm_naive 16x16x16"), done.stdout)
        self.assertEqual(sorted(line.split()[0] for line in lines[1:]), ["candidate", "default", "library"])
        for line in lines[1:]:
            self.assertRegex(line, r" ok +[0-9.]+ .?s +[0-9.]+ .?s–[0-9.]+ .?s +[0-9.]+ .?s ")
        self.assertEqual(done.stdout.count("fastest kernel"), 2, "in the heading and beside one configuration")
        self.assertFalse(self.database.exists(), "nothing is stored")

    def test_the_document(self):
        document = self.tune_json(*NAIVE, "--config", "BLOCK_X=16,BLOCK_Y=4", "--seed", "7")
        self.assertEqual(document["schema"], "tune.bench/1")
        self.assertEqual((document["kernel"], document["size"], document["seed"], document["flops"]),
                         ("gemm_naive", [16, 16, 16], 7, 2 * 16**3))
        roles = {contender["role"]: contender for contender in document["contenders"]}
        self.assertEqual(sorted(roles), ["candidate", "default", "library"])
        candidate = roles["candidate"]
        self.assertEqual((candidate["config"]["BLOCK_X"], candidate["config"]["BLOCK_Y"]), (16, 4))
        self.assertEqual((candidate["outcome"], candidate["rounds"]), ("ok", 6))
        self.assertLessEqual(candidate["ratio_low"], candidate["ratio_to_fastest"])
        self.assertLess(candidate["worst_error"], 1)
        self.assertIn("fastest", (candidate["place"], roles["default"]["place"]))
        self.assertNotIn("place", roles["library"])

    def test_configurations_are_read_in_every_form_and_each_stands_once(self):
        done = self.bench("--config", "BLOCK=64", "--config", '{"BLOCK":64}', "--config", "default",
                          "--config", "BLOCK=32")
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()].count("candidate"), 1)
        self.assertEqual(done.stdout.count("default"), 1)

    def test_the_best_stored(self):
        self.refuse("bench", "--space", self.space_file(), *SCALE, "--size", "64", "--config", "best", code=5,
                    says=("no database", "run `tune` first"))
        self.assertIn("default", self.bench().stdout, "what is taken where nothing is stored")
        self.tune("--space", self.space_file(), *SCALE, "--set", "BLOCK=64", "-q")
        for chosen in ((), ("--config", "best")):
            self.assertRegex(self.bench(*chosen).stdout, "candidate .* BLOCK=64")
        self.refuse("bench", "--space", self.space_file(), *SCALE, "--size", "65", "--config", "best", code=5,
                    says=("no result for kernel scale at 65", str(self.database)))

    def test_a_failure_of_a_run_is_shown_again(self):
        space = self.space_file(sources={"scale.cu": HALF_RIGHT})
        self.tune("--space", space, *SCALE, "--seed", "41", "-q")
        shown = self.tune("runs", "show").stdout
        failure = re.search(r"1 wrong_result, the first at \{\"BLOCK\":64\}:\n  (.*)\n  to reproduce it:\n    tune (.*)\n",
                            shown)
        self.assertIsNotNone(failure, shown)
        message, command = failure.groups()
        self.assertIn("seed 41", message)
        self.assertEqual(self.tune_json("runs", "show")["failures"][0]["reproduce"], f"tune {command}")
        again = self.tune(*shlex.split(command), code=1)
        self.assertIn(f"wrong_result at {{\"BLOCK\":64}}:\n  {message}\n", again.stdout)
        self.assertTrue(again.stderr.endswith("error: 1 of 1 configuration did not end ok\n"), again.stderr)
        self.assertRegex(again.stdout, "default +ok .* fastest")
        document = json.loads(self.tune(*shlex.split(command), "--json", code=1).stdout)
        failed = [each for each in document["contenders"] if each["outcome"] != "ok"]
        self.assertEqual([each["message"] for each in failed], [message])
        other = self.tune(*shlex.split(command.replace("--seed 41", "--seed 42")), code=1).stdout
        self.assertNotIn(message, other, "other inputs, another wrong value")

    def test_a_default_that_fails_is_shown_and_costs_nothing(self):
        self.space_file(sources={"scale.cu": HALF_RIGHT.replace("== 64", "== 32")})
        done = self.tune("bench", "--space", "scale.json", *SCALE, "--size", "64", "--config", "BLOCK=64")
        self.assertRegex(done.stdout, "default +wrong_result")
        self.assertIn("wrong_result at {\"BLOCK\":32}:", done.stdout)

    def saved(self, *arguments):
        """Of each file that is saved: the configuration and the floats of y."""
        folder = self.directory / "saved"
        shutil.rmtree(folder, ignore_errors=True)
        self.tune("bench", "--space", self.directory / "scale.json", *SCALE, "--size", "64", "--config", "BLOCK=64;BLOCK=32",
                  "--save-outputs", folder, *arguments)
        found = []
        for path in sorted(folder.iterdir()):
            content = path.read_bytes()
            begin = 8 + int.from_bytes(content[:8], "little")
            header = json.loads(content[8:begin])
            self.assertEqual({key: header["y"][key] for key in ("dtype", "shape")}, {"dtype": "F32", "shape": [64]})
            self.assertEqual(json.loads(header["__metadata__"]["size"]), [64])
            found.append((path.name, json.loads(header["__metadata__"]["config"]), struct.unpack("<64f", content[begin:])))
        return found

    def test_outputs_are_saved(self):
        self.space_file()
        first, second = self.saved("--rounds", "6")
        self.assertEqual([first[:2], second[:2]], [("0.safetensors", {"BLOCK": 64}), ("1.safetensors", {"BLOCK": 32})])
        self.assertEqual(first[2], second[2])
        self.assertGreater(len(set(first[2])), 60)
        # One launch alone is compared with nothing.
        self.space_file(sources={"scale.cu": HALF_RIGHT})
        wrong, right = self.saved("--rounds", "0")
        self.assertEqual(right, second)
        self.assertEqual(wrong[2], struct.unpack("<64f", struct.pack("<64f", *(1.5 * each for each in right[2]))))
        self.space_file(sources={"scale.cu": SCALE_SOURCES["scale.cu"].replace("y[i] =", "y[i + BLOCK / 64 * 64] =")})
        done = self.tune("bench", "--space", self.directory / "scale.json", *SCALE, "--size", "64", "--config", "BLOCK=64;BLOCK=32",
                         "--rounds", "0", "--save-outputs", self.directory / "beside", code=1)
        self.assertIn("out_of_bounds at {\"BLOCK\":64}", done.stdout)
        self.assertEqual([path.name for path in (self.directory / "beside").iterdir()], ["1.safetensors"])


class MistakesTest(ProgramTest):
    def refuse_bench(self, *arguments, **expected):
        self.refuse("bench", "--space", self.space_file(), "--backend", "cpu", *arguments, **expected)

    def test_what_is_missing_is_asked_for(self):
        self.refuse("bench", code=2, says="tune bench --kernel gemm_shared --space spaces/gemm.json")
        self.refuse_bench(code=2, says=("which kernel?", "scale, plain"))
        self.refuse_bench("--kernel", "scale", code=2, says=("which size (N)?", "--size 256"))

    def test_configurations_that_make_no_sense(self):
        for config, says in (("BLOK=32", "did you mean 'BLOCK'?"),
                             ("BLOCK=33", "parameter BLOCK has no value '33'"),
                             ("bset", "'bset' is not of the form PARAMETER=VALUE"),
                             ('{"BLOCK":32', "not valid JSON"),
                             ("BLOCK=32,BLOCK=64", "given twice")):
            with self.subTest(config=config):
                self.refuse_bench("--kernel", "scale", "--size", "64", "--config", config, code=2,
                                  says=(f"--config {config}: ", says))

    def test_a_configuration_that_a_constraint_rejects(self):
        def narrow(document):
            document["kernels"]["scale"]["constraints"][0] = {"expr": "BLOCK <= 32", "why": "blocks are small"}
        self.refuse("bench", "--space", self.space_file(narrow), *SCALE, "--size", "64", "--config", "BLOCK=64",
                    code=4, says=("--config BLOCK=64: constraint 1 of 1 rejects it at 64 on ",
                                  "BLOCK <= 32 (blocks are small): BLOCK=64"))

    def test_numbers_that_make_no_sense(self):
        rounds = "--rounds: '{}' must be 0 or a whole number from 6 to 10000"
        for option, value, says in (("--rounds", "5", rounds.format("5")), ("--rounds", "0", "--rounds 0"), ("--rounds", "x", rounds.format("x")),
                                    ("--seed", "-1", "--seed: '-1' must be a whole number of at least 0"), ("--max-time", "soon", "--max-time")):
            with self.subTest(option=option, value=value):
                self.refuse_bench("--kernel", "scale", "--size", "64", f"{option}={value}", code=2, says=says)

    def test_a_kernel_of_another_backend(self):
        def elsewhere(document):
            document["kernels"]["scale"]["backends"] = ["cuda"]
        self.refuse("bench", "--space", self.space_file(elsewhere), *SCALE, "--size", "64", code=3,
                    says="runs on cuda only")


if __name__ == "__main__":
    unittest.main()
