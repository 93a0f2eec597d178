"""The notebooks of the documentation: each runs, and shows what its file says. UPDATE=1 writes what they show."""

import os
import pathlib
import re
import shutil

import pytest

from notebook import Notebook

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks():
    assert len(NOTEBOOKS) == 5


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, tmp_path, monkeypatch):
    notebook = Notebook(path)
    for module in sorted(set(re.findall(r"(?m)^import (torch|triton)$",
                                        "\n".join("".join(cell["source"]) for cell in notebook.code)))):
        pytest.importorskip(module, reason=f"{module} is not installed")
    # What it writes stays out of the repository.
    shutil.copytree(FOLDER, tmp_path / "notebooks")
    monkeypatch.chdir(tmp_path / "notebooks")
    outputs = notebook.execute()
    if os.environ.get("UPDATE"):
        return notebook.update(outputs)
    assert not notebook.differences(outputs)
