# SPDX-License-Identifier: Apache-2.0
"""Runs on several devices, for which the processor stands in (TUNER_CPU_DEVICES)."""

import json
import os
import pathlib
import signal
import time
import unittest

from program import ROOT, ProgramTest

SAXPY = ROOT / "examples" / "saxpy" / "saxpy.json"
SIZES = (1000, 2000, 5000, 10000)
EVALUATIONS = 2  # of each size: the fewest of which one wins


def device_children(parent):
    """The processes that drive the devices of a run, by ordinal."""
    children = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            ancestor = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
        if ancestor == parent and words[1:3] == [b"worker", b"device"]:
            children[int(words[4])] = int(process.name)
    return children


class CardsTest(ProgramTest):
    devices = "2"

    def environment(self, **changes):
        return super().environment(**{"TUNER_CPU_DEVICES": self.devices, **changes})

    def line(self, *more, sizes=SIZES, evaluations=EVALUATIONS):
        size = [word for each in sizes for word in ("--size", str(each))]
        return ("--space", SAXPY, "--kernel", "saxpy", *size, "--backend", "cpu",
                "--max-evals", str(evaluations), *more)

    def test_one_run_on_all_devices(self):
        run = self.tune(*self.line("--device", "all", "--json", "--jobs", "2"))
        self.assertIn("saxpy on 2 × ", run.stderr)
        self.assertIn("device 1: CPU-1", run.stderr)
        self.assertIn("[0] ", run.stderr)
        self.assertRegex(run.stderr, r"device 1 \(CPU-1\) busy \d+ %, \d size")
        document = json.loads(run.stdout)["kernels"][0]
        self.assertEqual([card["uuid"] for card in document["cards"]], ["CPU-0", "CPU-1"])
        self.assertEqual(sum(card["sizes"] for card in document["cards"]), len(SIZES))
        self.assertEqual(len(self.rows("SELECT * FROM session")), 1)
        self.assertEqual(self.rows("SELECT count(*) FROM result"), [(EVALUATIONS * len(SIZES),)])
        self.assertEqual(len(self.rows("SELECT * FROM best")), len(SIZES))
        self.assertEqual(len(self.rows("SELECT DISTINCT problem_id FROM card")), len(SIZES))

        shown = self.tune("runs", "show").stdout
        self.assertRegex(shown, r"card 0: CPU-\d \(\S+\), \d size")
        sizes = json.loads(self.tune("runs", "show", "--json").stdout)["sizes"]
        won = {size["size"]: size["card"]["uuid"] for size in sizes}
        self.assertEqual(won, {str(size["size"][0]): size["card"] for size in document["sizes"]})

        again = self.tune(*self.line("--device", "0,1"))
        self.assertIn(f"; {EVALUATIONS * len(SIZES)} from the database", again.stderr)

    def test_one_of_several(self):
        for name in ("1", "CPU-1"):
            with self.subTest(name=name):
                self.tune(*self.line("--device", name, "--fresh", sizes=(1000,), evaluations=1))
                self.assertEqual(self.rows("SELECT uuid FROM card ORDER BY id DESC LIMIT 1"), [("CPU-1",)])
                self.assertEqual(self.rows("SELECT device_uuid FROM session ORDER BY id DESC LIMIT 1"),
                                 [("CPU-1",)])

    def test_devices_that_are_none(self):
        for text, code, says in (("2", 3, "there is no CPU device 2: TUNER_CPU_DEVICES makes 2"),
                                 ("0,7", 3, "there is no device 7; there are:"),
                                 ("0,CPU-9", 3, "there is no device CPU-9; there are:"),
                                 ("0,0", 2, "names device 0 twice"),
                                 ("CPU-0,0", 2, "names device 0 twice"),
                                 ("CPU-", 2, "2 devices begin with 'CPU-'"),
                                 ("", 2, "names no device"),
                                 ("0,", 2, "a device has no name"),
                                 (",", 2, "a device has no name"),
                                 ("all,0", 2, "'all' cannot be combined with other devices"),
                                 ("0,x", 2, "'x' is not a device"),
                                 ("0 1", 2, "'0 1' is not a device")):
            with self.subTest(text=text):
                self.refuse(*self.line("--device", text), code=code, says=says)
        self.refuse("bench", "--space", SAXPY, "--kernel", "saxpy", "--size", "1000", "--backend", "cpu",
                    "--device", "all", code=2, says="this command runs on one device")
        self.refuse(*self.line(), env=self.environment(TUNER_CPU_DEVICES="many"), code=2,
                    says="TUNER_CPU_DEVICES=many")

    def test_a_device_whose_process_is_killed_again_and_again(self):
        run = self.start(*self.line("--device", "all", evaluations=6))
        for line in run.stderr:
            if "device 1: CPU-1" in line:
                break
        killed = set()
        while run.poll() is None and len(killed) < 40:
            child = device_children(run.pid).get(1)
            if child is not None and child not in killed:
                killed.add(child)
                os.kill(child, signal.SIGKILL)
            time.sleep(0.05)
        _, errors = run.communicate()
        self.assertEqual(run.returncode, 0, errors)
        self.assertIn("is dropped, its sizes continue", errors)
        self.assertEqual(len(self.rows("SELECT * FROM best")), len(SIZES))
        self.assertEqual(self.rows("SELECT state FROM session"), [("complete",)])
        self.assertEqual(self.rows("SELECT * FROM attempt"), [])

    def test_an_interruption_ends_the_work_of_all_devices(self):
        run = self.start(*self.line("--device", "all", evaluations=4))
        for line in run.stderr:
            if ": best " in line:
                break
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate()
        self.assertEqual(run.returncode, 130, errors)
        self.assertEqual(self.rows("SELECT state FROM session"), [("interrupted",)])
        self.assertEqual(device_children(run.pid), {})
        resumed = self.tune(*self.line("--device", "all", evaluations=4))
        self.assertIn("resuming", resumed.stderr)
        self.assertEqual(self.rows("SELECT count(*) FROM result"), [(4 * len(SIZES),)])


class ModelsTest(CardsTest):
    devices = "1+1"

    def test_one_run_on_all_devices(self):
        run = self.tune(*self.line("--device", "all", "--json", sizes=(1000, 2000)))
        kernels = json.loads(run.stdout)["kernels"]
        self.assertEqual(len({kernel["device"] for kernel in kernels}), 2)
        self.assertEqual(len(self.rows("SELECT * FROM session")), 2, "a run for each model")
        self.assertEqual(len(self.rows("SELECT * FROM best")), 4, "each has its own sizes")
        table = self.tune(*self.line("--device", "all", sizes=(1000, 2000))).stdout
        self.assertIn("saxpy on ", table)

    test_a_device_whose_process_is_killed_again_and_again = None
    test_an_interruption_ends_the_work_of_all_devices = None
    test_devices_that_are_none = None


if __name__ == "__main__":
    unittest.main()
