"""A run's timeline as a picture, for notebooks."""

from __future__ import annotations

import html
import json
from typing import Any

_LEFT, _WIDTH, _ROW, _BAR, _FOOT = 190, 880, 22, 14, 28
# More rows are too many to look at.
_MOST_ROWS = 100
_COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#9d755d", "#bab0ac")


class Timeline:
    """The launches, copies and fills of a run, one row each, over the time since the first.

    A tick is the moment at which all blocks had triggered. A launch with a triangle started before
    the launch before it had completed. `svg` is the picture; notebooks show it.
    """

    def __init__(self, trace: str):
        events = json.loads(trace)["traceEvents"] if trace else []
        self._rows = sorted((event for event in events if event["ph"] == "X" and
                             event["cat"] != "block" and event["cat"] != "wait"),
                            key=lambda event: event["ts"])
        self._ticks = [event["ts"] for event in events if event["name"] == "all blocks triggered"]

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"<baton.Timeline of {len(self)} launches, copies and fills>"

    @property
    def svg(self) -> str:
        """The picture, as the text of an SVG file."""
        rows = self._rows[:_MOST_ROWS]
        left_out = len(self._rows) - len(rows)
        height = _ROW * (len(rows) + (left_out > 0)) + _FOOT
        first = rows[0]["ts"] if rows else 0.0
        last = max((row["ts"] + row["dur"] for row in rows), default=1.0)
        scale = (_WIDTH - _LEFT - 20) / max(last - first, 1e-3)
        colours: dict[str, str] = {}
        body = []
        for number, row in enumerate(rows):
            body += self._row(row, number * _ROW, lambda at: _LEFT + (at - first) * scale, colours,
                              rows[number - 1] if number else None)
        if left_out:
            body.append(_text(4, _ROW * len(rows) + 15, f"and {left_out} more"))
        for part in range(5):
            at = (last - first) * part / 4
            x = _LEFT + at * scale
            body.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height - _FOOT}" '
                        'stroke="#8884"/>')
            body.append(_text(x, height - 10, f"{at:.1f} µs", "middle"))
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
                f'width="{_WIDTH}" height="{height}" font-family="sans-serif" font-size="12">'
                f'<g fill="currentColor">{"".join(body)}</g></svg>')

    def _row(self, row: dict[str, Any], top: float, place: Any, colours: dict[str, str],
             before: dict[str, Any] | None) -> list[str]:
        name = row["args"].get("kernel") or row["name"]
        colour = colours.setdefault(name, _COLOURS[len(colours) % len(_COLOURS)])
        begin, end = place(row["ts"]), place(row["ts"] + row["dur"])
        said = f"{name}: {row['dur']:.1f} µs"
        if "grid" in row["args"]:
            said += f", grid {row['args']['grid']}, block {row['args']['block']}"
        parts = [_text(4, top + 15, name if len(name) <= 26 else name[:25] + "…"),
                 f'<rect x="{begin:.1f}" y="{top + 4}" width="{max(end - begin, 1):.1f}" '
                 f'height="{_BAR}" rx="2" fill="{colour}"><title>{html.escape(said)}</title></rect>']
        parts += [f'<line x1="{place(tick):.1f}" x2="{place(tick):.1f}" y1="{top + 2}" '
                  f'y2="{top + _ROW - 2}" stroke="currentColor"/>'
                  for tick in self._ticks
                  if row["cat"] == "launch" and row["ts"] <= tick <= row["ts"] + row["dur"]]
        if before and before["cat"] == row["cat"] == "launch" and \
                row["ts"] < before["ts"] + before["dur"]:
            parts.append(f'<path d="M{begin - 7:.1f} {top + 4} l7 {_BAR / 2} l-7 {_BAR / 2} z"/>')
        return parts

    def _repr_svg_(self) -> str:
        return self.svg


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y}" text-anchor="{anchor}">{html.escape(text)}</text>'
