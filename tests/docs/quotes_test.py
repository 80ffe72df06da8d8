# SPDX-License-Identifier: Apache-2.0
"""What the documents show of the repository's files is what these hold.

<!-- file: PATH --> before a code block says that its lines are lines of that file, one after the other.
"""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
QUOTE = re.compile(r"<!-- file: (\S+) -->\n```\w*\n(.*?)^```", re.S | re.M)


def stands_in(block, text):
    return f"\n{block}" in f"\n{text}"


class QuotesTest(unittest.TestCase):
    def test_every_quoted_block_stands_in_its_file(self):
        quotes = [(document, path, block) for document in DOCUMENTS
                  for path, block in QUOTE.findall(document.read_text())]
        marks = sum(len(re.findall(r"^<!-- file: ", document.read_text(), flags=re.M)) for document in DOCUMENTS)
        self.assertEqual(len(quotes), marks, "a mark is not followed by a code block")
        self.assertIn("examples/saxpy/saxpy.cu", [path for _, path, _ in quotes])
        for document, path, block in quotes:
            with self.subTest(document=document.name, file=path):
                self.assertTrue(stands_in(block, (ROOT / path).read_text()), f"{path} has other lines than\n{block}")

    def test_a_changed_block_is_found(self):
        self.assertTrue(stands_in("b\nc\n", "a\nb\nc\nd\n"))
        self.assertFalse(stands_in("b\nd\n", "a\nb\nc\nd\n"))
        self.assertFalse(stands_in("b\n", "a b\n"))


if __name__ == "__main__":
    unittest.main()
