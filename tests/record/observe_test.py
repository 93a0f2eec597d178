"""`baton exec --device cuda`: a program observed on a GPU. BATON_RECORD_DEVICE says on which: on a GPU under NVIDIA's
driver, or, where that is sim, on the simulated GPU, whose driver the system then finds under NVIDIA's name."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

BATON = os.environ["BATON"]
CLIENTS = pathlib.Path(os.environ["BATON_CHAIN"]).parent
DEVICE = os.environ.get("BATON_RECORD_DEVICE", "sim")


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("BATON_")}
    if DEVICE == "sim":
        kept["LD_LIBRARY_PATH"] = f"{pathlib.Path(BATON).parent}/lib/baton"
    return {**kept, **more}


def baton(*words, **more):
    return subprocess.run([BATON, *map(str, words)], capture_output=True, text=True, timeout=120,
                          env=environment(**more))


class Observe(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="baton-observe-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def observe(self, *program, options=(), status=1, **more):
        path = self.folder / "report.json"
        done = baton("exec", "--device", "cuda", "--json", path, *options, "--", *program, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        report = json.loads(path.read_text())
        self.assertEqual((report["device"], report["missing"]), ("cuda", []))
        for finding in report["findings"]:
            self.assertEqual((finding["block"], finding["thread"]), (None, None))
        return done, report["findings"], report

    def test_a_right_program_is_right(self):
        done, findings, report = self.observe(CLIENTS / "chain", "safe", 10, status=0)
        self.assertEqual((findings, report["processes"], report["unchecked"]), ([], 1, []))
        self.assertEqual(done.stdout, "done\n")
        self.assertIn("0 errors, 0 warnings in 1 process on cuda", done.stderr)

    def test_an_unsafe_launch_with_pdl_is_an_error(self):
        done, (finding,), _ = self.observe(CLIENTS / "chain", "early", 10)
        self.assertEqual((finding["kind"], finding["kernel"], finding["severity"], finding["count"]),
                         ("conflict", "early", "error", 10))
        self.assertIn("launched with PDL after produce, which is unsafe: early reads", finding["message"])
        self.assertIn("error: conflict: kernel early: launched with PDL", done.stderr)
        # Without PDL it is none.
        self.observe(CLIENTS / "chain", "early", 10, "plain", status=0)

    def test_an_unknown_edge_is_a_warning(self):
        _, (finding,), _ = self.observe(CLIENTS / "chain", "hidden", 10, status=0)
        self.assertEqual((finding["kind"], finding["severity"]), ("unknown_early", "warning"))
        self.observe(CLIENTS / "chain", "hidden", 10, options=["--warnings-as-errors"])

    def test_a_fault_names_the_launch_that_was_running(self):
        for how in ("fault", "event"):
            with self.subTest(how):
                done, (finding,), report = self.observe(CLIENTS / "wrong", how)
                self.assertEqual((finding["kind"], finding["kernel"]), ("gpu_fault", "twice"))
                self.assertRegex(finding["message"], r"^CUDA_ERROR_ILLEGAL_ADDRESS \(700\), which cu\w+ gave; "
                                 r"launch 1 \(twice\) was the only one that had not ended$")
                self.assertEqual(report["program"]["status"], 0)

    def test_a_fault_with_several_launches_names_all(self):
        _, (finding,), _ = self.observe(CLIENTS / "wrong", "running")
        self.assertIn("; 2 launches had not ended: 0 (twice), 1 (twice); set CUDA_LAUNCH_BLOCKING=1",
                      finding["message"])

    def test_blocking_launches_name_one(self):
        _, (finding,), _ = self.observe(CLIENTS / "wrong", "running", CUDA_LAUNCH_BLOCKING="1")
        self.assertIn("launch 1 (twice) was the only one that had not ended", finding["message"])

    def test_refused_launches_are_errors(self):
        _, (finding,), _ = self.observe(CLIENTS / "wrong", "refused")
        self.assertEqual((finding["kind"], finding["kernel"], finding["count"]), ("launch_refused", "twice", 3))
        self.assertEqual(finding["message"], "cuLaunchKernel gave CUDA_ERROR_INVALID_VALUE (1) for a grid of (1, 1, 1), "
                         "a block of (4096, 1, 1) and 0 bytes of dynamic shared memory")

    def test_the_options_of_exec_hold(self):
        self.assertEqual(baton("exec", "--device", "cuda", "--error-exitcode", 9, "--", CLIENTS / "wrong",
                               "refused").returncode, 9)
        known = self.folder / "known.toml"
        known.write_text("[[suppress]]\nkind = 'launch_refused'\nreason = 'a trial'\n")
        _, findings, report = self.observe(CLIENTS / "wrong", "refused", options=["--suppressions", known], status=0)
        self.assertEqual((findings, report["suppressed"][0]["reason"]), ([], "a trial"))
        self.observe(CLIENTS / "wrong", "refused", options=["--kernel-name", "^thrice$"], status=0)
        sarif, junit = self.folder / "r.sarif", self.folder / "r.xml"
        self.observe(CLIENTS / "chain", "early", 1, options=["--sarif", sarif, "--junit", junit])
        (result,) = json.loads(sarif.read_text())["runs"][0]["results"]
        self.assertEqual((result["ruleId"], result["level"]), ("conflict", "error"))
        (suite,) = xml.etree.ElementTree.parse(junit).getroot()
        self.assertEqual(suite.get("failures"), "1")
        log = self.folder / "log"
        done = baton("exec", "--device", "cuda", "--log-file", log, "--", CLIENTS / "wrong", "refused")
        self.assertEqual(done.stderr, "")
        self.assertIn("error: launch_refused: kernel twice: cuLaunchKernel", log.read_text())

    def test_children_and_what_dies_are_covered(self):
        _, (finding,), report = self.observe("sh", "-c", f"{CLIENTS}/wrong refused; {CLIENTS}/wrong refused")
        self.assertEqual((finding["count"], report["processes"]), (6, 2))
        _, findings, report = self.observe(CLIENTS / "chain", "early", 5, "abort", status=128 + signal.SIGABRT)
        self.assertEqual((len(findings), report["program"]["signal"]), (1, signal.SIGABRT))

    def test_a_program_without_cuda_says_so(self):
        done, findings, report = self.observe("true", status=0)
        self.assertEqual((findings, report["processes"]), ([], 0))
        self.assertIn("nothing was checked", done.stderr)

    def test_no_folder_is_left(self):
        left = self.folder / "left"
        left.mkdir()
        self.observe(CLIENTS / "chain", "safe", 1, status=0, TMPDIR=str(left))
        self.assertEqual(list(left.iterdir()), [])

    def test_the_environment_can_be_printed(self):
        done = baton("exec", "--device", "cuda", "--print-env")
        self.assertEqual(done.returncode, 0, done.stderr)
        names = {line.split("=")[0] for line in done.stdout.splitlines()}
        self.assertLessEqual({"LD_PRELOAD", "LD_LIBRARY_PATH", "BATON_RECORD_DRIVER"}, names)
        self.assertNotIn("BATON_EXEC_SCHEDULE", names)


class BadUse(unittest.TestCase):
    def refused(self, *words, status=2, **more):
        done = baton("exec", *words, "--", "true", **more)
        self.assertEqual((done.returncode, done.stderr.count("error:")), (status, 1), done.stderr)
        return done.stderr

    def test_options_of_the_simulated_gpu(self):
        for option in (["--schedule", "late"], ["--races", "global"], ["--memory", "1GiB"], ["--keep-going"]):
            self.assertIn(f"{option[0]} is for the simulated GPU, --device cuda was given",
                          self.refused("--device", "cuda", *option))

    def test_another_device(self):
        self.assertIn("CUDA_VISIBLE_DEVICES chooses", self.refused("--device", "cuda:1"))

    @unittest.skipIf(DEVICE == "cuda" or os.path.exists("/dev/nvidiactl"), "there may be a GPU")
    def test_no_gpu(self):
        self.assertIn("use --device sim", self.refused("--device", "cuda", status=3, LD_LIBRARY_PATH=""))


if __name__ == "__main__":
    if DEVICE == "cuda":
        asked = baton("exec", "--device", "cuda", "--", "true")
        if asked.returncode != 0:
            print(f"skipped: {asked.stderr}")
            sys.exit(77)
    unittest.main()
