"""The examples of docs/python.md, in order, as one program."""

import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


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
