"""Runs the cells of a notebook in order, without Jupyter."""

import ast
import contextlib
import io
import json
import pathlib
from typing import Any


class Notebook:
    """A notebook's file. A cell tagged "varies" shows something else in each run, such as times: the
    types of what it shows are compared, and nothing of it is kept in the file."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        self.content = json.loads(path.read_text(encoding="utf-8"))
        self.code = [cell for cell in self.content["cells"] if cell["cell_type"] == "code"]

    def execute(self) -> list[list[dict[str, Any]]]:
        """The outputs of each cell with code, in the notebook format."""
        names: dict[str, Any] = {"__name__": "__main__"}
        return [self._execute(number, "".join(cell["source"]), names)
                for number, cell in enumerate(self.code, 1)]

    def _execute(self, number: int, source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
        tree = ast.parse(source, f"{self.path.name}, cell {number}")
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed = io.StringIO()
        shown = None
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, f"{self.path.name}, cell {number}", "exec"), names)
            if last is not None:
                shown = eval(compile(ast.Expression(last.value), f"{self.path.name}, cell {number}",
                                     "eval"), names)
        outputs: list[dict[str, Any]] = []
        if printed.getvalue():
            outputs.append({"name": "stdout", "output_type": "stream",
                            "text": printed.getvalue().splitlines(keepends=True)})
        if shown is not None:
            outputs.append({"data": displayed(shown), "execution_count": number, "metadata": {},
                            "output_type": "execute_result"})
        return outputs

    def differences(self, outputs: list[list[dict[str, Any]]]) -> list[str]:
        """What is not as in the file, one text for each cell."""
        found = []
        for number, (cell, got) in enumerate(zip(self.code, outputs), 1):
            if is_varying(cell):
                wanted = cell["metadata"].get("shows", [])
                shows = sorted(kind for output in got for kind in output.get("data", ["text"]))
                if shows != wanted:
                    found.append(f"cell {number} shows {shows}, the file says {wanted}")
            elif got != cell["outputs"]:
                found.append(f"cell {number}: {json.dumps(got, indent=1, ensure_ascii=False)}\n"
                             f"in the file: {json.dumps(cell['outputs'], indent=1, ensure_ascii=False)}")
        return found

    def update(self, outputs: list[list[dict[str, Any]]]) -> None:
        """Writes the outputs into the file."""
        for number, (cell, got) in enumerate(zip(self.code, outputs), 1):
            cell["execution_count"] = number
            cell["outputs"] = [] if is_varying(cell) else got
            if is_varying(cell):
                cell["metadata"]["shows"] = sorted(kind for output in got
                                                   for kind in output.get("data", ["text"]))
        text = json.dumps(self.content, indent=1, ensure_ascii=False)
        self.path.write_text(text + "\n", encoding="utf-8")


def is_varying(cell: dict[str, Any]) -> bool:
    return "varies" in cell["metadata"].get("tags", [])


def displayed(value: Any) -> dict[str, Any]:
    """The forms in which Jupyter would show a value."""
    data: dict[str, Any] = {}
    for kind, method in (("text/html", "_repr_html_"), ("image/svg+xml", "_repr_svg_")):
        if hasattr(value, method):
            data[kind] = getattr(value, method)().splitlines(keepends=True)
    # An object whose text is its address shows its type alone.
    text = str(value) if type(value).__str__ is not object.__str__ and not isinstance(
        value, str) and data else repr(value)
    data["text/plain"] = text.splitlines(keepends=True)
    return data
