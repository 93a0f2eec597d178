"""The examples of docs/python.md, in order, as one program, and those of docs/python-from.md."""

import pathlib
import re

import numpy as np

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "python.md"


def test_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    assert len(blocks) >= 7
    names: dict[str, object] = {}
    for block in blocks:
        line = text.count("\n", 0, block.start(1))
        code = compile("\n" * line + block.group(1), str(PAGE), "exec")
        exec(code, names)
    shown = re.search(r"except baton.ArgumentError.*?^```\n\n```\n(.*?)^```", text,
                      re.MULTILINE | re.DOTALL)
    assert capsys.readouterr().out.strip() == shown.group(1).strip()


def test_coming_from_other_launchers(baton, tmp_path, monkeypatch):
    """Baton's form of each launch, as docs/python-from.md shows it."""
    (tmp_path / "saxpy.cu").write_text(
        'extern "C" __global__ void saxpy(float* y, const float* x, float a, int n) {\n'
        "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) y[i] = a * x[i] + y[i];\n}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / "python-from.md").read_text(encoding="utf-8"),
                        re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    n = 1000
    names = {"x": np.ones(n, np.float32), "y": np.zeros(n, np.float32), "n": n, "stream": baton.Stream(baton.target)}
    for number, block in enumerate(blocks, 1):
        exec(compile(block, f"python-from.md, block {number}", "exec"), names)
        assert (names["y"] == 2 * number).all()
