"""Takes perfetto.png: the timeline of docs/trace.md in the user interface of Perfetto.

    BATON=build/release/baton venv/bin/python docs/pictures/perfetto.py

tests/e2e/perfetto_test.py says what the environment needs. PyPI's Pillow makes the file smaller, if it is there.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))

import perfetto_ui  # pylint: disable=wrong-import-position

BATON = str(pathlib.Path(os.environ["BATON"]).resolve())


def main():
    page = (ROOT / "docs/trace.md").read_text(encoding="utf-8")
    program = re.search(r"`pair\.toml`:\n\n```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[1]
    command = re.search(r"^\$ baton (run pair\.toml .*)$", page, re.MULTILINE)[1]
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "pair.toml").write_text(program, encoding="utf-8")
        subprocess.run([BATON, *command.split()], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        ui = perfetto_ui.PerfettoUi(pathlib.Path(folder) / "pair.json")
        try:
            second = "select id from slice where category = 'launch' and name = 'twice' order by ts limit 1 offset 1"
            ui.select(ui.query(second)[0][0])
            ui.show(0, 28_000)
            ui.picture(HERE / "perfetto.png")
            print(f"perfetto.png: Perfetto {ui.version}")
        finally:
            ui.close()


if __name__ == "__main__":
    main()
