#!/usr/bin/env python3
"""Draws the pictures of the documentation, as SVG files beside this one.

    python3 docs/pictures/make.py                 the drawings
    BATON=build/release/baton python3 docs/pictures/make.py    and run.svg: what a terminal shows
"""

import fcntl
import html
import os
import pathlib
import pty
import re
import struct
import subprocess
import tempfile
import termios
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
INK, FAINT, BLUE, GREEN, ORANGE = "#24292f", "#8c959f", "#cfe3ff", "#cdeccf", "#ffe0c2"


class Drawing:
    """Boxes, arrows and words on a light ground, which suits pages of both modes."""

    def __init__(self, width, height):
        self.width, self.height = width, height
        self.parts = []

    def box(self, x, y, width, height, text, fill=BLUE):
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" fill="{fill}" '
                          f'stroke="{INK}" stroke-width="1"/>')
        lines = text.split("\n")
        for i, line in enumerate(lines):
            self.text(x + width / 2, y + height / 2 + 5 + (i - (len(lines) - 1) / 2) * 17, line, "middle")

    def text(self, x, y, text, anchor="start", size=13, colour=INK):
        self.parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">'
                          f"{html.escape(text)}</text>")

    def arrow(self, *points, text="", dashed=False, colour=INK):
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        path = " ".join(f"{x},{y}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"{dash} '
                          f'marker-end="url(#tip)"/>')
        if text:
            (x1, y1), (x2, y2) = points[0], points[-1]
            self.text((x1 + x2) / 2, (y1 + y2) / 2 - 6, text, "middle", 12, FAINT)

    def write(self, name):
        (HERE / name).write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" font-family="system-ui, sans-serif">\n'
            f'<defs><marker id="tip" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto">'
            f'<path d="M0 0L9 4L0 8z" fill="{INK}"/></marker></defs>\n'
            f'<rect width="100%" height="100%" rx="8" fill="#ffffff"/>\n' + "\n".join(self.parts) + "\n</svg>\n",
            encoding="utf-8")


def draw_pdl():
    d = Drawing(720, 290)
    d.text(20, 28, "Full edge: the second kernel starts after the first has completed")
    d.box(40, 42, 250, 36, "first kernel")
    d.box(400, 42, 250, 36, "second kernel", GREEN)
    d.arrow((290, 60), (400, 60), text="launch gap")
    d.text(20, 124, "Programmatic edge: it starts early, and waits before it touches what others wrote")
    d.box(40, 138, 250, 36, "first kernel")
    d.box(190, 192, 130, 36, "prologue", ORANGE)
    d.box(320, 192, 230, 36, "the rest of the second", GREEN)
    d.arrow((190, 174), (190, 192))
    d.text(184, 189, "trigger", "end", 12, FAINT)
    d.arrow((290, 174), (318, 190))
    d.text(326, 184, "complete: the wait returns", "start", 12, FAINT)
    d.arrow((40, 256), (700, 256))
    d.text(700, 276, "time", "end", 12, FAINT)
    d.write("pdl.svg")


def draw_chain():
    d = Drawing(720, 230)
    for i, (name, waits) in enumerate((("A", True), ("B", False), ("C", True))):
        x = 40 + i * 210
        d.box(x, 60, 150, 60, f"kernel {name}\n" + ("waits" if waits else "does not wait"), BLUE if waits else ORANGE)
    d.arrow((190, 90), (250, 90), dashed=True)
    d.arrow((400, 90), (460, 90), dashed=True)
    d.arrow((535, 120), (535, 150), (325, 150), (325, 122))
    d.text(430, 168, "C's wait covers B", "middle", 12, FAINT)
    d.arrow((560, 120), (560, 192), (115, 192), (115, 122), dashed=True, colour="#cf222e")
    d.text(330, 212, "it does not cover A: B ended without waiting for A, which may still run", "middle", 12, "#cf222e")
    d.text(40, 40, "Dashed edges are programmatic. All three kernels may run at the same time.")
    d.write("chain.svg")


def draw_tape():
    d = Drawing(760, 210)
    d.box(20, 80, 120, 50, "program file\nor builder", ORANGE)
    d.box(190, 80, 120, 50, "program\n(checked value)")
    d.box(360, 80, 120, 50, "tape\n(packed steps)")
    d.box(570, 30, 160, 50, "stream executor\na call for each step", GREEN)
    d.box(570, 130, 160, 50, "graph executor\none CUDA graph", GREEN)
    d.arrow((140, 105), (190, 105), text="read")
    d.arrow((310, 105), (360, 105), text="bind")
    d.arrow((480, 95), (570, 55))
    d.arrow((480, 115), (570, 155))
    d.text(528, 110, "enqueue", "middle", 12, FAINT)
    d.text(250, 155, "symbols and shapes", "middle", 12, FAINT)
    d.text(420, 155, "addresses, grids,", "middle", 12, FAINT)
    d.text(420, 171, "edges decided", "middle", 12, FAINT)
    d.write("tape.svg")


def draw_simulator():
    d = Drawing(720, 270)
    d.box(210, 20, 300, 44, "Baton: programs, launches, checks", BLUE)
    d.box(210, 96, 300, 40, "the CUDA driver, as one table of functions", ORANGE)
    d.box(60, 180, 240, 64, "libcuda\nyour GPU runs machine code", GREEN)
    d.box(420, 180, 240, 64, "simulated GPU\nthe CPU runs PTX, and checks it", GREEN)
    d.arrow((360, 64), (360, 96))
    d.arrow((290, 136), (190, 180))
    d.arrow((430, 136), (530, 180))
    d.write("simulator.svg")


# The output as a terminal shows it, with its colours.
COLOURS = {"1": "#ffffff", "31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "2": "#8b949e"}
RACE = """\
extern "C" __global__ void reverse(float* y) {
  __shared__ float s[256];
  s[threadIdx.x] = y[threadIdx.x];
  y[threadIdx.x] = s[255 - threadIdx.x];   // no barrier
}
"""
CALLS = ["cat reverse.cu", "baton init reverse.cu", "baton run reverse.toml --device sim --set N=256"]


def shown(command, folder, columns):
    """The output of a command on a terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(command, shell=True, cwd=folder, stdout=slave, stderr=slave, stdin=subprocess.DEVNULL,
                               env=dict(os.environ, TERM="xterm", BATON_CACHE_DIR=f"{folder}/cache",
                                        PATH=f"{pathlib.Path(os.environ['BATON']).resolve().parent}:{os.environ['PATH']}"))
    os.close(slave)
    text = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    process.wait()
    # A progress line is replaced by what follows.
    return re.sub(r"[^\n]*\r(?!\n)|\x1b\[K", "", text.decode().replace("\r\n", "\n"))


def spans(line):
    """(text, colour) of each piece of a line."""
    colour = "#c9d1d9"
    for piece in re.split(r"(\x1b\[[\d;]*m)", line):
        code = re.fullmatch(r"\x1b\[([\d;]*)m", piece)
        if code:
            colour = COLOURS.get(code[1].split(";")[-1], "#c9d1d9")
        elif piece:
            yield piece, colour


def draw_run(columns=96):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "reverse.cu").write_text(RACE)
        lines = []
        for call in CALLS:
            lines += [f"\x1b[32m$\x1b[0m \x1b[1m{call}\x1b[0m", *shown(call, folder, columns).rstrip("\n").split("\n"), ""]
    # Long lines of messages, which a terminal breaks anywhere, break between words.
    lines = [part for line in lines for part in textwrap.wrap(line, columns, drop_whitespace=False) or [""]]
    rows = [f'<text x="18" y="{44 + 17 * i}" xml:space="preserve">' +
            "".join(f'<tspan fill="{c}">{html.escape(t)}</tspan>' for t, c in spans(line)) + "</text>"
            for i, line in enumerate(lines)]
    width, height = 36 + 7.83 * columns, 50 + 17 * len(lines)
    (HERE / "run.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" '
        f'font-family="ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="13">\n'
        f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/>\n'
        '<circle cx="22" cy="17" r="5" fill="#ff5f56"/><circle cx="40" cy="17" r="5" fill="#ffbd2e"/>'
        '<circle cx="58" cy="17" r="5" fill="#27c93f"/>\n' + "\n".join(rows) + "\n</svg>\n", encoding="utf-8")


if __name__ == "__main__":
    draw_pdl()
    draw_chain()
    draw_tape()
    draw_simulator()
    if "BATON" in os.environ:
        draw_run()
