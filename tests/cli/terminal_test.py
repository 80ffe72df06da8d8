# SPDX-License-Identifier: Apache-2.0
"""What readers see: width, colours, characters, empty lists, events, help."""

import json
import re
import sys
import unittest

from forgery import forge
from program import GEMM, ROOT, SEED, SHORT_RUN, TUNE, ProgramTest

sys.path.insert(0, str(ROOT / "tests" / "support"))
from pseudo_terminal import run_on_terminal  # noqa: E402

SPACES = sorted((ROOT / "spaces").glob("*.json"))
COLOR = re.compile(r"\x1b\[\d+m")


class TerminalTest(ProgramTest):
    def environment(self, **changes):
        return super().environment(**{"COLUMNS": "", **changes})

    def fits(self, text, width=80):
        for line in text.splitlines():
            if " " in line.strip():  # a word, such as a path, stays whole
                self.assertLessEqual(len(line), width, line)

    def in_terminal(self, columns, *arguments, stream="stdout", code=0, **variables):
        """What a terminal of so many columns receives from one of the program's streams."""
        ended, text = run_on_terminal([TUNE, *map(str, arguments)], columns, (stream,), cwd=self.directory,
                                      env=self.environment(TERM="xterm", **variables))
        self.assertEqual(ended, code)
        return text


class WidthTest(TerminalTest):
    def test_help_fits(self):
        for command in ("", "bench", "query", "compare", "export", "space count", "replay"):
            self.fits(self.tune(*command.split(), "--help").stdout)

    def test_space_files_fit(self):
        self.assertGreater(len(SPACES), 3)
        for path in SPACES:
            for action in ("check", "count", "show"):
                with self.subTest(space=path.name, action=action):
                    self.fits(self.tune("space", action, path).stdout)

    def test_results_fit(self):
        self.fits(self.tune(*SHORT_RUN).stdout)
        self.tune("-q", "import", SEED)
        for command in (["runs", "show"], ["doctor"],
                        ["bench", *SHORT_RUN[:-2], "--rounds", "6"],
                        ["bench", "--space", GEMM, "--kernel", "gemm_naive", "--range", "8:16:x2", "--backend", "cpu",
                         "--cpu", "--transfers"],
                        ["replay", ROOT / "tests/data/recorded/pnpoly.json", "--strategy", "random", "--repeats", "2"]):
            with self.subTest(command=command[:2]):
                text = self.tune(*command, code=(0, 3) if command == ["doctor"] else 0).stdout
                self.fits(re.sub(r"(?m)^  command: .*$", "", text))  # it is there to be copied
        table = self.tune("query", "--kernel", "gemm_shared", "--size", "1024,1024,1024", "--device", "NVIDIA H200",
                          "--explain").stdout
        self.fits(re.sub(r'(?m)^\{".*$', "", table))  # likewise

    def test_lists_are_for_the_reader(self):
        self.fill(*SHORT_RUN)
        for command in (["runs"], ["runs", "list"], ["query"]):
            self.fits(self.in_terminal(80, *command, NO_COLOR="1"))
            heading, *entries = self.tune(*command, env={"COLUMNS": "20"}).stdout.splitlines()
            self.assertEqual(len(entries), 1)
            self.assertEqual(len(entries[0].split("\t")), len(heading.split("\t")))
        self.assertEqual(self.tune("runs").stdout, self.tune("runs", "list").stdout)

    def test_the_time_of_a_run_is_told_once_it_has_ended(self):
        self.fill(*SHORT_RUN)
        self.assertRegex(self.tune("runs", "show").stdout, r"started \S+, [\d.]+ s: compile ")
        forge(self.database, "UPDATE session SET state = 'running', ended_at = NULL")
        self.assertRegex(self.tune("runs", "show").stdout, r"\(running\)\n.*\n  started \S+\n")

    def test_a_terminal_gives_the_width(self):
        ask = ("space", "count", GEMM, "--kernel", "gemm_tiled")
        wide = self.in_terminal(200, *ask, NO_COLOR="1")
        self.assertGreater(max(map(len, wide.splitlines())), 80)
        self.fits(wide, 200)
        self.fits(self.in_terminal(60, *ask, NO_COLOR="1"), 60)
        self.assertGreater(max(map(len, self.tune(*ask, env={"COLUMNS": "200"}).stdout.splitlines())), 80)


class MessagesTest(TerminalTest):
    WRONG = ("finalize", "--color", "auto")  # its message has a sentence and a command to copy

    def test_messages_fit_the_terminal_but_not_a_file(self):
        for command in (self.WRONG, ["query", "--kernel", "gemm_naive", "--size", "16,16,16", "--db", "n" * 30 + ".db"]):
            with self.subTest(command=command):
                code = 2 if command is self.WRONG else 5
                self.fits(self.in_terminal(60, *command, stream="stderr", code=code, NO_COLOR="1"), 60)
        name = "no-such-space-file-" * 4 + ".json"
        refused = self.refuse("space", "check", name, code=2, says=name)
        self.assertEqual(refused.stderr.count("\n"), 1)
        self.fits(self.in_terminal(60, "space", "check", name, stream="stderr", code=2, NO_COLOR="1"), 60)

    def test_an_error_is_red_where_colours_are(self):
        red = "\x1b[31merror:\x1b[0m "
        show = lambda *arguments, **variables: self.in_terminal(80, "finalize", *arguments, stream="stderr", code=2, **variables)
        self.assertTrue(show().startswith(red))
        self.assertTrue(show(NO_COLOR="1").startswith("error: "))
        self.assertTrue(show("--color", "never").startswith("error: "))
        self.assertTrue(self.tune("finalize", "--color=always", code=2).stderr.startswith(red))

    def test_the_live_line_has_kernel_ratio_to_the_library_and_finals(self):
        text = self.in_terminal(100, *SHORT_RUN[:-2], "--max-evals", "4", stream="stderr")
        self.fits(text.replace("\r", "\n").replace("\x1b[K", ""), 100)
        self.assertRegex(text, r"\r  gemm_naive: \d+/4  16x16x16: best [\d.]+ [nµm]?s \([^)]+\) ×[\d.]+ OpenBLAS ")
        self.assertRegex(text, r"final round: re-timing \d+ finalists against OpenBLAS\n")
        self.assertRegex(text, r"\r  gemm_naive: 16x16x16: repetition \d+ of at most 30: re-timing")
        self.assertRegex(text, r"\x1b\[K  16x16x16: [\d.]+ [nµm]?s( back to back)?, ×[\d.]+ OpenBLAS, ×[\d.]+ default( \(cold\))?: BLOCK_X=")


class ColorTest(TerminalTest):
    ASK = ("space", "count", GEMM, "--kernel", "gemm_naive")

    def test_only_terminals_are_coloured(self):
        self.assertNotRegex(self.tune(*self.ASK).stdout, COLOR)
        self.assertRegex(self.in_terminal(80, *self.ASK), COLOR)
        self.assertNotRegex(self.in_terminal(80, *self.ASK, NO_COLOR="1"), COLOR)

    def test_the_option_decides(self):
        self.assertRegex(self.tune(*self.ASK, "--color", "always", env={"NO_COLOR": "1"}).stdout, COLOR)
        self.assertNotRegex(self.in_terminal(80, *self.ASK, "--color", "never"), COLOR)
        self.refuse(*self.ASK, "--color", "allways", code=2, says="did you mean 'always'?")

    def test_colours_change_nothing_else(self):
        colored = self.tune(*self.ASK, "--color", "always").stdout
        self.assertEqual(COLOR.sub("", colored), self.tune(*self.ASK).stdout)


class CharactersTest(TerminalTest):
    def test_a_locale_without_utf8_gets_ascii(self):
        self.fill(*SHORT_RUN)
        for command in (["--help"], ["space", "count", GEMM], ["runs", "list"], ["space", "check", GEMM],
                        ["query", "--kernel", "gemm_naive", "--size", "16,16,16"]):
            with self.subTest(command=command[:2]):
                text = self.tune(*command, env={"LC_ALL": "C"}).stdout
                self.assertTrue(text.isascii(), [line for line in text.splitlines() if not line.isascii()])
        done = self.tune(*SHORT_RUN, env={"LC_ALL": "C"})
        self.assertTrue((done.stdout + done.stderr).isascii())
        self.assertRegex(done.stdout, r" x\d")

    def test_json_stays_as_it_is(self):
        self.assertEqual(self.tune("space", "count", GEMM, "--json", env={"LC_ALL": "C"}).stdout,
                         self.tune("space", "count", GEMM, "--json").stdout)


class ListsTest(TerminalTest):
    def test_empty_lists_say_so(self):
        self.tune("-q", "import", SEED)
        self.assertIn("no runs in", self.tune("runs", "list").stdout)
        self.assertEqual(self.tune("quarantine", "list").stdout, "no configuration has crashed or hung\n")

    def test_many_sizes_are_folded(self):
        sizes = [word for n in range(8, 14) for word in ("--size", f"{n},{n},{n}")]
        self.tune("-q", *SHORT_RUN[:-4], "--max-evals", "1", *sizes)
        self.assertIn("8x8x8 9x9x9 10x10x10 11x11x11 … (6 sizes)", " ".join(self.tune("runs", "show").stdout.split()))


class JsonTest(TerminalTest):
    def test_every_answer_about_a_space_file(self):
        checked = self.tune_json("space", "check", GEMM, "--kernel", "gemm_naive")
        self.assertEqual((checked["schema"], checked["kernels"][0]["valid"]), ("tune.space-check/1", 66))
        self.assertTrue(checked["checks"])
        (kernel,) = self.tune_json("space", "show", GEMM, "--kernel", "gemm_naive")["kernels"]
        self.assertEqual([one["parameter"] for one in kernel["parameters"]], ["BLOCK_X", "BLOCK_Y"])
        self.assertTrue(kernel["constraints"][0]["why"])
        ask = ("space", "why", GEMM, "--kernel", "gemm_naive")
        self.assertTrue(self.tune_json(*ask, "BLOCK_X=32")["valid"])
        rejected = self.tune_json(*ask, "BLOCK_X=1024,BLOCK_Y=2", code=4)
        self.assertEqual((rejected["valid"], rejected["constraint"]), (False, 1))

    def test_a_dry_run_and_the_version(self):
        document = self.tune_json(*SHORT_RUN, "--dry-run")
        self.assertEqual(document["schema"], "tune.dry-run/1")
        self.assertEqual(document["kernels"][0]["sizes"][0]["size"], [16, 16, 16])
        version = self.tune_json("--version")
        self.assertEqual(version["schema"], "tune.version/1")
        self.assertIn(version["sqlite"], self.tune("--version").stdout)


class EventsTest(TerminalTest):
    def events(self, text):
        return [json.loads(line) for line in text.splitlines()]

    def test_progress_as_lines_of_json(self):
        run = self.tune(*SHORT_RUN, "--progress", "json", "--log", "events.jsonl")
        events = self.events(run.stderr)
        names = [event["event"] for event in events]
        self.assertEqual((names[0], names[-1]), ("opened", "size"))
        self.assertIn("final", names)
        self.assertIn("gemm_naive", run.stdout)
        (trial,) = [event for event in events if event["event"] == "trial"][:1]
        self.assertEqual((trial["size"], trial["outcome"]), ("16,16,16", "ok"))
        self.assertGreater(trial["median_ns"], 0)
        self.assertRegex(trial["at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        logged = self.events((self.directory / "events.jsonl").read_text())
        self.assertEqual([event["event"] for event in logged], names)
        self.tune("-q", *SHORT_RUN, "--log", "events.jsonl")
        self.assertGreater(len((self.directory / "events.jsonl").read_text().splitlines()), len(names))

    def test_mistakes(self):
        self.refuse(*SHORT_RUN, "--progress", "jsn", code=2, says="did you mean 'json'?")
        self.refuse(*SHORT_RUN, "--log", "nowhere/events.jsonl", code=1, says="nowhere/events.jsonl")

    def test_verbose_says_what_became_of_each_trial(self):
        line = r'(?m)^  16x16x16 \{"BLOCK_X":\d+,"BLOCK_Y":\d+\}: .*s$'
        self.assertNotRegex(self.tune(*SHORT_RUN).stderr, line)
        self.assertRegex(self.tune(*SHORT_RUN, "--fresh", "-v").stderr, line)


class HelpCommandTest(TerminalTest):
    def test_help_of_a_command(self):
        self.assertEqual(self.tune("help").stdout, self.tune("--help").stdout)
        for command in (["bench"], ["space", "why"], ["runs", "show"]):
            self.assertEqual(self.tune("help", *command).stdout, self.tune(*command, "--help").stdout)
        self.assertIn("tune space why FILE [P=V,…] [OPTIONS]", self.tune("help", "space", "why").stdout)
        self.refuse("help", "spcae", code=2, says="did you mean 'space'?")


if __name__ == "__main__":
    unittest.main()
