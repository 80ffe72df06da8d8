# SPDX-License-Identifier: Apache-2.0
"""tune report on the trials of long searches: the memory it may take. benchmarks/report/many_trials.py measures its time."""

import os
import unittest

import many_trials
from program import SHORT_RUN, ProgramTest

MEMORY_MIB = 200


class ReportBudgetTest(ProgramTest):
    def test_324060_trials_fit_into_the_memory(self):
        self.tune("-q", *SHORT_RUN)
        many_trials.fill(self.database)
        report = self.start("report", "-o", "pages")
        _, status, usage = os.wait4(report.pid, 0)
        report.returncode = os.waitstatus_to_exitcode(status)
        _, errors = report.communicate()
        self.assertEqual(report.returncode, 0, errors)
        mib = usage.ru_maxrss / 1024
        print(f"{mib:.0f} MiB")
        self.assertLessEqual(mib, MEMORY_MIB)
        page, = (self.directory / "pages").glob("*.html")
        self.assertEqual(len(self.states(page)), 1 + 72)


if __name__ == "__main__":
    unittest.main()
