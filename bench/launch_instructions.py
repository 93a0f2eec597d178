#!/usr/bin/env python3
"""Instructions of one launch, by callgrind, over a driver table that does nothing: what Baton adds
to the driver's own work, free of the noise of a clock.

    python3 bench/launch_instructions.py build/release/bench/launch_cost

Each way is run twice under valgrind, with two counts of launches; the difference is that of the
launches alone. Prints a table in Markdown.
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


def main():
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
