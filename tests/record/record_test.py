"""`baton record`, and what `check` and `inspect` say of a record. BATON_RECORD_DEVICE says where it is recorded:
on the simulated GPU, or, where that is cuda, on a GPU under NVIDIA's driver."""

import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

BATON = os.environ["BATON"]
CHAIN = os.environ["BATON_CHAIN"]
DEVICE = os.environ.get("BATON_RECORD_DEVICE", "sim")
HERE = pathlib.Path(__file__).resolve().parent
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
HEADER, CHUNK = 4096, 256 * 1024


def run(*words, **options):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("BATON_")}
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120,
                          env={**kept, **options.pop("environment", {})}, **options)


class Record(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="baton-record-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "a.record"

    def record(self, *program, options=()):
        return run(BATON, "record", "--device", DEVICE, "-o", self.path, *options, "--", *program)

    def json_of(self, command, *words):
        done = run(BATON, command, self.path, "--json", *words)
        return done, json.loads(done.stdout)

    def edges(self, *words):
        done, report = self.json_of("check", *words)
        return done, {(e["from_kernel"].split("(")[0], e["to_kernel"].split("(")[0]): e for e in report["edges"]}

    def only_file(self):
        (events,) = self.path.glob("*.events")
        return events


class Verdicts(Record):
    def check(self, kernel, how=()):
        done = self.record(CHAIN, kernel, 100, *how)
        self.assertEqual((done.stdout, done.returncode), ("done\n", 0), done.stderr)
        self.assertIn("200 launches of 1 process", done.stderr)
        return self.edges()

    def test_safe_pdl_is_proven(self):
        done, edges = self.check("safe")
        self.assertEqual(done.returncode, 0, done.stderr)
        edge = edges["produce", "safe"]
        self.assertEqual((edge["verdict"], edge["decision"], edge["count"]), ("proven", "programmatic", 100))
        # The other edge is full; it could be programmatic.
        edge = edges["safe", "produce"]
        self.assertEqual((edge["verdict"], edge["decision"], edge["count"]), ("proven", "full", 99))
        self.assertEqual(edge["decision_reason"], "PDL would be safe")

    def test_an_early_read_is_unsafe(self):
        done, edges = self.check("early")
        self.assertEqual(done.returncode, 1)
        edge = edges["produce", "early"]
        self.assertEqual((edge["verdict"], edge["cause"], edge["count"]), ("unsafe", "conflict", 100))
        self.assertRegex(edge["reason"], r"early reads allocation 0 \(4096 bytes\) at .*, before it has waited")
        self.assertIn("launches early with PDL after produce (100 times), which is unsafe", done.stderr)

    def test_kernels_are_named_as_their_source_names_them(self):
        symbol = "_Z4lateIfEvPT_S1_"
        done = self.record(CHAIN, symbol, 1)
        self.assertNotIn(symbol, done.stderr.replace(str(self.path), ""))
        done, report = self.json_of("check")
        self.assertIn(symbol, [kernel["name"] for kernel in report["processes"][0]["kernels"]])
        self.assertEqual(report["edges"][0]["to_kernel"], "late<float>(float*, float*)")
        self.assertNotIn(symbol, done.stderr)
        self.assertNotIn(symbol, run(BATON, "check", self.path).stdout)

    def test_without_pdl_it_is_no_error(self):
        done, edges = self.check("early", ["plain"])
        self.assertEqual(done.returncode, 0, done.stderr)
        edge = edges["produce", "early"]
        self.assertEqual((edge["verdict"], edge["decision_reason"]), ("unsafe", "PDL would race"))

    def test_memory_that_is_not_known_is_unknown(self):
        done, edges = self.check("hidden")
        self.assertEqual(done.returncode, 0, done.stderr)
        edge = edges["produce", "hidden"]
        self.assertEqual((edge["verdict"], edge["cause"], edge["decision_reason"]),
                         ("unknown", "unknown_early", "may race"))

    def test_a_kernel_without_a_wait(self):
        done, edges = self.check("deaf", ["plain"])
        self.assertEqual((done.returncode, edges["produce", "deaf"]["cause"]), (0, "no_wait"))

    def test_a_capture_is_judged_once(self):
        done = self.record(CHAIN, "early", 1, "capture")
        self.assertEqual(done.returncode, 0, done.stderr)
        done, report = self.json_of("check")
        self.assertEqual(done.returncode, 1)
        self.assertEqual([(e["verdict"], e["count"]) for e in report["edges"]], [("unsafe", 1)])
        self.assertEqual(report["processes"][0]["graph_launches"], 2)

    def test_a_graph_that_is_built_is_judged_once(self):
        for kernel, verdict, status in (("early", "unsafe", 1), ("safe", "proven", 0)):
            with self.subTest(kernel):
                shutil.rmtree(self.path, ignore_errors=True)
                done = self.record(CHAIN, kernel, 3, "built")
                self.assertEqual(done.returncode, 0, done.stderr)
                done, report = self.json_of("check")
                self.assertEqual(done.returncode, status, done.stderr)
                edges = {(e["from_kernel"], e["decision"]): (e["verdict"], e["count"]) for e in report["edges"]}
                self.assertEqual(edges["produce", "programmatic"], (verdict, 3))
                self.assertEqual(edges[kernel, "full"][1], 2)
                (process,) = report["processes"]
                self.assertEqual((process["launches"], process["graph_kernels"], process["graph_launches"]), (6, 0, 2))

    def test_sarif_and_junit(self):
        self.record(CHAIN, "early", 3)
        sarif, junit = self.folder / "r.sarif", self.folder / "r.xml"
        run(BATON, "check", self.path, "--sarif", sarif, "--junit", junit)
        (log,) = json.loads(sarif.read_text())["runs"]
        (result,) = [r for r in log["results"] if r["level"] == "error"]
        self.assertEqual(result["ruleId"], "conflict")
        (suite,) = xml.etree.ElementTree.parse(junit).getroot()
        self.assertEqual(suite.get("failures"), "1")

    def test_a_folder_has_records(self):
        self.record(CHAIN, "safe", 1)
        done = run(BATON, "check", self.folder, "--device", "sim", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        (part,) = json.loads(done.stdout)["files"]
        self.assertEqual(part["kind"], "record")


class Processes(Record):
    def launches(self):
        done, report = self.json_of("inspect")
        self.assertEqual(done.returncode, 0, done.stderr)
        return sorted(p["launches"] for p in report["processes"])

    def test_what_dies_leaves_what_was_noted(self):
        for how, number in (("abort", signal.SIGABRT), ("kill", signal.SIGKILL)):
            with self.subTest(how):
                shutil.rmtree(self.path, ignore_errors=True)
                done = self.record(CHAIN, "safe", 5, how)
                self.assertEqual(done.returncode, 128 + number)
                self.assertEqual(self.launches(), [10])

    def test_children_are_recorded(self):
        done = self.record("sh", "-c", f"{CHAIN} safe 1; {CHAIN} safe 2; exit 5")
        self.assertEqual(done.returncode, 5)
        self.assertEqual(self.launches(), [2, 4])
        _, report = self.json_of("inspect")
        self.assertEqual(len(report["images"]), 1, "equal images are kept once")

    def test_forked_children_are_recorded(self):
        self.assertEqual(self.record(CHAIN, "safe", 3, "fork").returncode, 0)
        self.assertEqual(self.launches(), [6, 6])

    def test_calls_at_the_exit_of_the_process(self):
        done = self.record(CHAIN, "safe", 3, "exit")
        self.assertEqual((done.stdout, done.returncode), ("done\n", 0), done.stderr)
        done, report = self.json_of("inspect")
        self.assertEqual(report["processes"][0]["launches"], 12)

    def test_threads_are_recorded(self):
        self.assertEqual(self.record(CHAIN, "safe", 50, "threads").returncode, 0)
        self.assertEqual(self.launches(), [200])
        done, edges = self.edges()
        self.assertEqual((edges["produce", "safe"]["count"], edges["produce", "safe"]["verdict"]), (100, "proven"))

    def test_many_launches_take_several_chunks(self):
        self.assertEqual(self.record(CHAIN, "safe", 3000).returncode, 0)
        self.assertGreater(self.only_file().stat().st_size, HEADER + 2 * CHUNK)
        self.assertEqual(self.launches(), [6000])

    def test_images_come_back(self):
        self.record(CHAIN, "safe", 1)
        done, report = self.json_of("inspect", "--extract", self.folder / "out")
        (image,) = report["images"]
        (ptx,) = (self.folder / "out").glob("*.ptx")
        self.assertEqual(hashlib.sha256(ptx.read_bytes()).hexdigest(), image["sha256"])
        self.assertIn(".entry produce", ptx.read_text())


class BadInput(Record):
    def refused(self, *words, status=2):
        done = run(BATON, *words)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        return done.stderr

    def test_the_command_line(self):
        self.assertIn("baton record -o OUT.record -- PROGRAM", self.refused("record", "--", "true"))
        self.assertIn("baton record -o OUT.record -- PROGRAM", self.refused("record", "-o", self.path))
        self.assertIn("was given", self.refused("record", "-o", self.path, "--device", "tpu", "--", "true"))

    def test_a_program_that_is_not_there_leaves_no_record(self):
        text = self.refused("record", "--device", "sim", "-o", self.path, "--", "no-such-program")
        self.assertIn('"no-such-program" cannot be started', text)
        self.assertFalse(self.path.exists())

    def test_a_record_that_is_there_is_kept(self):
        self.path.mkdir()
        self.assertIn("is there already", self.refused("record", "--device", "sim", "-o", self.path, "--", "true"))

    def test_a_folder_that_cannot_be_made(self):
        (self.folder / "file").write_text("")
        self.assertIn("cannot be made", self.refused("record", "--device", "sim", "-o", self.folder / "file/a", "--",
                                                     "true"))

    def test_a_program_that_uses_no_gpu(self):
        done = self.record("true")
        self.assertEqual(done.returncode, 0)
        self.assertIn("no process used the CUDA driver", done.stderr)
        done, report = self.json_of("check")
        self.assertEqual((done.returncode, report["edges"]), (0, []))

    def test_a_record_is_no_program(self):
        self.record("true")
        self.assertIn("baton run", self.refused("bench", self.path))

    def test_another_version(self):
        self.record("true")
        manifest = self.path / "record.json"
        manifest.write_text(manifest.read_text().replace('"version": 2', '"version": 3'))
        for command in ("check", "inspect"):
            self.assertIn("has version 3 of the record format", self.refused(command, self.path))

    def test_a_file_that_is_cut_off_shows_what_could_be_read(self):
        self.record(CHAIN, "safe", 3000)
        events = self.only_file()
        os.truncate(events, HEADER + CHUNK + 1000)
        for command in ("check", "inspect"):
            done, report = self.json_of(command)
            self.assertEqual((done.returncode, report["error"]["code"]), (1, "damaged"))
            self.assertIn("are cut off", report["error"]["what"])
            self.assertGreater(report["processes"][0]["launches"], 500)

    def test_an_image_with_other_bytes_is_told(self):
        self.record(CHAIN, "safe", 1)
        (image,) = (self.path / "images").iterdir()
        image.write_text(image.read_text().replace("4", "8"))
        done, report = self.json_of("check")
        self.assertIn("is damaged: its bytes are others", done.stderr)
        self.assertEqual({e["verdict"] for e in report["edges"]}, {"unknown"})

    def test_a_record_that_is_not_writable_leaves_the_program_alone(self):
        # The folder of the record goes away before the program calls the driver.
        done = self.record("sh", "-c", f"rm -r {self.path}/images {self.path}/record.json; "
                           f"mv {self.path} {self.path}.gone; {CHAIN} safe 2; mv {self.path}.gone {self.path}")
        self.assertIn("done\n", done.stdout)
        self.assertIn("recording stops", done.stderr)

    def test_a_full_disk_leaves_the_program_alone(self):
        # A limit on the size of files stands in for it: the system refuses room in the same way.
        done = self.record("sh", "-c", f"trap '' XFSZ; ulimit -f 1000; {CHAIN} safe 3000")
        self.assertEqual((done.stdout, done.returncode), ("done\n", 0), done.stderr)
        self.assertIn("recording stops", done.stderr)
        done, report = self.json_of("inspect")
        self.assertIn("the recording ends before the process did", done.stderr)
        self.assertGreater(report["processes"][0]["launches"], 0)


@unittest.skipUnless(os.path.exists(NVCC), "there is no nvcc")
class Nvcc(Record):
    def test_programs_of_the_runtime(self):
        for options in (["-cudart", "static"], ["-cudart", "shared"], ["-rdc=true"]):
            # NVIDIA's runtime hands over what nvlink made in a way of its own.
            if DEVICE == "cuda" and options == ["-rdc=true"]:
                continue
            with self.subTest(options):
                program = self.folder / options[-1].strip("-").replace("=", "_")
                shutil.rmtree(self.path, ignore_errors=True)
                subprocess.run([NVCC, "-arch=sm_90", "-lineinfo", *options, HERE / "chain.cu", "-o", program], check=True)
                done = self.record(program)
                self.assertEqual((done.stdout, done.returncode), ("cudaSuccess\n", 0), done.stderr)
                done, edges = self.edges()
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual({to: (edges["produce", to]["verdict"], edges["produce", to]["count"])
                                  for to in ("safe", "early", "hidden")},
                                 {"safe": ("proven", 10), "early": ("unsafe", 10), "hidden": ("unknown", 10)})
                self.assertRegex(edges["produce", "early"]["where"], r"chain\.cu:18")

    def test_machine_code_alone_is_named(self):
        if DEVICE != "cuda":
            self.skipTest("the simulated GPU runs no machine code")
        program = self.folder / "sass"
        subprocess.run([NVCC, "-gencode", "arch=compute_90,code=sm_90", HERE / "chain.cu", "-o", program], check=True)
        self.record(program)
        done, report = self.json_of("check")
        self.assertEqual({e["verdict"] for e in report["edges"]}, {"unknown"})
        self.assertTrue(all(k["unseen"] for k in report["processes"][0]["kernels"]))


def words(text):
    return " ".join(text.split())


@unittest.skipUnless(os.path.exists(NVCC), "there is no nvcc")
class Page(Record):
    """docs/record.md: its program, its commands, and the output that it shows."""

    def test_the_page(self):
        page = (HERE.parent.parent / "docs/record.md").read_text()
        (source,) = re.findall(r"^`app.cu`:\n\n```cuda\n(.*?)^```$", page, re.M | re.S)
        (block,) = re.findall(r"^```console\n(.*?)^```$", page, re.M | re.S)
        (self.folder / "app.cu").write_text(source)
        tools = {"nvcc": NVCC, "baton": BATON}
        commands = 0
        for line in block.splitlines():
            if not line.startswith("$ "):
                self.assertIn(words(line), shown)
                continue
            command, _, status = line[2:].partition("    # status ")
            name, *arguments = shlex.split(command)
            done = run(tools[name], *arguments, cwd=self.folder, environment={"BATON_DEVICE": DEVICE})
            self.assertEqual(done.returncode, int(status or 0), done.stderr)
            shown = words(done.stdout + done.stderr)
            commands += 1
        self.assertEqual(commands, 3)


if __name__ == "__main__":
    if DEVICE == "cuda":
        with tempfile.TemporaryDirectory() as folder:
            asked = run(BATON, "record", "--device", "cuda", "-o", f"{folder}/r", "--", "true")
        if asked.returncode != 0:
            print(f"skipped: {asked.stderr}")
            sys.exit(77)
    unittest.main()
