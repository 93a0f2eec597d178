"""Runs of several ranks: as threads of one process, as processes, and by mpirun."""

import os
import shutil
import socket
import subprocess
import sys

import numpy

from baton import BATON, Case, Result


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class RankCase(Case):
    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.started = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for process in self.started:
            process.kill()
            process.wait()

    def settings(self, **more):
        kept = ("BATON_CUDA_ROOT", "BATON_NVRTC")
        settings = {k: v for k, v in os.environ.items() if not k.startswith("BATON_") or k in kept}
        settings.update(BATON_DEVICE="sim", BATON_CACHE_DIR=self._cache.name, **more)
        return settings

    def start(self, rank, *arguments, ranks=2, command="run", **more):
        """One rank, as torchrun starts it."""
        settings = self.settings(RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_RANK=str(rank),
                                 LOCAL_WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1",
                                 MASTER_PORT=str(self.port), **more)
        process = subprocess.Popen([BATON, command, *map(str, arguments)], cwd=self.folder,
                                   env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        self.started.append(process)
        return process

    def end(self, process):
        out, err = process.communicate(timeout=120)
        return Result(subprocess.CompletedProcess([], process.returncode, out, err))

    def run_ranks(self, *arguments, ranks=2, **more):
        processes = [self.start(rank, *arguments, ranks=ranks, **more) for rank in range(ranks)]
        return [self.end(process) for process in processes]

    def reference(self, example, *options):
        subprocess.run([sys.executable, "-B", example / "reference.py", "--out", self.folder, *options],
                       check=True)

    def run_mpi(self, ranks, *arguments):
        """The ranks as mpirun starts them, or skips the rest of the test."""
        mpirun = shutil.which("mpirun")
        if mpirun is None:
            self.skipTest("there is no mpirun (Debian: openmpi-bin)")
        settings = self.settings(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                                 OMPI_MCA_rmaps_base_oversubscribe="1")
        settings.pop("BATON_DEVICE")
        return subprocess.run([mpirun, "-n", str(ranks), BATON, *map(str, arguments), "--device", "sim"],
                              cwd=self.folder, env=settings, capture_output=True, text=True, timeout=300)

    def out(self, name):
        return numpy.load(self.folder / name)
