# SPDX-License-Identifier: Apache-2.0
"""The installed documents: every link leads to a file that is installed too."""

import os
import pathlib
import re
import unittest

DATA = pathlib.Path(os.environ["PREFIX"]) / "share" / "tuner"


class DocumentsTest(unittest.TestCase):
    def test_every_link_leads_to_an_installed_file(self):
        links = 0
        for document in sorted((DATA / "docs").rglob("*.md")):
            for target in re.findall(r"\]\(([^)#\s]+)", document.read_text()):
                if "://" in target:
                    continue
                links += 1
                self.assertTrue((document.parent / target).exists(), f"{document.relative_to(DATA)}: {target}")
        self.assertGreater(links, 100)

    def test_what_is_not_installed_is_named_by_its_path_in_the_sources(self):
        text = (DATA / "docs" / "reference" / "types.md").read_text()
        self.assertRegex(text, r"Times by type \(`benchmarks/results/[^`]+` in the sources\)")


if __name__ == "__main__":
    unittest.main()
