# SPDX-License-Identifier: Apache-2.0
"""What the program tells shells and readers of manuals about its command line."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest
import unittest.mock

from program import PATIENCE, SHORT_RUN, TUNE, ProgramTest

COMMANDS = (["bench"], ["compare"], ["finalize"], ["space", "init"], ["query"], ["report"], ["export"], ["import"], ["merge"], ["replay"],
            ["runs", "show"], ["space", "why"], ["quarantine", "list"], ["doctor"], ["completion"])


class CompletionTest(ProgramTest):
    def answered(self, shell, line):
        """What the program answers the script of a shell at the end of a line."""
        return self.tune("completion", shell, "--", *line.split(" ")).stdout.splitlines()

    def completed(self, line):
        """What bash offers at the end of a line."""
        words = line.split(" ")
        script = self.tune("completion", "bash").stdout
        done = subprocess.run(
            ["bash", "-c", script + 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tune; '
             'printf "%s\\n" "${COMPREPLY[@]}"', "bash", *words],
            capture_output=True, text=True, timeout=PATIENCE, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def completed_by_zsh(self, line):
        """What its script hands to zsh's _describe, or to _files."""
        *words, prefix = line.split(" ")
        script = ("compdef() {}; _describe() { print -rl -- $found }; _files() { print -r -- files };"
                  + self.tune("completion", "zsh").stdout
                  + 'PREFIX=$1; shift; words=("$@" "$PREFIX"); CURRENT=$#words; _tune')
        done = subprocess.run(["zsh", "-f", "-c", script, "zsh", prefix, *words], capture_output=True, text=True,
                              timeout=PATIENCE, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()

    def completed_by_fish(self, line):
        script = self.tune("completion", "fish").stdout + "complete -C $argv[1]"
        done = subprocess.run(["fish", "--no-config", "-c", script, line], capture_output=True, text=True,
                              timeout=PATIENCE, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()

    def setUp(self):
        super().setUp()
        path = f"{pathlib.Path(TUNE).parent}:{os.environ['PATH']}"
        self.enterContext(unittest.mock.patch.dict(os.environ, self.environment(PATH=path)))

    def test_bash_completes_commands_and_their_options(self):
        self.assertEqual(self.completed("tune que"), ["query"])
        self.assertEqual(self.completed("tune space c"), ["check", "count"])
        self.assertEqual(self.completed("tune query --expl"), ["--explain"])
        self.assertEqual(self.completed("tune space check x.json --ker"), ["--kernel"])
        self.assertNotIn("--explain", self.completed("tune --"))
        self.assertIn("--json", self.completed("tune runs list --"))

    def test_bash_completes_values_that_are_known(self):
        self.assertEqual(self.completed("tune query --format "), ["table", "json", "args", "cpp"])
        self.assertEqual(self.completed("tune bench --backend c"), ["cuda", "cpu"])
        self.assertIn("genetic", self.completed("tune --strategy "))
        self.assertEqual(self.completed("tune --space "), [])  # files, by `complete -o default`

        self.assertEqual(self.completed("tune query --format = "), ["table", "json", "args", "cpp"])
        self.assertEqual(self.completed("tune query --format = ta"), ["table"])
        self.assertEqual(self.completed("tune completion z"), ["zsh"])
        self.assertEqual(self.completed("tune help qu"), ["query", "quarantine"])

    def test_bash_completes_the_kernels_of_the_space_file_that_the_line_names(self):
        file = self.space_file()
        for line in (f"tune --space {file} --kernel ", f"tune space show {file} --kernel "):
            self.assertEqual(sorted(self.completed(line)), ["plain", "scale"])
        self.assertEqual(self.completed("tune --kernel "), [], "nothing is stored")

    def test_bash_completes_what_the_database_has(self):
        self.tune(*SHORT_RUN)
        self.assertEqual(self.completed("tune query --kernel gem"), ["gemm_naive"])
        sizes = self.completed("tune query --size ")
        self.tune("query", "--kernel", "gemm_naive", "--size", sizes[0])
        run = self.tune("runs").stdout.splitlines()[1].split("\t")[0]
        self.assertEqual(self.completed("tune runs show " + run[:3]), [run])

    def test_every_shell_asks_the_program_for_the_same_words(self):
        file = self.space_file()
        lines = ("tune ", "tune que", "tune runs sh", "tune query --format ", "tune query --format=ta", f"tune --space {file} --kernel ")
        for line in lines:
            words = self.answered("bash", line)
            self.assertTrue(words, line)
            for shell in ("zsh", "fish"):
                self.assertEqual([each.split("\t")[0] for each in self.answered(shell, line)], words)
        self.assertEqual(self.answered("fish", "tune que"), ["query\tPrint the best configuration for a size; without one list what is tuned"])
        for shell in ("bash", "zsh", "fish"):
            self.assertIn(f"tune completion {shell} -- ", self.tune("completion", shell).stdout)

    @unittest.skipIf(shutil.which("zsh") is None, "zsh is not installed")
    def test_zsh(self):
        query = "query:Print the best configuration for a size; without one list what is tuned"
        self.assertEqual(self.completed_by_zsh("tune que"), [query])
        self.assertIn(query, self.completed_by_zsh("tune "))
        self.assertEqual(self.completed_by_zsh("tune query --format=t"), ["--format=table"])
        self.assertEqual(self.completed_by_zsh("tune --space "), ["files"])

    @unittest.skipIf(shutil.which("fish") is None, "fish is not installed")
    def test_fish(self):
        query = "query\tPrint the best configuration for a size; without one list what is tuned"
        self.assertEqual(self.completed_by_fish("tune que"), [query])
        self.assertIn(query, self.completed_by_fish("tune "))
        self.assertEqual(self.completed_by_fish("tune query --format=t"), ["--format=table"])
        file = self.space_file()
        self.assertIn(str(file), [line.split("\t")[0] for line in self.completed_by_fish(f"tune --space {str(file)[:-2]}")])

    def test_words_of_other_programs_and_values_are_no_commands(self):
        self.assertEqual(self.answered("bash", "tune exec -- python3 --ver"), [])
        self.assertIn("query", self.answered("bash", "tune --space space "))
        self.assertEqual(self.answered("bash", "tune --nonsense --dry"), ["--dry-run"])
        self.assertEqual(self.answered("bash", "tune --db /nowhere.db query --kernel "), [])
        self.assertEqual(self.answered("bash", "tune space count x.json --device h2"), ["h200"])

    def test_sizes_are_those_of_the_kernel_and_database_that_the_line_names(self):
        self.tune(*SHORT_RUN)
        self.database.rename(self.directory / "other.db")
        line = "tune query --db {} --kernel {} --size "
        self.assertEqual(self.answered("bash", line.format("other.db", "gemm_naive")), ["16x16x16"])
        self.assertEqual(self.answered("bash", line.format("other.db", "gemm_tiled")), [])

    def test_every_option_is_in_every_description(self):
        page = self.tune("man").stdout.replace("\\-", "-")
        for command in COMMANDS:
            options = set(re.findall(r"^ +(?:-\w,)? *(--[a-z][a-z-]*)", self.tune(*command, "--help").stdout, re.MULTILINE))
            offered = self.answered("bash", " ".join(["tune", *command, "--"]))
            self.assertIn("--help", options)
            for option in options - {"--help"}:
                with self.subTest(command=command, option=option):
                    self.assertIn(option, page)
                    self.assertIn(option, offered)

    def test_shells_and_troff_accept_what_is_written(self):
        checks = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}
        for shell, check in checks.items():
            if shutil.which(shell) is None:
                continue
            script = self.directory / shell
            script.write_text(self.tune("completion", shell).stdout)
            done = subprocess.run([*check, script], capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual((done.returncode, done.stderr), (0, ""), shell)
        if shutil.which("groff") is not None:
            done = subprocess.run(["groff", "-Kutf8", "-man", "-Tutf8", "-ww", "-z"], input=self.tune("man").stdout,
                                  capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_an_unknown_shell_is_refused(self):
        self.refuse("completion", "tcsh", code=2, says="bash, zsh and fish")


if __name__ == "__main__":
    unittest.main()
