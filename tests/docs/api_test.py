# SPDX-License-Identifier: Apache-2.0
"""scripts/docs.sh makes the API reference: every parameter is described, every link leads somewhere."""

import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ("tuner/dispatch/dispatcher.hpp", "tuner/dispatch/gemm.hpp", "tuner/dispatch/dispatch.h",
           "tuner/blas/product.hpp", "tuner/select/rung.hpp")


class Page(html.parser.HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        self.anchors |= {of[name] for name in ("id", "name") if of.get(name)}
        if tag == "a" and of.get("href"):
            self.links.append(of["href"])


def make_reference(tree):
    return subprocess.run([tree / "scripts/docs.sh", tree / "out"], capture_output=True, text=True, timeout=100)


class ApiTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="tune-test-")
        self.addCleanup(directory.cleanup)
        self.tree = pathlib.Path(directory.name)
        for name in (*HEADERS, "docs/Doxyfile", "scripts/docs.sh", "CMakeLists.txt"):
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.tree / name)

    def test_every_declaration_is_described_and_every_link_leads_somewhere(self):
        run = make_reference(self.tree)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        folder = self.tree / "out/html"
        pages = {path.name: Page(path) for path in folder.glob("*.html")}
        for name, page in pages.items():
            for link in page.links:
                to, _, anchor = urllib.parse.unquote(link).partition("#")
                if re.match(r"[a-z]+:", to):
                    continue
                with self.subTest(page=name, link=link):
                    self.assertTrue((folder / (to or name)).exists())
                    if anchor and (to or name) in pages:
                        self.assertIn(anchor, pages[to or name].anchors)
        text = "".join(path.read_text() for path in (self.tree / "out/xml").glob("dispatch_8h.xml"))
        calls = re.findall(r"^TUNER_API .*?\b(tuner_\w+)\(", (ROOT / "tuner/dispatch/dispatch.h").read_text(), re.M)
        self.assertGreater(len(calls), 8)
        for call in calls:
            self.assertIn(f"<name>{call}</name>", text)

    def test_a_parameter_that_is_not_described_is_an_error(self):
        header = self.tree / "tuner/dispatch/dispatch.h"
        text = header.read_text()
        self.assertIn(" * @param ldc ", text)
        header.write_text(text.replace(" * @param ldc ", " * ldc: ", 1))
        run = make_reference(self.tree)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("ldc", run.stdout + run.stderr)


if __name__ == "__main__":
    if not shutil.which("doxygen"):
        print("doxygen is not installed", file=sys.stderr)
        sys.exit(77)
    unittest.main()
