"""Checks and runs programs with the command line of Baton, and prints what is wrong as annotations of
GitHub, at the source line. The environment has the inputs of action.yml, by their names in capitals.

Status: 1 where a check or a run failed, 2 where no file matches one of the patterns.
"""

import glob
import json
import os
import re
import subprocess
import sys


def escaped(text, more=""):
    """As a workflow command takes it."""
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def annotation(level, where, title, message):
    """One line for GitHub; `where` is FILE:LINE:COLUMN, or empty."""
    place = re.fullmatch(r"(.+?):(\d+)(?::(\d+))?", where or "")
    properties = [f"title={escaped(title, ':,')}"]
    if place and os.path.exists(place[1]):
        names = zip(("file", "line", "col"), place.groups())
        properties[:0] = [f"{name}={escaped(value, ':,')}" for name, value in names if value]
    elif where:
        message = f"{where}: {message}"
    return f"::{level} {','.join(properties)}::{escaped(message)}"


def annotations(result):
    """(what it is about, its line for GitHub) of all that a result of --json found."""
    findings = result.get("findings") or []
    names = {kernel["name"]: kernel.get("kernel") or kernel["demangled"] for kernel in result.get("kernels") or []}
    for finding in findings:
        level = "warning" if finding["severity"] == "warning" else "error"
        times = f" ({finding['count']} times)" if finding["count"] > 1 else ""
        launch = f"; {finding['launch']}" if finding.get("launch") else ""
        title = f"{finding['kind']} in kernel {names.get(finding['kernel'], finding['kernel'])}"
        yield (title, finding["where"]), annotation(
            level, finding["where"], title,
            f"thread {tuple(finding['thread'])} of block {tuple(finding['block'])} {finding['message']}{times}{launch}")
    for edge in result.get("edges") or []:
        if edge["verdict"] == "unsafe":
            title = f"unsafe edge from step {edge['from']} to {edge['to']}"
            yield title, annotation("error", "", title, edge["reason"])
    for warning in result.get("warnings") or []:
        yield warning, annotation("warning", "", "baton", warning)
    error = result.get("error")
    # A fault without a place, or with that of a finding, says nothing new.
    if error and not (findings and error["where"] in ["", None, *(f["where"] for f in findings)]):
        text = "\n".join([error["what"], *(error.get("notes") or [])])
        yield text, annotation("error", error["where"], f"baton: {error['code']}", text)


def call(*words):
    """Runs the command line; its result, whether it succeeded, and what it says of itself."""
    print(f"::group::{' '.join(words)}", flush=True)
    done = subprocess.run([*words, "--json"], stdout=subprocess.PIPE, text=True, check=False)
    print("::endgroup::")
    try:
        result = json.loads(done.stdout)
    except ValueError:
        result = {"error": {"code": "internal", "where": "", "what": f"baton ended with status {done.returncode}"}}
    return result, done.returncode == 0


def main():
    patterns = os.environ["PROGRAMS"].split()
    found = {pattern: glob.glob(pattern, recursive=True) for pattern in patterns}
    # A pattern with a wrong name would leave kernels unchecked.
    empty = [pattern for pattern in patterns if not found[pattern]]
    if empty or not patterns:
        print(annotation("error", "", "baton", f"no file matches {' '.join(empty) or 'nothing'}; set `programs`"))
        return 2
    programs = sorted({path for paths in found.values() for path in paths})
    strict = ["--strict"] if os.environ.get("STRICT", "true") == "true" else []
    device = ["--device", os.environ["DEVICE"]]
    shown, failed = set(), 0
    with open(os.environ["REPORT"], "w", encoding="utf-8") as report:
        for program in programs:
            runs = [["baton", "check", program, *device, *strict]]
            runs += [["baton", "run", program, *device, *strict, "--schedule", schedule, "--races", os.environ["RACES"]]
                     for schedule in re.split(r"[\s,]+", os.environ["SCHEDULES"].strip())]
            for words in runs:
                result, passed = call(*words)
                json.dump({"call": words, **result}, report)
                report.write("\n")
                failed += not passed
                # The same of several runs is shown once.
                for subject, line in annotations(result):
                    if (program, subject) not in shown:
                        shown.add((program, subject))
                        print(line)
                print(f"{'ok    ' if passed else 'failed'} {' '.join(words)}", flush=True)
    print(f"{len(programs)} program{'s' * (len(programs) != 1)}, {failed} failed checks and runs")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
