#!/usr/bin/env python3
"""Programs of several ranks: threads of one process, processes of mpirun, and ranks that fail."""

import os
import shutil
import signal
import socket
import threading

import numpy

from baton import ROOT, main
from ranks import RankCase

EXAMPLE = ROOT / "examples" / "tensor_parallel"
PROGRAM = EXAMPLE / "tensor_parallel.toml"
TRAINING = ROOT / "examples" / "data_parallel"

# A sum over all ranks, after a kernel that never ends on rank 1 if SPIN is 1.
SUM = """
[world]
[symbols]
N = 4
SPIN = 0
[buffers.x]
dtype = "f32"
shape = ["N"]
role = "inout"
init = "ones"
shard = { axis = 0 }
[buffers.go]
dtype = "i32"
shape = [1]
role = "input"
init = "zeros"
[kernels.spin]
text = '''extern "C" __global__ void spin(const volatile int* go) {
  for (int turns = 0; *go != --turns;) {}
}'''
[[steps]]
launch = "spin"
grid = ["rank * SPIN"]
block = [1]
args = ["go"]
[[steps]]
all_reduce = { buffer = "x" }
"""


class World(RankCase):
    def setUp(self):
        super().setUp()
        self.program = self.folder / "sum.toml"
        self.program.write_text(SUM)

    def expect_one_error(self, results, text, statuses=(1, 2, 3)):
        """Rank 0 tells it, in one line; the others say nothing."""
        self.assertIn(text, results[0].first_error, results[0])
        for result in results:
            self.assertIn(result.status, statuses, result)
        for result in results[1:]:
            self.assertEqual((result.out, result.err), ("", ""), result)

    def wait_for(self, process, text):
        """Reads the process's log up to a line with the text, and the rest of it aside."""
        for line in process.stderr:
            if text in line:
                break
        else:
            self.fail(f"it ended without saying {text}")
        rest = []
        reader = threading.Thread(target=lambda: rest.extend(process.stderr))
        reader.start()
        return rest, reader

    # --- results

    def test_one_file_runs_on_one_and_on_several(self):
        self.reference(EXAMPLE)
        one = self.baton("run", PROGRAM, "--expect", "out=out.npy", "--json")
        self.check(one, 0)
        self.assertEqual(one.json()["symbols"]["ranks"], 1)
        self.assertNotIn("collectives", one.json())
        for executor in ("stream", "graph"):
            two = self.baton("run", PROGRAM, "--expect", "out=out.npy", "--expect", "normed=normed.npy",
                             "--output", "out=two.npy", "--devices", "sim,sim", "--executor", executor, "--json")
            self.check(two, 0)
            json = two.json()
            self.assertEqual(json["symbols"]["ranks"], 2)
            self.assertEqual([rank["device"] for rank in json["ranks"]], ["sim:h200", "sim:h200:1"])
            self.assertEqual([step["kind"] for step in json["steps"]], ["launch", "launch", "collective"])
            self.assertEqual(json["collectives"], {
                "executor": "host", "reason": "NCCL works between GPUs, and the device is simulated"})
            peers = self.baton("run", PROGRAM, "--expect", "out=out.npy", "--expect",
                               "normed=normed.npy", "--output", "out=peers.npy", "--devices", "sim,sim", "--executor", executor, "--collectives", "peer",
                               "--json")
            self.check(peers, 0)
            self.assertEqual(peers.json()["collectives"],
                             {"executor": "peer", "host_steps": []})
            numpy.testing.assert_array_equal(self.out("two.npy"), self.out("peers.npy"))
            processes = self.run_ranks(PROGRAM, "--expect", "out=out.npy", "--output",
                                       "out=process.npy", "--executor", executor)
            self.check(processes[0], 0)
            self.assertEqual((processes[1].status, processes[1].out, processes[1].err), (0, "", ""))
            numpy.testing.assert_array_equal(self.out("two.npy"), self.out("process.npy"))
        four = self.baton("run", PROGRAM, "--expect", "out=out.npy", "--devices",
                          "sim:tiny,sim:tiny,sim:tiny,sim:tiny")
        self.check(four, 0)

    def test_an_epilogue_has_the_same_bits_by_every_executor(self):
        program = ROOT / "bench" / "all_reduce.toml"
        sizes = ("--set", "ROWS=3", "--set", "K=256", "--set", "LINKS=0", "--set", "FUSED=1")
        for executor in ("stream", "graph"):
            for collectives in ("host", "peer"):
                done = self.baton("run", program, *sizes, "--devices", "sim,sim", "--executor", executor,
                                  "--collectives", collectives, "--output",
                                  f"y={executor}-{collectives}.npy", "--json")
                self.check(done, 0)
                self.assertEqual(done.json()["findings"], [])
        for name in ("stream-peer", "graph-host", "graph-peer"):
            numpy.testing.assert_array_equal(self.out("stream-host.npy"), self.out(f"{name}.npy"))

    def test_mpirun(self):
        self.reference(EXAMPLE)
        command = ("run", PROGRAM, "--expect", "out=out.npy", "--output", "out=mpi.npy")
        done = self.run_mpi(2, *command)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout.count("as expected"), 1, done)
        self.check(self.baton("run", PROGRAM, "--output", "out=two.npy", "--devices", "sim,sim"), 0)
        numpy.testing.assert_array_equal(self.out("mpi.npy"), self.out("two.npy"))
        done = self.run_mpi(2, *command, "--set", "F=255")
        self.assertEqual(done.returncode, 2, done)
        errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        self.assertEqual(len(errors), 1, done)
        self.assertIn("F % ranks == 0", errors[0])

    def test_bench(self):
        """A run takes as long as it takes the slowest rank."""
        options = (PROGRAM, "--repeat", "3")
        one = self.baton("bench", *options, "--json")
        self.check(one, 0)
        self.assertNotIn("ranks", one.json())
        for executor in ("stream", "graph"):
            result = self.baton("bench", *options, "--devices", "sim,sim", "--executor", executor, "--json")
            self.check(result, 0)
            json = result.json()
            self.assertEqual(json["runs"], 3)
            self.assertEqual([rank["device"] for rank in json["ranks"]], ["sim:h200", "sim:h200:1"])
            self.assertEqual(json["collectives"]["executor"], "host")
            slowest = json["run"]["times"]
            for rank in json["ranks"]:
                self.assertEqual(rank["times"]["count"], 3)
                for key in ("least", "median", "greatest"):
                    self.assertLessEqual(rank["times"][key], slowest[key])
            self.assertEqual(slowest["greatest"], max(rank["times"]["greatest"] for rank in json["ranks"]))
        text = self.baton("bench", *options, "--devices", "sim,sim")
        self.check(text, 0)
        self.assertIn("the whole run, of the slowest rank", text.out)
        self.assertIn("a run takes as long as it takes the slowest rank; the steps are rank 0's", text.out)
        (self.folder / "old.json").write_text(result.out)
        self.check(self.baton("bench", *options, "--devices", "sim,sim", "--executor", "graph",
                              "--baseline", "old.json"), 0)
        ranks = [self.start(rank, *options, command="bench") for rank in range(2)]
        results = [self.end(rank) for rank in ranks]
        self.check(results[0], 0)
        self.assertIn("of the slowest rank", results[0].out)
        self.assertEqual((results[1].status, results[1].out, results[1].err), (0, "", ""))

    def test_bench_compares_programs_of_one_rank(self):
        self.check(self.baton("bench", PROGRAM, PROGRAM, "--devices", "sim,sim"), 2,
                   "--devices gives each rank a device; leave the second program out")
        ranks = [self.start(rank, PROGRAM, PROGRAM, command="bench") for rank in range(2)]
        self.expect_one_error([self.end(rank) for rank in ranks],
                              "a second program compares runs of one rank, and this run has 2")

    def test_training(self):
        self.reference(TRAINING)
        program = TRAINING / "data_parallel.toml"
        for devices in ("sim", "sim,sim", "sim,sim,sim"):
            for executor in ("stream", "graph"):
                self.check(self.baton("run", program, "--expect", "w=w.npy", "--devices", devices,
                                      "--executor", executor), 0)
        result = self.run_ranks(program, "--expect", "w=w.npy", ranks=2)[0]
        self.check(result, 0)

    def test_files_are_whole_arrays(self):
        numpy.save(self.folder / "x.npy", numpy.arange(8, dtype=numpy.float32))
        numpy.save(self.folder / "want.npy", numpy.array([4, 6, 8, 10] * 2, dtype=numpy.float32))
        result = self.baton("run", self.program, "--input", "x=x.npy", "--output", "x=got.npy",
                            "--expect", "x=want.npy", "--devices", "sim,sim")
        self.check(result, 0)
        numpy.testing.assert_array_equal(self.out("got.npy"), self.out("want.npy"))
        numpy.save(self.folder / "want.npy", numpy.zeros(8, dtype=numpy.float32))
        result = self.baton("run", self.program, "--input", "x=x.npy", "--expect", "x=want.npy",
                            "--devices", "sim,sim")
        self.check(result, 1, "error: output \"x\" differs from want.npy in 8 of 8 elements")

    def test_rank_0_writes_all_files(self):
        folder = self.folder / "dump"
        options = (PROGRAM, "--dump", folder, "--keep", self.folder / "kept", "--trace", "t.json",
                   "--html", "r.html", "--output", "hidden=hidden.npy", "--output", "up=up.npy")
        for run in (lambda: self.baton("run", *options, "--devices", "sim,sim"),
                    lambda: self.run_ranks(*options)[0]):
            self.check(run(), 0)
            for name in ("t.json", "r.html"):
                self.assertTrue((self.folder / name).read_text())
                (self.folder / name).unlink()
            self.assertTrue(list(folder.iterdir()))
            shutil.rmtree(folder)
            # A scratch buffer without a shard is that of rank 0, a weight with one is whole.
            self.assertEqual(self.out("hidden.npy").shape, (128,))
            self.assertEqual(self.out("up.npy").shape, (256, 128))

    def test_rank_0_tells_the_warnings_of_all(self):
        self.program.write_text(SUM.replace("[kernels.spin]", """[buffers.z]
dtype = "f32"
shape = [1]
role = "output"
[kernels.spin]"""))
        for command in ("run", "bench"):
            result = self.baton(command, self.program, "--devices", "sim,sim", "--json")
            self.check(result, 0)
            for rank in result.json()["ranks"]:
                self.assertEqual(len(rank["warnings"]), 1, rank)
                self.assertIn("no step writes the output z", rank["warnings"][0])
            result = self.baton(command, self.program, "--devices", "sim,sim")
            self.assertEqual(result.err.count("rank 1: no step writes the output z"), 1, result)
            self.assertEqual(result.err.count("no step writes the output z"), 2, result)

    def test_a_bundle_runs_on_several_too(self):
        self.reference(EXAMPLE)
        bundle = self.folder / "p.baton"
        self.check(self.baton("build", PROGRAM, "-o", bundle, "--arch", "sm_90a"), 0)
        self.check(self.baton("run", bundle, "--expect", "out=out.npy", "--devices", "sim,sim"), 0)
        self.check(self.baton("check", bundle), 0)

    # --- bad input

    def test_devices_that_do_not_fit(self):
        other = self.folder / "other.toml"
        other.write_text("[buffers.x]\ndtype = \"f32\"\nshape = [1]\nrole = \"output\"\n"
                         "[[steps]]\nfill = { buffer = \"x\", value = 0 }\n")
        self.check(self.baton("run", other, "--devices", "sim,sim"), 2,
                   "has no world; add [world] to it")
        self.check(self.baton("run", self.program, "--devices", "sim:h100,sim:h200"), 2,
                   "the ranks disagree: rank 0 has the device = Simulated NVIDIA H100, rank 1 has")
        self.check(self.baton("run", self.program, "--devices", "sim,"), 2,
                   "devices between commas")
        self.check(self.baton("run", self.program, "--devices", "sim,sim", "--device", "sim"), 2,
                   "leave --device out")
        self.check(self.baton("run", self.program, "--devices", "sim,sm"), 2, "unknown device \"sm\"")

    def test_what_exchanges_contents(self):
        options = ("--devices", "sim,sim", "--collectives")
        self.check(self.baton("run", self.program, *options, "nccl"), 3,
                   "NCCL works between GPUs, and the device is simulated")
        result = self.baton("run", self.program, *options, "host")
        self.check(result, 0)
        self.assertIn("collectives  by the host: it was asked for", result.out)
        result = self.baton("run", self.program, *options, "peer")
        self.check(result, 0)
        self.assertIn("collectives  by kernels between peers", result.out)
        ranks = [self.start(rank, self.program, "--collectives", "peer") for rank in (0, 1)]
        self.expect_one_error([self.end(rank) for rank in ranks],
                              "simulated devices share memory only in one process")
        self.check(self.baton("run", self.program, *options, "ncl"), 2,
                   '--collectives has no choice "ncl"; did you mean "nccl"?')
        ranks = [self.start(0, self.program),
                 self.start(1, self.program, "--collectives", "host")]
        self.expect_one_error([self.end(rank) for rank in ranks],
                              "rank 0 has the executor of collectives = auto, rank 1 has the executor "
                              "of collectives = host")

    def test_tune_on_several_ranks(self):
        """The simulated GPU has no time to choose by, but all ranks come to the end together."""
        for result in (self.run_ranks(self.program, command="tune")[0],
                       self.baton("tune", self.program, "--devices", "sim,sim")):
            self.check(result, 0)
            self.assertIn("the program stays untuned", result.out)
        self.check(self.baton("tune", self.program, "--devices", "sim,sim", "-o", "x.baton"), 2,
                   "leave -o out")

    def test_commands_of_one_rank(self):
        self.expect_one_error(self.run_ranks(self.program, "--schedules", "serial,reverse"),
                              "--schedules compares runs of one rank, and this run has 2")

    def test_a_count_beyond_the_buffer(self):
        self.program.write_text(SUM.replace('{ buffer = "x" }', '{ buffer = "x", count = 9 }'))
        self.check(self.baton("run", self.program, "--devices", "sim,sim"), 2,
                   "the all_reduce takes 9 elements of x from element 0 on, and there are 4 (")

    def test_parts_that_differ(self):
        self.program.write_text("""
[world]
[symbols]
N = 64
[buffers]
s = { dtype = "f32", shape = ["N - rank * (N - 1)"], role = "output", shard = { axis = 0 } }
[[steps]]
fill = { buffer = "s", value = 3 }
""")
        result = self.baton("run", self.program, "--devices", "sim:tiny,sim:tiny", "--output", "s=s.npy")
        self.check(result, 2, "the output s is divided into equal parts, and has 4 bytes on rank 1 and 256 on rank 0")

    def test_many_ranks(self):
        """Each ends while others still read what it sent."""
        self.program.write_text("""
[world]
[buffers]
x = { dtype = "f32", shape = [1024], role = "output", init = "ones" }
[[steps]]
all_reduce = { buffer = "x", op = "sum" }
""")
        for result in self.run_ranks(self.program, "--output", "x=x.npy", "--device", "sim:tiny", ranks=32):
            self.check(result, 0)
        self.assertTrue((self.out("x.npy") == 32).all())

    def test_another_number_of_ranks(self):
        self.program.write_text(SUM.replace("[world]", "[world]\nranks = 3"))
        self.check(self.baton("run", self.program), 2, "takes 3 ranks, and this run has 1")
        self.expect_one_error(self.run_ranks(self.program), "takes 3 ranks, and this run has 2")

    def test_ranks_with_other_command_lines(self):
        ranks = [self.start(0, self.program), self.start(1, self.program, command="bench")]
        self.expect_one_error([self.end(rank) for rank in ranks],
                              "rank 0 has the command = run, rank 1 has the command = bench; start all ranks "
                              "with the same command and options", (2,))
        ranks = [self.start(0, self.program, "--repeat", "2"), self.start(1, self.program)]
        self.expect_one_error([self.end(rank) for rank in ranks],
                              "rank 0 has --repeat = 2, rank 1 has --repeat = 1", (2,))

    def test_ranks_with_a_wrong_command_line(self):
        for options in ([], ["--nope"]), (["--nope"], []), (["--nope"], ["--nope"]):
            ranks = [self.start(rank, self.program, *given) for rank, given in enumerate(options)]
            self.expect_one_error([self.end(rank) for rank in ranks], 'unknown option "--nope"', (2,))

    def test_ranks_with_other_symbols(self):
        ranks = [self.start(0, self.program), self.start(1, self.program, "--set", "N=8")]
        self.expect_one_error([self.end(rank) for rank in ranks],
                              "rank 0 has the symbol N = 4, rank 1 has the symbol N = 8")

    def test_a_rank_without_the_program(self):
        ranks = [self.start(0, self.program), self.start(1, self.folder / "none.toml")]
        self.expect_one_error([self.end(rank) for rank in ranks], "rank 1: ")

    def test_half_a_rank(self):
        """Each of the processes would be the whole run."""
        for half, missing in (({"RANK": "1"}, "WORLD_SIZE"), ({"WORLD_SIZE": "2"}, "RANK")):
            self.check(self.baton("run", self.program, **half), 2, f"and no {missing}; set both")
        # A program without a world runs alone, and its own errors come first.
        other = self.folder / "other.toml"
        other.write_text(SUM.replace("[world]", "").replace("rank * SPIN", "SPIN")
                         .replace("shard = { axis = 0 }", "")
                         .replace("all_reduce = { buffer = \"x\" }", "fill = { buffer = \"x\", value = 1 }"))
        self.check(self.baton("run", other, RANK="1"), 0)
        self.check(self.baton("run", other, "--nope", RANK="1"), 2, 'unknown option "--nope"')

    def test_a_missing_rank(self):
        result = self.end(self.start(0, self.program, BATON_WORLD_JOIN="1"))
        self.assertEqual(result.status, 3, result)
        self.assertIn("rank 0 of 2 waited 1.00 s for rank 1 at 127.0.0.1:", result.first_error)

    def test_a_missing_rank_of_three(self):
        ranks = [self.start(rank, self.program, ranks=3, BATON_WORLD_JOIN="2") for rank in range(2)]
        self.expect_one_error([self.end(rank) for rank in ranks], "for rank 2 at 127.0.0.1:", (3,))

    def test_a_port_that_is_taken(self):
        with socket.create_server(("127.0.0.1", self.port)):
            result = self.end(self.start(0, self.program))
        self.assertEqual(result.status, 2, result)
        self.assertIn("Address already in use; set MASTER_ADDR and MASTER_PORT", result.first_error)

    # --- ranks that fail in the middle

    def test_a_rank_that_is_killed(self):
        ranks = [self.start(rank, self.program, "--set", "SPIN=1", BATON_LOG="debug")
                 for rank in range(2)]
        rest, reader = self.wait_for(ranks[0], "rank 0 waits for rank 1 at all_reduce x")
        ranks[1].kill()
        ranks[0].wait(timeout=60)
        reader.join()
        self.assertEqual(ranks[0].returncode, 3, rest)
        error = next(line for line in rest if line.startswith("error: "))
        self.assertIn("rank 1 ended unexpectedly; rank 0 was at all_reduce x (sum of 4 f32), at ",
                      error)

    def test_a_rank_that_is_stopped(self):
        ranks = [self.start(0, self.program, "--set", "SPIN=1", BATON_LOG="debug", BATON_WORLD_SILENCE="1"),
                 self.start(1, self.program, "--set", "SPIN=1", BATON_WORLD_SILENCE="1")]
        rest, reader = self.wait_for(ranks[0], "rank 0 waits for rank 1 at all_reduce x")
        os.kill(ranks[1].pid, signal.SIGSTOP)
        ranks[0].wait(timeout=60)
        reader.join()
        self.assertEqual(ranks[0].returncode, 3, rest)
        error = next(line for line in rest if line.startswith("error: "))
        self.assertIn("rank 1 has sent nothing for ", error)
        # It finds out when it goes on, and leaves nothing behind. The error was told before.
        os.kill(ranks[1].pid, signal.SIGCONT)
        last = self.end(ranks[1])
        self.assertEqual((last.status, last.out, last.err), (3, "", ""))

    def test_the_first_rank_is_stopped(self):
        ranks = [self.start(rank, self.program, "--set", "SPIN=1", BATON_WORLD_SILENCE="1",
                            BATON_LOG="debug" if rank == 0 else "error") for rank in range(2)]
        rest, reader = self.wait_for(ranks[0], "rank 0 waits for rank 1 at all_reduce x")
        os.kill(ranks[0].pid, signal.SIGSTOP)
        told = self.end(ranks[1])
        self.assertEqual(told.status, 3, told)
        self.assertIn("rank 0 has sent nothing for ", told.first_error)
        os.kill(ranks[0].pid, signal.SIGCONT)
        self.assertEqual(ranks[0].wait(timeout=60), 3)
        reader.join()
        self.assertEqual([line for line in rest if line.startswith("error: ")], [])

    def test_a_rank_that_takes_too_long(self):
        ranks = [self.start(0, self.program, "--set", "SPIN=1"),
                 self.start(1, self.program, "--set", "SPIN=1", "--timeout", "1")]
        self.expect_one_error([self.end(rank) for rank in ranks],
                              "rank 1: the run took longer than its limit of 1.00 s")

    def test_all_ranks_take_too_long(self):
        """The limit passes on all of them at once: there is one error still."""
        for _ in range(3):
            results = self.run_ranks(self.program, "--set", "SPIN=1", "--timeout", "1", ranks=3)
            self.assertEqual([result.status for result in results], [1, 1, 1])
            errors = [result.first_error for result in results if result.err]
            self.assertEqual(len(errors), 1, errors)
            self.assertIn("the run took longer than its limit of 1.00 s", errors[0])

    def test_the_first_rank_is_killed(self):
        ranks = [self.start(rank, self.program, "--set", "SPIN=1", BATON_LOG="debug")
                 for rank in range(2)]
        _, reader = self.wait_for(ranks[0], "rank 0 waits for rank 1 at all_reduce x")
        ranks[0].kill()
        reader.join()
        result = self.end(ranks[1])
        self.assertEqual(result.status, 3, result)
        self.assertIn("rank 0 ended unexpectedly", result.first_error)


if __name__ == "__main__":
    main()
