# SPDX-License-Identifier: Apache-2.0
"""tune report on the trials of long searches: what it may take."""

import os
import unittest

import many_trials
from program import SHORT_RUN, ProgramTest

MEMORY_MIB = 200
CPU_S = 12  # 3 of a release build on a machine of its own


class ReportBudgetTest(ProgramTest):
    def test_324060_trials_fit_into_the_memory_and_the_time(self):
        self.tune("-q", *SHORT_RUN)
        many_trials.fill(self.database)
        report = self.start("report", "-o", "pages")
        _, status, usage = os.wait4(report.pid, 0)
        report.returncode = os.waitstatus_to_exitcode(status)
        _, errors = report.communicate()
        self.assertEqual(report.returncode, 0, errors)
        mib = usage.ru_maxrss / 1024
        print(f"{mib:.0f} MiB, {usage.ru_utime + usage.ru_stime:.1f} s of the processor")
        self.assertLessEqual(mib, MEMORY_MIB)
        self.assertLessEqual(usage.ru_utime + usage.ru_stime, CPU_S)
        page, = (self.directory / "pages").glob("*.html")
        self.assertIn("72 sizes", page.read_text())


if __name__ == "__main__":
    unittest.main()
