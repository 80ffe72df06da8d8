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

    def call_this_program(self):
        path = f"{pathlib.Path(TUNE).parent}:{os.environ['PATH']}"
        self.enterContext(unittest.mock.patch.dict(os.environ, self.environment(PATH=path)))

    def test_bash_completes_the_kernels_of_the_space_file_that_the_line_names(self):
        self.call_this_program()
        file = self.space_file()
        for line in (f"tune --space {file} --kernel ", f"tune space show {file} --kernel "):
            self.assertEqual(sorted(self.completed(line)), ["plain", "scale"])
        self.assertEqual(self.completed("tune --kernel "), [], "nothing is stored")

    def test_bash_completes_what_the_database_has(self):
        self.tune(*SHORT_RUN)
        self.call_this_program()
        self.assertEqual(self.completed("tune query --kernel gem"), ["gemm_naive"])
        sizes = self.completed("tune query --size ")
        self.tune("query", "--kernel", "gemm_naive", "--size", sizes[0])
        run = self.tune("runs").stdout.splitlines()[1].split("\t")[0]
        self.assertEqual(self.completed("tune runs show " + run[:3]), [run])

    def test_every_option_is_in_every_description(self):
        page = self.tune("man").stdout.replace("\\-", "-")
        scripts = {shell: self.tune("completion", shell).stdout for shell in ("bash", "zsh", "fish")}
        for command in COMMANDS:
            options = re.findall(r"--[a-z][a-z-]*", self.tune(*command, "--help").stdout)
            self.assertIn("--help", options)
            for option in set(options) - {"--help"}:
                with self.subTest(command=command, option=option):
                    self.assertIn(option, page)
                    self.assertIn(option, scripts["bash"])
                    self.assertIn(option, scripts["zsh"])
                    self.assertIn("-l " + option[2:], scripts["fish"])

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
