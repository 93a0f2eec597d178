"""Programs of nvcc under `baton exec`: with the CUDA runtime as a library, and linked in."""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BATON = os.environ["BATON"]
PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
FOLDER = tempfile.TemporaryDirectory(prefix="baton-nvcc-")
RELINK = "-cudart shared"


@functools.cache
def built(name, *options):
#nvcc's own tools stumble over "=" and "," in names.
    path = pathlib.Path(FOLDER.name) / re.sub(r"\W+", "_", name + "".join(options))
    code = () if "-gencode" in options else ("-arch=sm_90",)
    subprocess.run([NVCC, *code, "-lineinfo", *options, PROGRAMS / f"{name}.cu", "-o", path], check=True)
    return path


# What is found in the cases of a program; in those that are not here, nothing.
PLANTED = {
    "planted_order": {
        "two_streams": "unordered_grids",
        "event_before_its_work": "unordered_grids",
        "uses_before_allocation": "host_race",
        "fills_before_allocation": "host_race",
        "frees_before_allocation": "free_race",
        "frees_while_in_use": "free_race",
        "uses_after_free": "use_after_free",
        "uses_graph_memory_after_free": "use_after_free",
        "frees_twice": "bad_free",
        "frees_twice_in_stream": "bad_free",
        "frees_inside": "bad_free",
        "frees_pinned_twice": "bad_free",
        "frees_inside_pinned": "bad_free",
        "frees_managed_twice": "bad_free",
        "frees_twice_to_pool_of_host": "bad_free",
        "fills_overlap": "host_race",
        "copies_to_pinned_while_kernel_reads": "host_race",
        "changes_constants_in_use": "host_race",
    },
    "planted_kernels": {
        "skips_barrier": "shared_race",
        "races_after_exits": "shared_race",
        "diverges_at_barriers": "barrier_divergence",
        "writes_beside_barrier": "shared_race",
        "reduces_without_barrier": "shared_race",
        "lacks_syncwarp": "shared_race",
        "sums_exited_lanes": "uninitialized",
        "is_not_in_its_mask": "bad_members",
        "takes_unnamed_lanes": "uninitialized",
        "shuffles_in_two_branches": "deadlock",
        "stores_misaligned_vector": "misaligned",
        "writes_beyond_shared": "out_of_bounds",
        "writes_beyond_local": "out_of_bounds",
        "writes_beyond_managed": "out_of_bounds",
        "writes_freed": "use_after_free",
        "reads_unwritten_shared": "uninitialized",
        "has_too_little_shared": "out_of_bounds",
        "copies_out_without_fence": "async_race",
        "expects_too_few_bytes": "deadlock",
        "leaves_cluster_early": "exited_block",
    },
}
# The same for programs whose source marks the line of each error with the name of its case.
MARKED = {
    "planted_stages": {
        "overwrites_tile": "shared_race",
        "scans_in_place": "shared_race",
        "counts_bins_plainly": "shared_race",
        "transposes_unordered": "shared_race",
        "smooths_without_halo": "uninitialized",
        "runs_ahead": "deadlock",
        "loops_unequally": "deadlock",
        "waits_for_older_stage": "async_race",
        "copies_without_wait": "async_race",
        "arrives_without_wait": "shared_race",
        "lacks_init": "bad_mbarrier",
        "multiplies_unordered": "shared_race",
    },
    "planted_places": {
        "looks_before_first": "out_of_bounds",
        "takes_width_for_bytes": "out_of_bounds",
        "casts_odd_address": "misaligned",
        "overflows_index": "out_of_bounds",
        "uses_shared_of_other_grid": "out_of_bounds",
        "follows_null": "null_pointer",
        "follows_host_pointer": "host_pointer",
        "reads_deleted_node": "use_after_free",
        "calls_unmade_object": "null_pointer",
        "recurses_too_deep": "stack_overflow",
        "calls_empty_slot": "bad_call",
        "reduces_unnamed_lanes": "bad_members",
        "syncs_in_part_of_tile": "deadlock",
        "traps": "trap",
    },
    "planted_grids": {
        "sums_without_fence": "global_race",
        "locks_without_fence": "global_race",
        "passes_on_in_block_scope": "global_race",
        "steps_without_sync": "global_race",
        "waits_in_some_threads": "missing_wait",
        "node_lacks_edge": "unordered_grids",
        "forks_early": "unordered_grids",
        "records_early": "unordered_grids",
        "frees_early": "free_race",
    },
}


@unittest.skipUnless(os.path.exists(NVCC), "there is no nvcc")
class Nvcc(unittest.TestCase):
    def exec(self, program, *words, arguments=(), cwd=None, **environment):
        report = pathlib.Path(FOLDER.name) / "report.json"
        kept = {k: v for k, v in os.environ.items() if not k.startswith("BATON_")}
        done = subprocess.run([BATON, "exec", "--json", report, *words, "--", program, *arguments],
                              capture_output=True, text=True, timeout=300, cwd=cwd, env={**kept, **environment})
        return done, json.loads(report.read_text())

    def check_right(self, program, *words):
        done, report = self.exec(program, *words)
        self.assertEqual((done.stdout, done.returncode), ("right\n", 0), done.stderr)
        self.assertEqual((report["findings"], report["missing"], report["unchecked"]), ([], [], []))

    def check_race(self, program):
        done, report = self.exec(program)
        self.assertEqual((done.stdout, done.returncode), ("no error\n", 1), done.stderr)
        (finding,) = report["findings"]
        self.assertEqual(finding["kind"], "shared_race")
        self.assertRegex(finding["where"], r"race\.cu:13:")

    def test_a_right_program(self):
        for options in [("-cudart", "shared"), ()]:
            with self.subTest(options):
                self.check_right(built("runtime", *options))

    def test_a_right_program_with_default_streams_of_threads(self):
        self.check_right(built("runtime", "--default-stream", "per-thread"))

    def test_graphs(self):
        self.check_right(built("graphs"))
        self.check_right(built("graph_changes"))

    def test_captures_and_attributes_of_streams(self):
        self.check_right(built("capture"))

    def test_managed_variables(self):
        for options in [("-cudart", "shared"), ()]:
            with self.subTest(options):
                self.check_right(built("managed", *options))

    def test_objects_that_nvlink_joined(self):
        self.check_right(built("joined", "-rdc=true", str(PROGRAMS / "joined_part.cu")))

    def test_kernels_that_launch_kernels_are_refused_by_name(self):
        done, report = self.exec(built("nested", "-rdc=true"))
        self.assertEqual(done.stdout, "cudaErrorNoKernelImageForDevice\n", done.stderr)
        (part,) = report["unchecked"]
        self.assertIn("dynamic parallelism, cudaLaunchDevice", part["why"])

    def test_a_race(self):
        for options in [("-cudart", "shared"), ()]:
            with self.subTest(options):
                self.check_race(built("race", *options))

    def check_planted(self, name, *options, but=()):
        program = built(name, *options)
        cases = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual(set(PLANTED[name]) - set(cases), set())
        for case in cases:
            with self.subTest(case):
                done, report = self.exec(program, arguments=[case])
                kind = None if case in but else PLANTED[name].get(case)
                self.assertEqual({finding["kind"] for finding in report["findings"]}, {kind} - {None}, done.stderr)

    def test_planted_errors_are_found_and_nothing_else(self):
        self.check_planted("planted_order")
        self.check_planted("planted_kernels")
        for races, kinds in [("global", []), ("model", ["shared_race"])]:
            done, report = self.exec(built("planted_kernels"), "--races", races, arguments=["reads_what_exited_warp_wrote"])
            self.assertEqual([finding["kind"] for finding in report["findings"]], kinds, done.stderr)
        done, report = self.exec(built("planted_kernels"), "--races", "global", arguments=["counts_without_atomics"])
        self.assertEqual({finding["kind"] for finding in report["findings"]}, {"global_race"}, done.stderr)
        done, report = self.exec(built("planted_kernels"), arguments=["has_too_many_blocks"])
        self.assertEqual(done.stdout, "cudaErrorCooperativeLaunchTooLarge\n", done.stderr)

    def check_marked(self, name, *words):
        program = built(name)
        lines = (PROGRAMS / f"{name}.cu").read_text().splitlines()
        cases = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual(set(MARKED[name]) - set(cases), set())
        for case in cases:
            with self.subTest(case):
                done, report = self.exec(program, *words, arguments=[case])
                if case not in MARKED[name]:
                    self.assertEqual((report["findings"], done.returncode), ([], 0), done.stderr)
                    continue
                numbers = [str(k) for k, line in enumerate(lines, 1) if re.search(rf"//.*\b{case}\b", line)]
                self.assertNotEqual(numbers, [])
                places = [f"{each['where']} {each['message']}" for each in report["findings"]
                          if each["kind"] == MARKED[name][case]]
                self.assertRegex(" ".join(places), rf"{name}\.cu:({'|'.join(numbers)}):", done.stderr)

    def test_planted_errors_are_found_with_their_lines(self):
        self.check_marked("planted_stages")
        self.check_marked("planted_places")
        self.check_marked("planted_grids", "--races", "global")

    def test_the_same_in_code_for_a_debugger(self):
        # It stores a vector by its elements, and each value that it shuffles in a variable.
        self.check_planted("planted_kernels", "-G",
                           but=["stores_misaligned_vector", "sums_exited_lanes", "takes_unnamed_lanes"])

    def test_a_library_that_is_opened_has_its_runtime_replaced(self):
        library = built("race", "-shared", "-Xcompiler", "-fPIC")
        opener = pathlib.Path(FOLDER.name) / "open.py"
        opener.write_text(f"import ctypes, sys\nsys.exit(ctypes.CDLL({str(library)!r}).main())\n")
        report = pathlib.Path(FOLDER.name) / "opened.json"
        done = subprocess.run([BATON, "exec", "--json", report, "--", "/usr/bin/python3", opener],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual((done.stdout, done.returncode), ("no error\n", 1), done.stderr)
        self.assertEqual([f["kind"] for f in json.loads(report.read_text())["findings"]], ["shared_race"])

    def test_findings_of_programs_with_endings_of_their_own(self):
        for case, output in [("closes_descriptors", "0 bytes\n"), ("launches_at_exit", "cudaErrorIllegalAddress\n")]:
            with self.subTest(case):
                done, report = self.exec(built("endings"), arguments=[case], cwd=FOLDER.name)
                self.assertEqual((done.stdout, done.returncode), (output, 1), done.stderr)
                self.assertEqual({each["kind"] for each in report["findings"]},
                                 {"shared_race", "uninitialized", "out_of_bounds"})

    def test_errors_of_calls_are_told_where_that_is_asked_for(self):
        errors = {("cudaMalloc", "cudaErrorMemoryAllocation (2): out of memory", "allocate_too_much", 3),
                  ("cudaLaunchKernel", "cudaErrorInvalidConfiguration (9): invalid configuration argument",
                   "nothing", 1),
                  ("cudaMemcpyAsync", "cudaErrorInvalidValue (1): invalid argument", "copy_nowhere", 1)}
        for options in [("-cudart", "shared"), ()]:
            program = built("call_errors", *options)
            self.check_right(program)
            for which in ("explicit", "all"):
                with self.subTest((options, which)):
                    done, report = self.exec(program, "--report-api-errors", which)
                    self.assertEqual((done.stdout, done.returncode), ("right\n", 1), done.stderr)
                    own = [each for each in report["findings"] if not each["message"].startswith("cu") or
                           each["message"].startswith("cuda")]
                    self.assertEqual({each["kind"] for each in own}, {"api_error"})
                    told = set()
                    for each in own:
                        function, error = each["message"].split("; called through ")[0].split(" gave ")
                        caller = next(name for name in ("allocate_too_much", "nothing", "copy_nowhere")
                                      if name in each["where"])
                        self.assertRegex(each["where"], r"\+0x[0-9a-f]+ \(call_errors\w*\+0x[0-9a-f]+\)$")
                        self.assertRegex(each["message"], r"; called through .*main\+0x")
                        told.add((function, error, caller, each["count"]))
                    self.assertEqual(told, errors)
                    # What the runtime calls for the program.
                    driver = [each["message"].split(" ")[0] for each in report["findings"] if each not in own]
                    self.assertEqual("cuMemAlloc_v2" in driver, which == "all")
                    self.assertEqual(driver == [], which == "explicit")

    def test_a_read_before_the_wait(self):
        done, report = self.exec(built("early"))
        self.assertEqual((done.stdout, done.returncode), ("7\n", 1), done.stderr)
        (finding,) = report["findings"]
        self.assertEqual(finding["kind"], "read_before_wait")
        self.assertRegex(finding["where"], r"early\.cu:9:")
        self.assertRegex(finding["message"], r"early\.cu:5:")

    def test_flags_in_memory_that_the_host_shares_order_blocks(self):
        self.check_right(built("managed_flags"), "--races", "global")

    def test_a_program_that_is_linked_with_nvrtc(self):
        for options in [(), ("-Xlinker", "-z,now"), ("-Xlinker", "-z,lazy")]:
            with self.subTest(options):
                self.check_right(built("compiles", "-lnvrtc", *options))

    def test_an_address_before_the_first_allocation(self):
        done, report = self.exec(built("before"))
        (finding,) = report["findings"]
        self.assertEqual(finding["kind"], "out_of_bounds", done.stderr)
        self.assertIn("4 bytes before an allocation of 256 bytes", finding["message"])
        self.assertRegex(finding["where"], r"before\.cu:5:")

    def test_kernels_allocate(self):
        self.check_right(built("heap"))

    def test_what_is_wrong_with_a_block_of_the_kernels_heap(self):
        for how, kind, line, message in [
            (1, "out_of_bounds", 75, "0 bytes past the end of a block of the kernels' heap (16 bytes"),
            (2, "use_after_free", 77, "0 bytes inside a block of the kernels' heap (16 bytes"),
            (3, "bad_free", 79, "the block was freed before"),
            (4, "bad_free", 80, "free takes only what malloc or new of a kernel returned"),
            (5, "uninitialized", 81, "4 bytes inside a block of the kernels' heap"),
        ]:
            with self.subTest(kind):
                done, report = self.exec(built("heap"), arguments=[str(how)])
                (finding,) = report["findings"]
                self.assertEqual((finding["kind"], finding["kernel"]), (kind, "_Z4errsiPi"), done.stderr)
                self.assertRegex(finding["where"], rf"heap\.cu:{line}:")
                self.assertIn(message, finding["message"])

    def test_threads_allocate_on_their_stacks(self):
        for options in [(), ("-G",)]:
            with self.subTest(options):
                self.check_right(built("stack", *options))
        done, report = self.exec(built("stack"), arguments=["beyond"])
        (finding,) = report["findings"]
        self.assertEqual((finding["kind"], done.stdout), ("out_of_bounds", "cudaErrorIllegalAddress\n"), done.stderr)
        self.assertRegex(finding["where"], r"stack\.cu:32:")

    def test_textures_and_surfaces(self):
        for options in [("-cudart", "shared"), ()]:
            with self.subTest(options):
                self.check_right(built("textures", *options))

    def test_mipmaps_and_cubes(self):
        self.check_right(built("mipmaps"))

    def test_a_write_outside_of_a_surface(self):
        done, report = self.exec(built("textures"), arguments=["outside"])
        (finding,) = report["findings"]
        self.assertEqual((finding["kind"], finding["thread"]), ("out_of_bounds", [1, 0, 0]), done.stderr)
        self.assertIn("accesses 4 bytes of a surface at byte 148, where it has 148 bytes a row", finding["message"])

    def test_a_stripped_program_is_told_the_flag(self):
        stripped = pathlib.Path(FOLDER.name) / "stripped"
        subprocess.run(["strip", "-o", stripped, built("race")], check=True)
        done, report = self.exec(stripped)
        (part,) = report["unchecked"]
        self.assertIn("stripped holds NVIDIA's CUDA runtime without its symbols", part["why"])
        self.assertIn(RELINK, part["why"])

    def test_machine_code_alone_is_told(self):
        done, report = self.exec(built("race", "-gencode", "arch=compute_90,code=sm_90", "-cudart", "shared"))
        self.assertIn("machine code only", report["unchecked"][0]["why"])

    def test_newer_ptx_replaces_machine_code_of_the_device(self):
#As prebuilt libraries have it : code for today's GPUs, PTX for those to come.
        self.check_right(built("runtime", "-gencode", "arch=compute_90,code=sm_90",
                               "-gencode", "arch=compute_120,code=compute_120"))

    def test_newer_ptx_alone_is_refused(self):
        done, report = self.exec(built("race", "-gencode", "arch=compute_120,code=compute_120"))
        self.assertIn("the module is for sm_120", report["unchecked"][0]["why"])

    def test_a_toolkit_keeps_the_ptx_of_machine_code(self):
        toolkit = pathlib.Path(FOLDER.name) / "a toolkit"
        made = subprocess.run([BATON, "toolkit", toolkit, "--from", pathlib.Path(NVCC).resolve().parents[1]],
                              capture_output=True, text=True)
        self.assertEqual(made.returncode, 0, made.stderr)
        again = subprocess.run([BATON, "toolkit", toolkit], capture_output=True, text=True)
        self.assertEqual(again.returncode, 2)
        self.assertIn("is not empty", again.stderr)
        program = pathlib.Path(FOLDER.name) / "kept"
        compiled = subprocess.run([toolkit / "bin" / "nvcc", "-gencode", "arch=compute_90,code=sm_90", "-lineinfo",
                                   PROGRAMS / "race.cu", "-o", program], capture_output=True, text=True)
        self.assertEqual((compiled.returncode, compiled.stderr), (0, ""), compiled.stdout)
        self.check_race(program)

    def test_a_toolkit_is_found_behind_scripts(self):
        scripts = pathlib.Path(FOLDER.name) / "scripts"
        (scripts / "bin").mkdir(parents=True)
        for name in ["nvcc", "ptxas"]:
            script = scripts / "bin" / name
            real = pathlib.Path(NVCC).resolve().parent / name
            script.write_text(f'#!/bin/sh\nexec {real} "$@"\n')
            script.chmod(0o755)
        made = pathlib.Path(FOLDER.name) / "behind"
        for words, path in [(["--from", scripts], os.environ["PATH"]), ([], f"{scripts}/bin:{os.environ['PATH']}")]:
            with self.subTest(words):
                environment = {k: v for k, v in os.environ.items() if k not in ("CUDA_HOME", "CUDA_PATH")}
                done = subprocess.run([BATON, "toolkit", made, *words], capture_output=True, text=True,
                                      env={**environment, "PATH": path})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue((made / "nvvm").exists())
                shutil.rmtree(made)

    def test_a_script_that_calls_no_toolkit_is_refused(self):
        folder = pathlib.Path(FOLDER.name) / "other"
        (folder / "bin").mkdir(parents=True)
        for name in ["nvcc", "ptxas"]:
            (folder / "bin" / name).write_text("#!/bin/sh\nexit 3\n")
            (folder / "bin" / name).chmod(0o755)
        done = subprocess.run([BATON, "toolkit", folder / "made", "--from", folder], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no bin/nvcc and bin/ptxas of a CUDA toolkit", done.stderr)

    def test_ptxas_keeps_its_status_and_its_messages(self):
        ptx = pathlib.Path(FOLDER.name) / "wrong.ptx"
        ptx.write_text(".version 8.0\n.target sm_90\n.address_size 64\nnonsense\n")
        arguments = ["-arch=sm_90", str(ptx), "-o", str(ptx.with_suffix(".cubin"))]
        real = pathlib.Path(NVCC).resolve().parent / "ptxas"
        wanted = subprocess.run([real, *arguments], capture_output=True, text=True)
        done = subprocess.run([BATON, "ptxas", "--", *arguments], capture_output=True, text=True,
                              env={**os.environ, "BATON_PTXAS": str(real)})
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (wanted.returncode, wanted.stdout, wanted.stderr))


if __name__ == "__main__":
    unittest.main()
