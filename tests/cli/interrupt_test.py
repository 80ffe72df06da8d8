# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and termination: what was done is saved and taken up again."""

import json
import re
import signal
import time
import unittest

from program import GEMM, PATIENCE, ProgramTest

LONG_RUN = ("--space", GEMM, "--kernel", "gemm_naive", "--backend", "cpu", "--size", "16,16,16")


def obey_signals():
    """What the tests were started under, as nohup does, may not matter."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)


class InterruptTest(ProgramTest):
    def start_until(self, mark, *arguments, **options):
        """Starts a run and returns it once a line of its progress contains the mark."""
        options.setdefault("preexec_fn", obey_signals)
        run = self.start(*arguments, **options)
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        for line in run.stderr:
            if re.search(mark, line):
                return run
        self.fail(f"the run ended without '{mark}'")

    def save_and_resume(self, sent, code):
        run = self.start_until(r" 1/\d+ ", *LONG_RUN)
        run.send_signal(sent)
        stdout, stderr = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, code, stderr)
        self.assertIn("\nending after what runs now; once more to end at once\n", stderr)
        self.assertIn("Resume with the same command:\n  tune --space", stderr)
        saved = len(self.rows("SELECT * FROM result"))
        self.assertIn(saved, range(1, 66))
        self.assertEqual(self.rows("SELECT state FROM session"), [("interrupted",)])
        # Screening times are no result, and are not given out as one.
        self.assertEqual(self.rows("SELECT count(*) FROM best"), [(0,)])
        self.assertIn("16x16x16: best by search times, without a final round: no result yet", " ".join(stdout.split()))
        self.refuse("export", code=5, says="nothing to export")
        self.refuse("export", "--format", "json", code=5, says="no size has a confirmed result")
        asked = self.tune("query", "--kernel", "gemm_naive", "--size", "16,16,16")
        self.assertRegex(" ".join(asked.stdout.split()), "answer default warning this size has screening times only")
        resumed = self.tune(*LONG_RUN, "--max-evals", saved)
        self.assertIn("resuming: ", resumed.stderr)
        self.assertEqual(len(self.rows("SELECT * FROM result")), saved)
        self.assertEqual(self.tune_json("query", "--kernel", "gemm_naive", "--size", "16,16,16")["rung"], "exact")

    def test_progress_summary_and_report_agree_where_there_is_no_final_round(self):
        events = self.directory / "events"
        run = self.start_until("compiling on", *LONG_RUN, "--log", events)
        while not events.exists() or events.read_text().count('"trial"') < 12:
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        stdout, stderr = run.communicate(timeout=PATIENCE)
        trials = [event for line in events.read_text().splitlines() if (event := json.loads(line))["event"] == "trial"]
        best = [event for event in trials if event["new_best"]][-1]
        self.assertEqual(best["ranking_ns"], min(event["ranking_ns"] for event in trials if event["outcome"] == "ok"))
        summary = re.search(r"\n  16x16x16: (\S+ \S+)( back to back)? \(by search times\): (.*)", stderr)
        self.assertEqual(summary[3], " ".join(f"{name}={value}" for name, value in best["config"].items()))
        self.assertIn(f"\n16x16x16{' ' * 2}{summary[1]} ", re.sub(" {2,}", "  ", stdout))
        self.tune("report", "-o", self.directory)
        page = next(self.directory.glob("*.html"))
        self.assertFalse(self.page_data(page)["kernels"][0]["largest"]["result"]["confirmed"])
        text = page.read_text()
        plain = text[text.index("<noscript>"):text.index("</noscript>")]
        names, values = zip(*(word.split("=") for word in summary[3].split()))
        self.assertRegex(plain, f"<th>{','.join(names)}<tr><td>16×16×16<td>[^<]*<td>{','.join(values)}</table>")

    def test_ctrl_c_saves_and_the_same_command_resumes(self):
        self.save_and_resume(signal.SIGINT, 130)

    def test_termination_likewise(self):
        self.save_and_resume(signal.SIGTERM, 143)

    def test_a_lost_terminal_likewise(self):
        self.save_and_resume(signal.SIGHUP, 129)

    def test_nohup_is_obeyed(self):
        def as_nohup():
            obey_signals()
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        run = self.start_until(r" 1/\d+ ", *LONG_RUN, preexec_fn=as_nohup)
        run.send_signal(signal.SIGHUP)
        for line in run.stderr:  # it goes on
            if "final round" in line:
                break
        run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 0)
        self.assertEqual(self.rows("SELECT state FROM session"), [("complete",)])

    def test_the_second_signal_ends_at_once(self):
        begun = self.directory / "begun"
        compiler = self.text_file("slow-c++", '#!/bin/sh\ncase "$*" in *-dumpfullversion*) exec g++ "$@";; esac\n'
                                              f"touch '{begun}'\nexec sleep 8\n")
        compiler.chmod(0o755)
        run = self.start_until("compiling on", *LONG_RUN, "--no-cache",
                               env=self.environment(TUNER_HOST_CXX=str(compiler), TUNER_SANDBOX="off"))
        # It writes a file of the test, which a confined compiler may not. A signal before any compilation ends the run at once.
        deadline = time.monotonic() + PATIENCE
        while not begun.exists():
            self.assertLess(time.monotonic(), deadline, "no compiler was started")
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        time.sleep(0.5)
        self.assertIsNone(run.poll(), "the first signal must wait for the compiler in this test")
        sent = time.monotonic()
        run.send_signal(signal.SIGINT)
        run.wait(timeout=PATIENCE)
        self.assertLess(time.monotonic() - sent, 3)
        self.assertEqual(run.returncode, 130)


if __name__ == "__main__":
    unittest.main()
