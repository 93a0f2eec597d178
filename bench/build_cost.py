#!/usr/bin/env python3
"""Processor time that the simulated GPU of one build of Baton needs for examples, against that of
another build, such as that of the wheel for other machines:

    python3 bench/build_cost.py build/release/baton OTHER/bin/baton [--turns T]

The builds take turns. A figure is the least time of several turns, of which the time of a process
that runs the program once is taken away: what is left is K runs.
"""

import argparse
import os
import pathlib
import resource
import subprocess

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"
# What K is: about a second in a build by g++.
RUNS = {"histogram": 3, "prefix_sum": 40, "decode_layer": 25, "softmax": 150, "gemm_tiled": 40, "saxpy": 150}


def processor_time(baton, program, repeat):
    """Seconds of all threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([baton, "run", program, "--device", "sim:h100", "--repeat", str(repeat)], check=True,
                   stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("builds", nargs=2, metavar="BATON", type=os.path.abspath)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    print(f"{'example':14}{'K':>5}{'first':>10}{'second':>10}{'factor':>8}")
    for name, runs in RUNS.items():
        program = EXAMPLES / name / f"{name}.toml"
        least = {}
        for _ in range(options.turns + 1):  # the first turn compiles
            for baton in options.builds:
                for repeat in (1, runs + 1):
                    seconds = processor_time(baton, program, repeat)
                    least[baton, repeat] = min(least.get((baton, repeat), seconds), seconds)
        first, second = (least[baton, runs + 1] - least[baton, 1] for baton in options.builds)
        print(f"{name:14}{runs:5}{first:9.2f}s{second:9.2f}s{second / first:8.2f}", flush=True)


if __name__ == "__main__":
    main()
