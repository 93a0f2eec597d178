"""Tables for terminals and notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Mapping, Sequence

if TYPE_CHECKING:
    from ._core import Kernel


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns under their names, separated by two spaces."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
             for row in (header, *rows)]
    return "\n".join(lines)


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]],
               styles: Mapping[str, str] | None = None) -> str:
    """The same for a notebook. `styles` has the style of a cell by its text."""
    def cell(text: str, tag: str) -> str:
        style = (styles or {}).get(text)
        return f"<{tag}{f' style={chr(34)}{style}{chr(34)}' if style else ''}>{html.escape(text)}</{tag}>"

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(cell(text, tag) for text in cells) + "</tr>"
    body = "".join(line(row, "td") for row in rows)
    return f"<table><thead>{line(header, 'th')}</thead><tbody>{body}</tbody></table>"


def kernel_html(kernel: Kernel) -> str:
    """The facts of a kernel and its parameters, for a notebook."""
    def said(value: object) -> str:
        return "unknown" if value is None else str(value)

    facts = [("device", kernel.device.spec), ("architecture", kernel.arch or "unknown"),
             ("registers of a thread", said(kernel.registers)),
             ("static shared memory (bytes)", said(kernel.shared)),
             ("most threads of a block", said(kernel.max_threads)),
             ("waits (griddepcontrol.wait)", said(kernel.waits)),
             ("triggers (griddepcontrol.launch_dependents)", said(kernel.triggers))]
    params = [(str(i), param.type or f"{param.size} bytes", param.kind, said(param.dtype),
               "reads" if param.read_only else "") for i, param in enumerate(kernel.params)]
    return (f"<p><code>{html.escape(kernel.demangled)}</code></p>"
            + html_table(("fact", "value"), facts)
            + html_table(("parameter", "type", "kind", "dtype", "access"), params))
