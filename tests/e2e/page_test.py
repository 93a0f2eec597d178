#!/usr/bin/env python3
"""`baton run --html`: one page that needs nothing else, whatever the names in it are."""

import html.parser
import re

from baton import ON_GPU, Case, buffer, kernel, launch, main, program
from svg_words import overlaps

ADD = 'extern "C" __global__ void add(float* y, int i) {\n  y[threadIdx.x] += i;\n}\n'
REPEAT = ('[[steps]]\nrepeat = 3\nindex = "layer"\n'
          'steps = [ { launch = "add", grid = [1], block = [32], args = ["y", "layer"] } ]\n')
COPY = '[[steps]]\ncopy = { from = "y", to = "z" }\n'
BUFFERS = buffer("y", "f32", [32], "inout", "zeros") + buffer("z", "f32", [32], "output")
VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(html.parser.HTMLParser):
    """The elements and the text of a page that is well formed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.words = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attributes]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attributes]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if self.open[-1:] not in (["style"], ["title"]):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(self.words)


class Pages(Case):
    def page(self, *arguments, status=0, text=None):
        if text is not None:
            self.write("p.toml", text)
        result = self.baton("run", "p.toml", "--html", "r.html", *arguments)
        self.check(result, status)
        raw = (self.folder / "r.html").read_text(encoding="utf-8")
        page = Page(raw)
        self.hold_alone(page, raw)
        return page

    def hold_alone(self, page, raw):
        """Nothing is loaded, and nothing runs."""
        self.assertTrue(raw.startswith("<!DOCTYPE html>"))
        self.assertFalse({"script", "link", "img", "iframe", "object", "embed", "base", "form"} & set(page.tags))
        for tag, name, value in page.attributes:
            self.assertNotIn(name, ("src", "href", "xlink:href", "action", "srcset"), (tag, value))
            self.assertFalse(name.startswith("on"), (tag, name))
            self.assertNotIn("url(", value)
        self.assertNotRegex(raw, r"url\(|@import|https?://")
        self.assertIn("default-src 'none'", raw)

    def test_of_a_run(self):
        page = self.page(text=program(BUFFERS, kernel("add", text=ADD), REPEAT, COPY))
        for part in ("test", "ok", "Program", "Steps", "Edges", "Outputs", "Timeline", "copy y -> z", "3 times",
                     "layer = 1", "unknown", "never waits", "not compared"):
            self.assertIn(part, page.text)
        self.assertGreaterEqual(page.tags.count("svg"), 2)
        self.assertNotIn("Findings", page.text)

    def test_words_of_the_picture_lie_apart(self):
        """Groups in groups, whose ways back lead to the same launches."""
        step = '{ launch = "add", grid = [1], block = [32], args = ["y", 1] }'
        inner = f'{{ repeat = 2, steps = [ {step}, {step} ] }}'
        text = program(BUFFERS, kernel("add", text=ADD), launch("add", [1], [32], ["y", 1]),
                       f'[[steps]]\nrepeat = 2\nsteps = [ {inner}, {step} ]\n', COPY)
        self.page(text=text)
        raw = (self.folder / "r.html").read_text(encoding="utf-8")
        picture = raw[raw.index("<svg"):raw.index("</svg>")]
        self.assertGreaterEqual(picture.count("never waits"), 5)
        self.assertEqual(overlaps(picture), [])

    def test_of_a_comparison(self):
        self.save("z.npy", __import__("numpy").zeros(32, "f4"))
        page = self.page("--expect", "z=z.npy", status=1,
                         text=program(BUFFERS, kernel("add", text=ADD), REPEAT, COPY))
        for part in ("failed", "mismatch", "differs", "32 elements"):
            self.assertIn(part, page.text)

    def test_of_a_fault(self):
        if ON_GPU:
            self.skipTest("a GPU tells no line")
        self.write("k.cu", ADD.replace("[threadIdx.x]", "[i * 16 + threadIdx.x]"))
        page = self.page(status=1, text=program(BUFFERS, kernel("add", source="k.cu"), REPEAT, COPY))
        for part in ("failed", "fault", "past the end of buffer y", "layer = 1",
                     "2 |   y[i * 16 + threadIdx.x] += i;"):
            self.assertIn(part, page.text)
        self.assertIn("mark", page.tags)
        self.assertNotIn("Findings", page.text)  # the error is its only one

    def test_of_findings(self):
        if ON_GPU:
            self.skipTest("the simulated GPU finds races")
        self.write("k.cu", """extern "C" __global__ void add(float* y, int i) {
  __shared__ float s[32 * 4];
  s[threadIdx.x] = i;
  y[threadIdx.x % 32] = s[127 - threadIdx.x];
}""")
        page = self.page(status=1, text=program(BUFFERS, kernel("add", source="k.cu"),
                                                launch("add", [1], [128], ["y", 1])))
        for part in ("Findings", "shared_race", "4 |   y[threadIdx.x % 32] = s[127 - threadIdx.x];"):
            self.assertIn(part, page.text)

    def test_of_a_program_that_does_not_load(self):
        self.write("p.toml", program(BUFFERS, kernel("add", text="nonsense"), REPEAT))
        self.assertEqual(self.baton("run", "p.toml", "--html", "r.html").status, 2)
        self.assertIn("compile", Page((self.folder / "r.html").read_text()).text)

    def test_hostile_names(self):
        bad = '</title><script>alert(1)</script>&amp;"\\\'<img src=x>'
        quoted = bad.replace("\\", "\\\\").replace('"', '\\"')
        self.write("k.cu", ADD)
        text = program(BUFFERS, kernel("add", source="k.cu"), REPEAT, COPY)
        text = text.replace('name = "test"', f'name = "{quoted}"').replace("[kernels.add]", f'[kernels."{quoted}"]')
        text = text.replace('launch = "add"', f'launch = "{quoted}"').replace("source =", 'entry = "add"\nsource =')
        page = self.page(text=text)
        self.assertIn(bad, page.text)
        # The picture cuts long labels; its whole text is in the tables.
        self.assertNotIn("script", page.tags)

    def test_bytes_that_are_no_text(self):
        self.write("k.cu", ADD.replace("[threadIdx.x]", "[i * 16 + threadIdx.x]").encode() + b"// \xff\xfe\x00\n")
        status = 0 if ON_GPU else 1
        self.write("p.toml", program(BUFFERS, kernel("add", source="k.cu"), REPEAT))
        result = self.baton("run", "p.toml", "--html", "r.html")
        self.assertIn(result.status, (status, 2), result)
        Page((self.folder / "r.html").read_text(encoding="utf-8"))

    def test_a_long_program(self):
        steps = "".join(launch("add", [1], [32], ["y", k]) for k in range(150))
        page = self.page(text=program(BUFFERS, kernel("add", text=ADD), steps))
        self.assertIn("and 30 more steps", page.text)

    def test_the_file_is_checked_before_the_run(self):
        self.write("p.toml", program(BUFFERS, kernel("add", text=ADD), REPEAT))
        self.check(self.baton("run", "p.toml", "--html", "none/r.html"), 2, "--html none/r.html")


if __name__ == "__main__":
    main()
