# SPDX-License-Identifier: Apache-2.0
"""Every link of the documents leads to a file and, with an anchor, to a heading; every document that code names exists."""

import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
# A document named in code or prose by its path from the repository's root.
NAMED = re.compile(r"(?<![\w/.-])docs/[\w/.-]+\.(?:md|json|png|svg)\b")
# Texts of their own time: published results hold old sources, the changelog names what was there then.
AS_THEY_WERE = ("db/seed/", "tests/data/", "reports/gallery/", "CHANGELOG.md")


def files():
    """The project's own text files; without git, as in a release's archive, all that lie in its folders."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True).stdout.split("\0")
    paths = [ROOT / name for name in listed if name] or [
        *ROOT.glob("*.md"), *(path for folder in ("docs", "examples", "tuner", "tests", "scripts", "spaces")
                              for path in (ROOT / folder).rglob("*") if path.is_file())]
    return [path for path in paths if path.is_file()]


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.S | re.M))


def anchors(text):
    """The anchors of a document's headings, as GitHub makes them."""
    found, seen = set(), {}
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), flags=re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        times = seen[slug] = seen.get(slug, -1) + 1
        found.add(f"{slug}-{times}" if times else slug)
    return found


def broken_links(path, text):
    """(target, why) of the links of a document that lead nowhere."""
    for target in LINK.findall(without_code(text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        to = (path.parent / name).resolve() if name else path
        if not to.exists():
            yield target, "no such file"
        elif name and to == path:
            yield target, "its own page: meant is another, or an anchor alone"
        elif anchor and to.suffix == ".md" and anchor not in anchors(text if to == path else to.read_text()):
            yield target, "no such heading"


class LinksTest(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        documents = [path for path in files() if path.suffix == ".md"]
        self.assertGreater(len(documents), 10)
        for path in documents:
            with self.subTest(document=str(path.relative_to(ROOT))):
                self.assertEqual(list(broken_links(path, path.read_text())), [])

    def test_a_dead_link_is_found(self):
        path = ROOT / "README.md"
        text = "# One two\n[a](docs) [b](no/such.md) [c](#one-two) [d](#three) [e](LICENSE) `[f](code.md)` [g](docs/../README.md#one-two)"
        self.assertEqual(list(broken_links(path, text)), [("no/such.md", "no such file"), ("#three", "no such heading"),
                                                         ("docs/../README.md#one-two", "its own page: meant is another, or an anchor alone")])

    def test_every_document_that_is_named_exists(self):
        for path in files():
            name = str(path.relative_to(ROOT))
            if name.startswith(AS_THEY_WERE) or path == pathlib.Path(__file__):
                continue
            try:
                text = path.read_text()
            except UnicodeDecodeError:
                continue
            with self.subTest(file=name):
                self.assertEqual([found for found in NAMED.findall(text) if not (ROOT / found).exists()], [])

    def test_every_page_is_reached_from_the_readme(self):
        reached, left = set(), [ROOT / "README.md"]
        while left:
            path = left.pop()
            if path in reached or path.suffix != ".md":
                continue
            reached.add(path)
            for target in LINK.findall(path.read_text()):
                to = (path.parent / target.partition("#")[0]).resolve()
                if to.is_dir():
                    left += to.glob("*.md" if to == path.parent else "README.md")
                elif to.exists():
                    left.append(to)
        pages = {path for path in files() if path.suffix == ".md" and path.is_relative_to(ROOT / "docs")}
        self.assertEqual({str(path.relative_to(ROOT)) for path in pages - reached}, set())


if __name__ == "__main__":
    unittest.main()
