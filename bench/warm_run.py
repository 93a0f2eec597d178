#!/usr/bin/env python3
"""What `baton run` takes from start to end, all warm: the compile is in the cache, the files are in memory.

    python3 bench/warm_run.py build/release/baton [PROGRAM.toml] [--runs 40]

Each round starts three processes, in an order that turns: the run on the simulated GPU, the same run
with a program whose kernel does nothing (all but the work itself), and `baton --version` (what any
process of this binary takes). Prints medians and quartiles in milliseconds, of the clock and of the
processor time, which other load on the machine moves less. Then the compile that a hit saves: a run
with an empty cache.
"""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
EMPTY = """\
name = "empty"
[kernels.k]
text = 'extern "C" __global__ void k() {}'
[[steps]]
launch = "k"
grid = [1]
block = [1]
"""


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(command, environment):
    """Seconds by the clock and of the processors."""
    before, start = processor_seconds(), time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start, processor_seconds() - before


def shown(name, samples):
    cells = [name]
    for values in zip(*samples):
        low, middle, high = (1000 * q for q in statistics.quantiles(values, n=4))
        cells.append(f"{middle:.1f} ({low:.1f} to {high:.1f})")
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("baton")
    parser.add_argument("program", nargs="?", default=ROOT / "examples" / "saxpy" / "saxpy.toml")
    parser.add_argument("--runs", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        empty = pathlib.Path(folder, "empty.toml")
        empty.write_text(EMPTY)
        arms = {
            "run": [options.baton, "run", options.program],
            "run of an empty kernel": [options.baton, "run", empty],
            "--version": [options.baton, "--version"],
        }
        environment = dict(os.environ, BATON_DEVICE="sim", BATON_CACHE_DIR=os.path.join(folder, "cache"))
        for command in arms.values():
            measure(command, environment)
        samples = {name: [] for name in arms}
        for turn in range(options.runs):
            names = list(arms)
            for name in names[turn % len(names):] + names[:turn % len(names)]:
                samples[name].append(measure(arms[name], environment))
        print("| process | clock, ms (quartiles) | processors, ms (quartiles) |\n| --- | --- | --- |")
        for name, values in samples.items():
            shown(name, values)
        cold = []
        for turn in range(max(options.runs // 8, 3)):
            environment["BATON_CACHE_DIR"] = os.path.join(folder, f"cold{turn}")
            cold.append(measure(arms["run"], environment))
        shown("run, with the compile", cold)


if __name__ == "__main__":
    main()
