#!/usr/bin/env python3
"""Executes every console block of the pages, see page_runner.py. After an intended change of output:

    UPDATE=1 ctest --test-dir build/release -R e2e/docs
"""

import re
import shutil

from baton import ON_GPU, ROOT, main
from page_runner import Page

# Pages whose files are examples of the repository: what a reader has in the folder beforehand.
FOLDERS = {
    "docs/bundles.md": [("examples/saxpy", "examples/saxpy")],
    "docs/cli-bench.md": [("tests/e2e/pages/cli-bench", "")],
    "docs/cli-run.md": [("tests/e2e/pages/cli-run", ""), ("tests/golden/metadata", "tests/golden/metadata")],
    "docs/metadata.md": [("tests/golden/metadata", "tests/golden/metadata")],
    "docs/scale.md": [("bench", "bench")],
    "docs/pdl.md": [("examples/decode_layer", "")],
    "docs/pdl-rewrite.md": [("tests/e2e/pages/pdl-rewrite", "")],
    "docs/pdl-verdicts.md": [("tests/e2e/pages/pdl-verdicts", "")],
}
# Pages that another test executes: your-program.md needs the installed package
# (tests/package/page_test.py), record.md needs nvcc (tests/record/record_test.py).
ELSEWHERE = {"docs/your-program.md", "docs/record.md"}


def pages():
    return [str(path.relative_to(ROOT)) for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
            if "\n```console\n" in path.read_text(encoding="utf-8")]


def copy_tree(source, target):
    """Without what other tests may write there meanwhile."""
    shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))


class Docs(Page):
    def test_each_page_with_commands_is_executed(self):
        found = set(pages())
        self.assertGreaterEqual(len(found), 8)
        for name in [*FOLDERS, *ELSEWHERE]:
            self.assertIn(name, found, "the page has no console block any more")
        executed = {name.removeprefix("test_page_") for name in dir(self) if name.startswith("test_page_")}
        self.assertEqual(len(executed), len(found - ELSEWHERE))


class Readme(Page):
    """The README's own commands, for somebody who has nothing but a .cu file."""

    KERNEL = """// y = a x + y
__global__ void saxpy(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
int main() { saxpy<<<1, 32>>>(nullptr, nullptr, 2.0f, 0); }
"""

    def setUp(self):
        super().setUp()
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        self.blocks = re.findall(r"^```(\w*)\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)

    def commands(self, part):
        """The lines with `baton` of the block that has this part."""
        block = next(text for kind, text in self.blocks if not kind and part in text)
        return [line.partition("  #")[0].strip() for line in block.splitlines() if line.startswith("baton ")]

    def test_a_kernel_of_ones_own(self):
        self.write("k.cu", self.KERNEL)
        (command,) = self.commands("baton init")
        status, out = self.call(command)
        self.assertEqual(status, 0, out)
        self.assertIn("k.toml: 1 kernel", out)
        self.assertNotIn("warning", out)
        self.assertRegex(out, r"\n  saxpy +4096 +256 ")
        # The race, with its line, in the same folder.
        self.write("race.cu", self.KERNEL.replace("if (i < n) y[i] = a * x[i] + y[i];", "if (i < n) y[i % 2] = x[i];"))
        status, out = self.call("baton init race.cu; baton run race.toml --races global --set n=512")
        self.assertEqual(status, 0 if ON_GPU else 1, out)
        if not ON_GPU:
            self.assertRegex(out, r"race\.cu:4:\d+: launch 0 \(saxpy\).* writes at race\.cu:4:\d+, and there is no barrier")

    def test_the_first_program(self):
        # The reference imports from the folder above its own. That must not be the folder for
        # temporary files, where any program may have left a module.
        example = self.folder / "saxpy"
        copy_tree(ROOT / "examples" / "saxpy", example)
        shutil.copy(ROOT / "examples" / "baton_random.py", self.folder)
        self.write("saxpy/saxpy.toml", next(text for kind, text in self.blocks if kind == "toml"))
        status, out = self.call("python3 saxpy/reference.py --out arrays")
        self.assertEqual(status, 0, out)
        commands = self.commands("--expect")
        self.assertEqual(len(commands), 2)
        for command in commands:
            status, out = self.call("cd saxpy && " + command.replace("/tmp/baton", "../arrays"))
            self.assertEqual(status, 0, out)


def add_test(page):
    def test(self):
        for source, target in FOLDERS.get(page, []):
            copy_tree(ROOT / source, self.folder / target)
        self.assertGreater(self.run_page(page), 0)
    setattr(Docs, "test_page_" + page.removesuffix(".md").replace("/", "_").replace("-", "_"), test)


for each in pages():
    if each not in ELSEWHERE:
        add_test(each)

if __name__ == "__main__":
    main()
