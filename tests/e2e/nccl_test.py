#!/usr/bin/env python3
"""Collectives by NCCL on two GPUs: threads of one process, processes of mpirun, and a rank that is killed."""

import json
import os
import shutil
import subprocess
import unittest

import numpy

from baton import BATON, ROOT, Case, main
from ranks import free_port
from world_test import SUM

EXAMPLES = {"tensor_parallel": "out", "pipeline_parallel": "y", "data_parallel": "w"}
NCCL_NAMES = ("BATON_NCCL", "BATON_SITE_PACKAGES")

# Every kind, with a ring of messages in one place.
ALL = """
[world]
[buffers.x]
dtype = "f32"
shape = [1000]
role = "inout"
init = "random"
shard = { axis = 0 }
[buffers.all]
dtype = "f32"
shape = ["1000 * ranks"]
role = "output"
[buffers.part]
dtype = "f32"
shape = [1000]
role = "output"
shard = { axis = 0 }
[[steps]]
send = { buffer = "x", to = "(rank + 1) % ranks" }
[[steps]]
receive = { buffer = "x", from = "(rank + ranks - 1) % ranks" }
[[steps]]
all_gather = { from = "x", to = "all" }
[[steps]]
reduce_scatter = { from = "all", to = "part", op = "sum" }
[[steps]]
broadcast = { buffer = "x", root = "ranks - 1" }
[[steps]]
all_reduce = { buffer = "part", op = "max" }
"""


def two_gpus(case):
    devices = case.baton("doctor", "--json").json()["devices"]
    return sum(device["spec"].startswith("cuda") for device in devices) > 1


class Nccl(Case):
    def setUp(self):
        super().setUp()
        if not two_gpus(self):
            self.skipTest("there are fewer than two GPUs")
        self.program = self.write("all.toml", ALL)
        self.places = {name: os.environ[name] for name in NCCL_NAMES if name in os.environ}
        self.baton_with = lambda *arguments: self.baton(*arguments, **self.places)
        probe = self.baton_with("run", self.program, "--devices", "cuda:0,cuda:1", "--collectives", "nccl")
        if "NCCL is not installed" in probe.err:
            self.skipTest("there is no NCCL")

    def settings(self, **more):
        kept = ("BATON_CUDA_ROOT", "BATON_NVRTC", *NCCL_NAMES)
        settings = {k: v for k, v in os.environ.items() if not k.startswith("BATON_") or k in kept}
        settings.update(BATON_CACHE_DIR=self._cache.name, **more)
        return settings

    def start_ranks(self, *arguments, **more):
        port = str(free_port())
        return [subprocess.Popen(
            [BATON, "run", *map(str, arguments)], cwd=self.folder, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            env=self.settings(RANK=str(rank), WORLD_SIZE="2", LOCAL_RANK=str(rank), LOCAL_WORLD_SIZE="2",
                              MASTER_ADDR="127.0.0.1", MASTER_PORT=port, **more)) for rank in range(2)]

    def on_two(self, program, executor, *options):
        result = self.baton_with("run", program, "--devices", "cuda:0,cuda:1", "--collectives", "nccl",
                                 "--executor", executor, "--json", *options)
        self.check(result, 0)
        self.assertEqual(result.json()["collectives"]["executor"], "nccl")

    def test_examples_are_equal_to_one_gpu(self):
        for name, output in EXAMPLES.items():
            program = ROOT / "examples" / name / f"{name}.toml"
            self.check(self.baton_with("run", program, "--device", "cuda:0", "--output",
                                       f"{output}=one.npy"), 0)
            for executor in ("stream", "graph"):
                self.on_two(program, executor, "--expect", f"{output}=one.npy", "--repeat", "3")

    def test_each_collective_has_the_bits_of_the_host(self):
        outputs = ("x", "all", "part")
        options = [word for name in outputs for word in ("--output", f"{name}=host_{name}.npy")]
        for process in self.start_ranks(self.program, "--collectives", "host", *options):
            out, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, out + err)
        for executor in ("stream", "graph"):
            options = [word for name in outputs for word in ("--output", f"{name}=nccl_{name}.npy")]
            self.on_two(self.program, executor, *options)
            for name in outputs:
                numpy.testing.assert_array_equal(numpy.load(self.folder / f"nccl_{name}.npy"),
                                                 numpy.load(self.folder / f"host_{name}.npy"))

    def test_small_steps_by_peers(self):
        """The default takes kernels between peers for them, where the two GPUs are linked."""
        result = self.baton_with("run", self.program, "--devices", "cuda:0,cuda:1", "--json")
        self.check(result, 0)
        by = result.json()["collectives"]
        self.assertEqual(by["executor"], "nccl")
        if self.baton_with("run", self.program, "--devices", "cuda:0,cuda:1", "--collectives", "peer").status == 0:
            self.assertEqual(by["peer_bytes"], 4 << 20)

    def test_mpirun(self):
        mpirun = shutil.which("mpirun")
        if mpirun is None:
            self.skipTest("there is no mpirun (Debian: openmpi-bin)")
        settings = self.settings(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                                 OMPI_MCA_rmaps_base_oversubscribe="1")
        done = subprocess.run([mpirun, "-n", "2", BATON, "run", self.program, "--json"], cwd=self.folder,
                              env=settings, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(json.loads(done.stdout)["collectives"]["executor"], "nccl")

    def test_a_rank_that_is_killed(self):
        program = self.write("sum.toml", SUM)
        for executor in ("stream", "graph"):
            ranks = self.start_ranks(program, "--set", "SPIN=1", "--collectives", "nccl", "--executor",
                                     executor, BATON_LOG="info")
            for line in ranks[0].stderr:
                if "in a communicator of NCCL" in line:
                    break
            ranks[1].kill()
            _, err = ranks[0].communicate(timeout=60)
            ranks[1].communicate()
            self.assertEqual(ranks[0].returncode, 3, err)
            self.assertIn("error: rank 1 ended unexpectedly", err)


if __name__ == "__main__":
    main()
