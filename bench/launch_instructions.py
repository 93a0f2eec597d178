#!/usr/bin/env python3
"""Instructions of one launch, by callgrind, over a driver table that does nothing: what Baton adds
to the driver's own work, free of the noise of a clock.

    python3 bench/launch_instructions.py build/release/bench/launch_cost [--hold]

Each way is run twice under valgrind, with two counts of launches; the difference is that of the
launches alone. Prints a table in Markdown. With --hold it counts one launch of each way, and fails
where that takes more instructions than it is allowed: what a launch costs is part of what is tested.
"""

import re
import subprocess
import sys

FEW, MANY = 1000, 3000
ARMS = {
    "raw, driver's config": "Baton raw, driver's config",
    "raw, own config": "Baton raw, own config",
    "prepared": "Baton prepared (LaunchPlan)",
    "typed": "Baton typed",
}
# What one launch with one attribute and eight arguments may take, about a third above what
# docs/benchmarks.md says that it takes.
ALLOWED = {
    "raw, driver's config": 100,
    "raw, own config": 160,
    "prepared": 130,
    "typed": 365,
}
# The same of one launch of a program, with eight arguments, in a run behind the first.
EXECUTOR, EXECUTOR_ALLOWED = "stream executor", 200
ATTRIBUTES = (0, 1, 4)
ARGUMENTS = (0, 1, 8, 32)


def instructions(bench, arm, arguments, attributes, launches):
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", bench,
         "--device", "null", "--arm", arm, "--arguments", str(arguments),
         "--attributes", str(attributes), "--rounds", str(launches)],
        capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def per_launch(bench, arm, arguments, attributes):
    few, many = (instructions(bench, arm, arguments, attributes, n) for n in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def hold(bench):
    too_many = False
    limits = [(name, arm, ALLOWED[name]) for name, arm in ARMS.items()]
    for name, arm, allowed in limits + [(EXECUTOR, EXECUTOR, EXECUTOR_ALLOWED)]:
        count = per_launch(bench, arm, arguments=8, attributes=1)
        too_many |= count > allowed
        print(f"{name}: {count:.0f} instructions of {allowed}", flush=True)
    sys.exit(1 if too_many else 0)


def main():
    if len(sys.argv) == 3 and sys.argv[2] == "--hold":
        hold(sys.argv[1])
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("| attributes | arguments | " + " | ".join(ARMS) + " |")
    print("| --- " * (2 + len(ARMS)) + "|")
    for attributes in ATTRIBUTES:
        for arguments in ARGUMENTS:
            counts = (per_launch(sys.argv[1], arm, arguments, attributes) for arm in ARMS.values())
            print(f"| {attributes} | {arguments} | "
                  + " | ".join(f"{count:.0f}" for count in counts) + " |", flush=True)


if __name__ == "__main__":
    main()
