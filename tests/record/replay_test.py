"""`baton run RECORD`: records replayed on the simulated GPU. BATON_RECORD_DEVICE says where they are recorded."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BATON = os.environ["BATON"]
CHAIN, REPLAYED = os.environ["BATON_CHAIN"], os.environ["BATON_REPLAYED"]
DEVICE = os.environ.get("BATON_RECORD_DEVICE", "sim")
HERE = pathlib.Path(__file__).resolve().parent
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"


def run(*words):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("BATON_")}
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120, env=kept)


class Replay(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="baton-replay-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "a.record"

    def record(self, *program, contents=True):
        shutil.rmtree(self.path, ignore_errors=True)
        options = ["--contents"] if contents else []
        return run(BATON, "record", "--device", DEVICE, "-o", self.path, *options, "--", *program)

    def replay(self, *options):
        done = run(BATON, "run", self.path, "--device", "sim", "--json", *options)
        return done, json.loads(done.stdout)

    def kinds(self, report, of="findings"):
        return [(finding["kind"], finding["kernel"]) for finding in report[of]]


class Contents(Replay):
    def test_a_right_program_has_no_findings(self):
        done = self.record(REPLAYED, "clean")
        self.assertEqual((done.stdout, done.returncode), ("done\n", 0), done.stderr)
        for schedule in ("serial", "reverse", "random:3"):
            with self.subTest(schedule):
                done, report = self.replay("--schedule", schedule, "--strict")
                self.assertEqual(done.returncode, 0, done.stderr)
                (process,) = report["processes"]
                self.assertEqual((process["launches"], process["replayed"], process["graph_launches"]), (9, 9, 3))
                self.assertEqual((process["left_out"], process["unknown"]), ([], []))
                self.assertEqual(process["moved_addresses"], 1, "the pointer in memory")
                self.assertEqual((report["findings"], report["doubtful"]), ([], []))

    def test_what_a_bad_index_does_is_found(self):
        self.record(REPLAYED, "index")
        done, report = self.replay()
        self.assertEqual(done.returncode, 1)
        ((kind, kernel),) = self.kinds(report)
        self.assertEqual((kind, kernel), ("out_of_bounds", "scatter"))
        (finding,) = report["findings"]
        self.assertIn("allocation 1 (128 bytes at ", finding["message"])
        self.assertEqual(finding["launch"], "launch 0 (scatter)")
        self.assertIn("ptx:", finding["where"])

    def test_pointers_in_memory_are_moved(self):
        self.record(CHAIN, "hidden", 3)
        done, report = self.replay()
        self.assertEqual(report["processes"][0]["moved_addresses"], 1)
        self.assertEqual([kind for kind, _ in self.kinds(report) if "bounds" in kind or "null" in kind], [])

    def test_tensor_maps_are_made_again(self):
        done = self.record(REPLAYED, "tiles")
        self.assertEqual(done.stdout, "done\n", done.stderr)
        done, report = self.replay()
        self.assertEqual((done.returncode, report["findings"], report["doubtful"]), (0, [], []), done.stderr)
        (process,) = report["processes"]
        self.assertEqual((process["launches"], process["replayed"]), (3, 3))
        # check knows of what the map is, too: the launch before writes what the kernel reads before its wait.
        done = run(BATON, "check", self.path, "--json")
        edges = {edge["to_kernel"]: edge for edge in json.loads(done.stdout)["edges"]}
        self.assertIn("tile reads allocation 0 (128 bytes)", edges["tile"]["reason"])
        self.assertIn("while set (launch 1) writes it", edges["tile"]["reason"])

    def test_contents_take_a_file(self):
        self.record(REPLAYED, "index")
        (file,) = self.path.glob("*.contents")
        self.assertEqual(file.stat().st_size, 128)

    def test_forked_processes_have_their_own(self):
        self.record(CHAIN, "hidden", 2, "fork")
        self.assertEqual(len(list(self.path.glob("*.contents"))), 2)
        _, report = self.replay()
        self.assertEqual([p["moved_addresses"] for p in report["processes"]], [1, 1])


class WithoutContents(Replay):
    def test_unknown_memory_is_named(self):
        self.record(REPLAYED, "index", contents=False)
        self.assertEqual(list(self.path.glob("*.contents")), [])
        done, report = self.replay()
        self.assertEqual(done.returncode, 0, done.stderr)
        (process,) = report["processes"]
        self.assertEqual(process["unknown"], [{"name": "allocation 0 (128 bytes)", "bytes": 128, "unknown_bytes": 128,
                                               "host": False}])
        done = run(BATON, "run", self.path)
        self.assertIn("allocation 0 (128 bytes): 128 bytes were copied into it", done.stdout)

    def test_what_needs_no_contents_counts(self):
        for case, kind, kernel in (("bounds", "out_of_bounds", "set"), ("freed", "use_after_free", "scale"),
                                   ("unordered", "unordered_grids", "set"), ("host_race", "host_race", "")):
            with self.subTest(case):
                self.record(REPLAYED, case, contents=False)
                done, report = self.replay()
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn((kind, kernel), self.kinds(report))
                self.assertEqual(report["doubtful"], [])

    def test_what_needs_contents_does_not(self):
        self.record(REPLAYED, "clean", contents=False)
        done, report = self.replay()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(report["findings"], [])
        # Kernels that trap where memory is not what they expect, and one that follows a pointer.
        self.assertLessEqual({("trap", "expect"), ("null_pointer", "follow")},
                             set(self.kinds(report, "doubtful")))
        self.assertIn("contents of memory", report["doubtful"][0]["doubt"])
        done = run(BATON, "run", self.path, "--verbose")
        self.assertIn("not counted: ", done.stdout)

    def test_an_early_read_is_found(self):
        self.record(CHAIN, "early", 5, contents=False)
        done, report = self.replay()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.kinds(report), [("read_before_wait", "early")])
        self.record(CHAIN, "safe", 5, contents=False)
        done, report = self.replay("--strict")
        self.assertEqual((done.returncode, report["findings"]), (0, []), done.stderr)

    def test_captured_launches_are_judged(self):
        self.record(CHAIN, "early", 1, "capture", contents=False)
        done, report = self.replay()
        self.assertEqual((done.returncode, self.kinds(report)), (1, [("read_before_wait", "early")]))
        self.assertEqual(report["processes"][0]["graph_launches"], 2)

    def test_graphs_that_are_built_are_built_again(self):
        for kernel, kinds in (("early", [("read_before_wait", "early")]), ("safe", [])):
            with self.subTest(kernel):
                self.record(CHAIN, kernel, 3, "built", contents=False)
                done, report = self.replay("--strict")
                self.assertEqual(self.kinds(report), kinds, done.stderr)
                (process,) = report["processes"]
                self.assertEqual((process["replayed"], process["graph_launches"], process["left_out"]), (6, 2, []))

    def test_nodes_get_other_parameters(self):
        self.record(REPLAYED, "update", contents=False)
        done, report = self.replay()
        self.assertEqual((done.returncode, self.kinds(report)), (1, [("out_of_bounds", "set")]))
        self.assertEqual(report["findings"][0]["launch"], "launch 1 (set)")
        (process,) = report["processes"]
        self.assertEqual((process["replayed"], process["graph_launches"], process["left_out"]), (2, 2, []))
        # check does not judge it, and says so.
        done = run(BATON, "check", self.path)
        self.assertIn("not judged: 1 kernel node of graphs", done.stdout)

    def test_memory_of_the_host_is_unknown(self):
        self.record(REPLAYED, "host")
        done, report = self.replay()
        self.assertEqual((done.returncode, report["findings"]), (0, []), done.stderr)
        self.assertEqual([m["host"] for m in report["processes"][0]["unknown"]], [True])
        self.assertIn(("trap", "expect"), self.kinds(report, "doubtful"))

    def test_leave_for_shared_memory_is_given(self):
        self.record(REPLAYED, "shared")
        done, report = self.replay()
        self.assertEqual((done.returncode, report["processes"][0]["left_out"]), (0, []), done.stderr)


class BadInput(Replay):
    def refused(self, *words):
        done = run(BATON, *words)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        return done.stderr

    def test_options_of_programs(self):
        self.record(REPLAYED, "bounds")
        for words in (["--set", "N=1"], ["--repeat", "2"], ["--trace", "t.json"], ["--until", "1"],
                      ["--devices", "sim,sim"], ["--function", "scale"], ["--untuned"]):
            self.assertIn(f"{words[0]} is for programs", self.refused("run", self.path, *words))
        self.assertIn("on the simulated GPU", self.refused("run", self.path, "--device", "cuda"))

    def test_commands_of_programs(self):
        self.record(REPLAYED, "bounds")
        for words in (["bench", self.path], ["tune", self.path], ["build", self.path, "-o", self.folder / "a.baton"]):
            self.assertIn(f"{self.path} is a record, not a program; baton run", self.refused(*words))

    def test_a_folder_without_a_manifest(self):
        (self.path).mkdir()
        self.assertIn("it has no record.json", self.refused("run", self.path))

    def test_a_device_that_does_not_exist(self):
        for command in (["exec"], ["record", "-o", self.path]):
            error = self.refused(*command, "--device", "sim:sm75", "--", "true")
            self.assertIn('unknown device "sim:sm75"; did you mean "sim:sm80"?', error)
            error = self.refused(*command, "--device", "sim:h200:1", "--", "true")
            self.assertIn("use sim:h200", error)
        self.assertFalse(self.path.exists())

    def test_an_image_that_is_missing(self):
        self.record(REPLAYED, "bounds")
        (image,) = (self.path / "images").iterdir()
        image.unlink()
        done, report = self.replay()
        self.assertEqual(done.returncode, 3, done.stderr)
        (left,) = report["processes"][0]["left_out"]
        self.assertEqual(left, {"what": "launches of set: its image is not in the record", "count": 1})

    def test_contents_that_are_cut_off_are_unknown(self):
        self.record(REPLAYED, "index")
        (file,) = self.path.glob("*.contents")
        os.truncate(file, 100)
        done, report = self.replay()
        self.assertEqual((done.returncode, report["processes"][0]["unknown"][0]["unknown_bytes"]), (0, 128))

    def test_a_record_that_is_cut_off_is_replayed_as_far_as_it_goes(self):
        self.record(CHAIN, "safe", 3000)
        (events,) = self.path.glob("*.events")
        os.truncate(events, 4096 + 256 * 1024 + 1000)
        done, report = self.replay()
        self.assertEqual((done.returncode, report["error"]["code"]), (1, "damaged"))
        self.assertGreater(report["processes"][0]["replayed"], 500)

    def test_a_replay_of_nothing_is_no_success(self):
        self.record(CHAIN, "safe", 3)
        for image in (self.path / "images").iterdir():
            image.unlink()
        done, report = self.replay()
        self.assertEqual((done.returncode, report["error"]["code"]), (3, "unsupported"))
        self.assertIn("none of the record's launches could be replayed, so nothing was checked: launches of produce: its "
                      "image is not in the record", done.stderr)

    def test_a_record_without_launches_is_no_success(self):
        self.record("true")
        done, report = self.replay()
        self.assertEqual((done.returncode, report["error"]["code"], report["processes"]), (3, "unsupported", []))
        self.assertIn("the record has no launch, copy or fill, so nothing was checked", done.stderr)

    def test_lost_events_are_damage(self):
        for contents, missing in ((True, "is missing, "), (False, "has images of kernels and no file of events")):
            with self.subTest(contents=contents):
                self.record(REPLAYED, "clean", contents=contents)
                (events,) = self.path.glob("*.events")
                events.unlink()
                done, report = self.replay()
                self.assertEqual((done.returncode, report["error"]["code"]), (1, "damaged"))
                self.assertIn(missing, done.stderr)
                for command in ("check", "inspect"):
                    done = run(BATON, command, self.path)
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertIn(missing, done.stderr)
                    self.assertNotIn("no process used", done.stdout)

    def test_the_time_is_limited(self):
        self.record(CHAIN, "safe", 20000)
        done, report = self.replay("--timeout", "0.001")
        self.assertEqual((done.returncode, report["error"]["code"]), (1, "timeout"))


@unittest.skipUnless(os.path.exists(NVCC), "there is no nvcc")
class Nvcc(Replay):
    def test_a_program_of_the_runtime(self):
        program = self.folder / "chain"
        subprocess.run([NVCC, "-arch=sm_90", "-lineinfo", HERE / "chain.cu", "-o", program], check=True)
        done = self.record(program)
        self.assertEqual(done.returncode, 0, done.stderr)
        done, report = self.replay()
        self.assertEqual(done.returncode, 1)
        found = {(finding["kind"], finding["where"]) for finding in report["findings"]}
        self.assertTrue(any(kind == "read_before_wait" and "chain.cu:18" in where for kind, where in found), found)
        self.assertEqual(report["processes"][0]["replayed"], 60)


if __name__ == "__main__":
    if DEVICE == "cuda":
        with tempfile.TemporaryDirectory() as folder:
            asked = run(BATON, "record", "--device", "cuda", "-o", f"{folder}/r", "--", "true")
        if asked.returncode != 0:
            print(f"skipped: {asked.stderr}")
            sys.exit(77)
    unittest.main()
