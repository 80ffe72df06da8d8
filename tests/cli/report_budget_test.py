# SPDX-License-Identifier: Apache-2.0
"""tune report on the trials of long searches: what it may take."""

import contextlib
import os
import sqlite3
import statistics
import time
import unittest

import many_trials
from program import SHORT_RUN, ProgramTest

MEMORY_MIB = 200
# Processor time, in units of what SQLite alone needs to read all trials: other programs slow both down alike. A report
# takes 9 to 12 when built with -O1, 8 to 9 when built with -O3 (3.0 to 3.5 s on a busy machine); it took 15 to 20 before.
MOST_READS = 15


def seconds_of_a_read(database):
    with contextlib.closing(sqlite3.connect(database)) as opened:
        start = time.process_time()
        opened.execute("SELECT sum(length(r.message) + length(c.json)), sum(median_ns) "
                       "FROM result r JOIN config c ON c.id = r.config_id").fetchall()
        return time.process_time() - start


class ReportBudgetTest(ProgramTest):
    def test_324060_trials_fit_into_the_memory_and_the_time(self):
        self.tune("-q", *SHORT_RUN)
        many_trials.fill(self.database)
        read_s = [seconds_of_a_read(self.database) for _ in range(3)]
        report = self.start("report", "-o", "pages")
        _, status, usage = os.wait4(report.pid, 0)
        report.returncode = os.waitstatus_to_exitcode(status)
        _, errors = report.communicate()
        self.assertEqual(report.returncode, 0, errors)
        mib = usage.ru_maxrss / 1024
        cpu_s = usage.ru_utime + usage.ru_stime
        read_s += [seconds_of_a_read(self.database) for _ in range(3)]
        reads = cpu_s / statistics.median(read_s)
        print(f"{mib:.0f} MiB, {cpu_s:.1f} s of the processor, {reads:.1f} reads of the database")
        self.assertLessEqual(mib, MEMORY_MIB)
        self.assertLessEqual(reads, MOST_READS)
        page, = (self.directory / "pages").glob("*.html")
        self.assertIn("72 sizes", page.read_text())


if __name__ == "__main__":
    unittest.main()
