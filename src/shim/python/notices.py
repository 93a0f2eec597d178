"""What a Python process tells of what is not checked, as lines of the report of `baton exec`.

shim/process_report.h has the form of the lines.
"""

import json
import os
import sys


def report(what):
    """Whether there is a report."""
    folder = os.environ.get("BATON_EXEC_REPORT")
    if not folder:
        return False
    with open(os.path.join(folder, f"{os.getpid()}.jsonl"), "a", encoding="utf-8") as file:
        file.write(json.dumps({"event": "image", "what": what}) + "\n")
    return True


def tell(what):
    """On standard error where there is no report."""
    if not report(what):
        print(f"baton: warning: {what}", file=sys.stderr)
