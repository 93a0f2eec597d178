#!/usr/bin/env python3
"""The documentation as a site (scripts/docs): every page has its place, none is too long to read at
once, and the drawings are those of their script."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))
import broken_links  # beside the pages

# Ten minutes of reading. Lists to look things up in, which are not read from start to end, may be longer.
MOST_WORDS = 2400
LISTS = {"instruction-list.md", "changelog.md"}


def words(text):
    """The words of a page, without its code and the figures of its tables."""
    prose = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return len(re.findall(r"\S*[A-Za-z]\S*", prose))


def pages():
    return sorted(path.relative_to(DOCS) for path in DOCS.rglob("*.md"))


class Site(unittest.TestCase):
    def test_every_page_has_one_place_in_the_index(self):
        index = (DOCS / "index.md").read_text(encoding="utf-8")
        listed = [f"{name}.md" for tree in re.findall(r"^```\{toctree\}\n(.*?)^```$", index, re.MULTILINE | re.DOTALL)
                  for name in tree.splitlines() if name and not name.startswith(":")]
        self.assertEqual(sorted(listed), [str(page) for page in pages() if str(page) != "index.md"])

    def test_every_notebook_has_one_place_under_its_page(self):
        page = (DOCS / "notebooks.md").read_text(encoding="utf-8")
        tree = re.search(r"^```\{toctree\}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1]
        listed = [name for name in tree.splitlines() if name and not name.startswith(":")]
        notebooks = [f"notebooks/{path.stem}" for path in (DOCS / "notebooks").glob("*.ipynb")]
        self.assertEqual(sorted(listed), sorted(notebooks))

    def test_no_page_is_too_long(self):
        long = {str(page): count for page in pages() if str(page) not in LISTS
                and (count := words((DOCS / page).read_text(encoding="utf-8"))) > MOST_WORDS}
        self.assertEqual(long, {}, "split them, or move a list to a page of its own")

    def test_every_public_header_is_in_the_reference(self):
        shown = {name for page in (DOCS / "api").glob("*.md")
                 for name in re.findall(r"\{doxygenfile\} (\S+)", page.read_text(encoding="utf-8"))}
        # Those that others include, and those for interoperation with CUDA's own headers.
        other = {"export.h", "forward.h", "baton.h", "cuda.h", "cuda_runtime.h", "cutlass.h"}
        headers = {path.name for path in (ROOT / "include" / "baton").glob("*.h")}
        self.assertEqual(headers - shown - other, set())

    def test_links_to_nothing_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            site = pathlib.Path(folder)
            (site / "api").mkdir()
            (site / "a b.svg").write_text("")
            (site / "index.html").write_text("""<h1 id="start">x</h1><a href="#start">1</a><a href="api/c.html#f">2</a>
                <img src="a%20b.svg"><a href="https://example.com/none">3</a><a href="api/">4</a>""")
            (site / "api" / "c.html").write_text("""<p id="f"></p><a href="../index.html#start">1</a>""")
            self.assertEqual(list(broken_links.broken(site)), [])
            (site / "api" / "c.html").write_text("""<a href="../index.html#end">1</a><img src="no.svg"><a href="d.html">
                """)
            self.assertEqual(list(broken_links.broken(site)),
                             [("api/c.html", "../index.html#end"), ("api/c.html", "d.html"), ("api/c.html", "no.svg"),
                              ("index.html", "api/c.html#f")])

    def test_drawings_are_those_of_the_script(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copy(DOCS / "pictures" / "make.py", folder)
            subprocess.run([sys.executable, copy], check=True, env={"PATH": "/usr/bin:/bin"})
            drawn = list(pathlib.Path(folder).glob("*.svg"))
            self.assertGreater(len(drawn), 3)
            for path in drawn:
                self.assertEqual(path.read_text(), (DOCS / "pictures" / path.name).read_text(), path.name)


if __name__ == "__main__":
    unittest.main()
