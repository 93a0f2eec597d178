"""`baton exec`: what it tells of programs of others, and how it ends."""

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
CLIENTS = pathlib.Path(os.environ["BATON_CLIENTS"])

# Asks NVML and then CUDA, and compares. A child that is forked in between uses CUDA too.
NVML = r"""
import ctypes, os
nvml = ctypes.CDLL("libnvidia-ml.so.1")
text, number = ctypes.create_string_buffer(96), ctypes.c_uint()
device = ctypes.c_void_p()
assert nvml.nvmlDeviceGetCount_v2(ctypes.byref(number)) == 1, "it is not initialized"
assert nvml.nvmlInit_v2() == 0
assert nvml.nvmlDeviceGetCount_v2(ctypes.byref(number)) == 0 and number.value == 1
assert nvml.nvmlDeviceGetHandleByIndex_v2(1, ctypes.byref(device)) == 2
assert nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)) == 0
assert nvml.nvmlDeviceGetName(device, text, 96) == 0
name = text.value
assert nvml.nvmlDeviceGetName(device, text, 4) == 7
assert nvml.nvmlDeviceGetUUID(device, text, 96) == 0
uuid, same = text.value.decode(), ctypes.c_void_p()
assert nvml.nvmlDeviceGetHandleByUUID(text, ctypes.byref(same)) == 0 and same.value == device.value
major, minor = ctypes.c_int(), ctypes.c_int()
assert nvml.nvmlDeviceGetCudaComputeCapability(device, ctypes.byref(major), ctypes.byref(minor)) == 0
assert (major.value, minor.value) == (8, 0)
# A device is found by its address, however that is written. The first versions of the call fill 52 bytes.
for function, size, at in ("nvmlDeviceGetPciInfo", 52, 0), ("nvmlDeviceGetPciInfo_v2", 52, 0), \
        ("nvmlDeviceGetPciInfo_v3", 68, 36):
    info = ctypes.create_string_buffer(b"\xaa" * 128, 128)
    assert getattr(nvml, function)(device, info) == 0, function
    assert info.raw[size:] == b"\xaa" * (128 - size) and b"\xaa" not in info.raw[:size], function
    bus = info.raw[at:].split(b"\0")[0]
    domain, rest = bus.split(b":", 1)
    assert len(domain) == (8 if at else 4), bus
    for each in bus, bus.lower(), rest, b"0000:" + rest, bus.removesuffix(b".0"):
        for find in nvml.nvmlDeviceGetHandleByPciBusId, nvml.nvmlDeviceGetHandleByPciBusId_v2:
            same.value = None
            assert find(each, ctypes.byref(same)) == 0 and same.value == device.value, each
    assert nvml.nvmlDeviceGetHandleByPciBusId_v2(b"0001:" + rest, ctypes.byref(same)) == 6
    assert nvml.nvmlDeviceGetHandleByPciBusId_v2(bus + b"x", ctypes.byref(same)) == 2
# Torch wants these to be there.
assert nvml.nvmlDeviceGetNvLinkRemoteDeviceType(device, 0, ctypes.byref(number)) == 3
assert nvml.nvmlDeviceGetNvLinkRemotePciInfo_v2(device, 0, info) == 3
number.value = 8
assert nvml.nvmlDeviceGetComputeRunningProcesses(device, ctypes.byref(number), None) == 0
assert number.value == 0
child = os.fork()
cuda = ctypes.CDLL("libcuda.so.1")
assert cuda.cuInit(0) == 0
assert cuda.cuDeviceGetName(text, 96, 0) == 0 and text.value == name
id = (ctypes.c_ubyte * 16)()
assert cuda.cuDeviceGetUuid_v2(id, 0) == 0
assert uuid.removeprefix("GPU-").replace("-", "") == bytes(id).hex()
context, memory = ctypes.c_void_p(), ctypes.c_void_p()
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1 << 20)) == 0
counts = (ctypes.c_ulonglong * 3)()
assert nvml.nvmlDeviceGetMemoryInfo(device, counts) == 0
assert counts[0] == counts[1] + counts[2] and counts[2] >= 1 << 20
assert nvml.nvmlShutdown() == 0 and nvml.nvmlShutdown() == 1
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print("right")
"""

# Two blocks store one value at one place.
EQUAL = r'''
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
ptx = b""".version 8.0
.target sm_80
.address_size 64
.visible .entry set(.param .u64 set_param_0) {
  .reg .u64 %rd<3>;
  ld.param.u64 %rd1, [set_param_0];
  cvta.to.global.u64 %rd2, %rd1;
  st.global.u32 [%rd2], 1;
  ret;
}
"""
context, module, kernel, memory = (ctypes.c_void_p() for _ in range(4))
assert cuda.cuInit(0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0
assert cuda.cuModuleLoadData(ctypes.byref(module), ptx) == 0
assert cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"set") == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4)) == 0
arguments = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
assert cuda.cuLaunchKernel(kernel, 2, 1, 1, 1, 1, 1, 0, None, arguments, None) == 0
assert cuda.cuCtxSynchronize() == 0
'''

# Reads a word that nothing wrote three times, writes it, and reads it twice; and a kernel that
# writes it in a stream of its own, after nothing.
SEQUENCE = r"""
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
ptx = b"""+'"""'+"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry get(.param .u64 get_param_0) {
  .reg .u64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [get_param_0];
  ld.global.u32 %r1, [%rd1];
  add.s32 %r1, %r1, 1;
  st.global.u32 [%rd1+4], %r1;
  ret;
}
.visible .entry put(.param .u64 put_param_0) {
  .reg .u64 %rd<2>;
  ld.param.u64 %rd1, [put_param_0];
  st.global.u32 [%rd1], 1;
  ret;
}
"""+'"""'+r"""
context, module, get, put, memory, stream = (ctypes.c_void_p() for _ in range(6))
assert cuda.cuInit(0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0
assert cuda.cuModuleLoadData(ctypes.byref(module), ptx) == 0
assert cuda.cuModuleGetFunction(ctypes.byref(get), module, b"get") == 0
assert cuda.cuModuleGetFunction(ctypes.byref(put), module, b"put") == 0
assert cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(8)) == 0
assert cuda.cuStreamCreate(ctypes.byref(stream), 1) == 0
arguments = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
for kernel, where in [(get, None)] * 3 + [(put, None)] + [(get, None)] * 2 + [(put, stream)]:
    assert cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, where, arguments, None) == 0
assert cuda.cuCtxSynchronize() == 0
"""


class Exec(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="baton-exec-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def exec(self, *words, **environment):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("BATON_")}
        return subprocess.run([BATON, "exec", *words], capture_output=True, text=True, timeout=120,
                              env={**kept, **environment})

    def report(self, *words, options=(), **environment):
        path = self.folder / "report.json"
        done = self.exec("--json", path, *options, "--", *words, **environment)
        return done, json.loads(path.read_text())

    def test_right_programs_are_right_with_it(self):
        for name in ("memory", "modules", "node_params", "stream_values", "streams", "textures", "virtual_memory"):
            with self.subTest(name):
                done, report = self.report(CLIENTS / name)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(report["findings"], [])
                self.assertEqual(report["processes"], 1)

    def test_handles_of_cublaslt_are_refused(self):
        library = self.folder / "libcublasLt.so.13"
        code = "int cublasLtCreate(void** handle) { *handle = handle; *handle = 0; return 0; }"
        made = subprocess.run([os.environ.get("CC", "cc"), "-O0", "-shared", "-fPIC", "-x", "c", "-", "-o", library],
                              input=code, text=True, capture_output=True)
        if made.returncode != 0:
            self.skipTest("there is no C compiler")
        script = "import ctypes, sys; p = ctypes.c_void_p(); print(ctypes.CDLL(sys.argv[1]).cublasLtCreate(ctypes.byref(p)))"
        self.assertEqual(subprocess.run([sys.executable, "-c", script, library], text=True, capture_output=True).stdout, "0\n")
        self.assertEqual(self.exec("--", sys.executable, "-c", script, library).stdout, "1\n")

    def test_an_error_is_told_with_its_place_and_makes_the_status(self):
        done, report = self.report(CLIENTS / "faulty", "3")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout, "result 700\n")
        (finding,) = report["findings"]
        self.assertEqual((finding["kind"], finding["kernel"]), ("out_of_bounds", "twice"))
        self.assertRegex(finding["where"], r":\d+:\d+$")
        self.assertEqual(report["status"], 1)
        self.assertEqual(report["program"]["status"], 0)
        self.assertIn("error: out_of_bounds: kernel twice", done.stderr)

    def test_kernels_that_values_order_do_not_race_and_others_do(self):
        done, report = self.report(CLIENTS / "stream_values", "unordered")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual({(each["kind"], each["kernel"]) for each in report["findings"]},
                         {("unordered_grids", "twice")})

    def test_wrong_uses_of_virtual_memory_are_found(self):
        for use, kind, text in [
                ("unmapped", "use_after_free", "whose memory was unmapped"),
                ("beyond", "out_of_bounds", "0 bytes past the end of mapped memory (2097152 bytes"),
                ("closed", "out_of_bounds", "has no access (cuMemSetAccess)"),
                ("fresh", "uninitialized", "2097152 bytes inside mapped memory (4194304 bytes")]:
            with self.subTest(use):
                done, report = self.report(CLIENTS / "virtual_memory", use)
                (finding,) = report["findings"]
                self.assertEqual((finding["kind"], finding["kernel"]), (kind, "twice"))
                self.assertIn(text, finding["message"])
                self.assertEqual(done.stdout, "0\n" if kind == "uninitialized" else "700\n")

    def test_the_status_of_errors_can_be_chosen(self):
        self.assertEqual(self.exec("--error-exitcode", "9", "--", CLIENTS / "faulty", "3").returncode, 9)
        self.assertEqual(self.exec("--error-exitcode", "0", "--", CLIENTS / "faulty", "3").returncode, 0)
        # That of the program comes first.
        self.assertEqual(self.exec("--", "sh", "-c", f"{CLIENTS}/faulty 3; exit 5").returncode, 5)

    def test_keep_going_ends_the_kernel_alone(self):
        done, report = self.report(CLIENTS / "faulty", "3", options=["--keep-going"])
        self.assertEqual(done.stdout, "result 0\n")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(report["findings"]), 1)

    def test_nvml_tells_of_the_device_that_cuda_finds(self):
        program = self.folder / "nvml.py"
        program.write_text(NVML)
        done = self.exec("--device", "sim:sm80", "--", "/usr/bin/python3", program)
        self.assertEqual((done.stdout, done.returncode), ("right\n", 0), done.stderr)

    def test_a_choice_of_real_devices_is_not_passed_on(self):
        done = self.exec("--", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES", CUDA_VISIBLE_DEVICES="2,3")
        self.assertEqual(done.stdout, "0\n", done.stderr)

    def test_races_are_those_that_are_asked_for(self):
        program = self.folder / "equal.py"
        program.write_text(EQUAL)
        for races, kinds in (("usual", []), ("global", []), ("model", ["global_race"])):
            done, report = self.report("/usr/bin/python3", program, options=["--races", races])
            self.assertEqual([finding["kind"] for finding in report["findings"]], kinds, done.stderr)
            self.assertEqual(done.returncode, 1 if kinds else 0, done.stderr)
        done = self.exec("--", "/usr/bin/python3", program, BATON_EXEC_RACES="globl")
        self.assertIn('no races called "globl"; did you mean "global"?', done.stderr)

    def test_children_are_covered(self):
        done, report = self.report("sh", "-c", f"{CLIENTS}/faulty 3; {CLIENTS}/faulty 5; true")
        self.assertEqual(report["processes"], 2)
        (finding,) = report["findings"]
        self.assertEqual((finding["count"], len(finding["processes"])), (2, 2))

    def test_forked_children_are_covered(self):
        done, report = self.report(CLIENTS / "faulty", "3", "fork")
        self.assertEqual(done.stdout, "result 700\n" * 2)
        self.assertEqual(report["processes"], 2)
        self.assertEqual(report["findings"][0]["count"], 2)

    def test_a_program_that_dies_has_told_before(self):
        done, report = self.report(CLIENTS / "faulty", "3", "abort")
        self.assertEqual(done.returncode, 128 + signal.SIGABRT)
        self.assertEqual(report["program"]["signal"], signal.SIGABRT)
        self.assertEqual(len(report["findings"]), 1)

    def test_findings_of_other_kernels_can_be_left_out(self):
        done, report = self.report(CLIENTS / "faulty", "3", options=["--kernel-name", "^thrice$"])
        self.assertEqual((done.returncode, report["findings"]), (0, []))

    def suppressions(self, text):
        path = self.folder / "known.toml"
        path.write_text(text)
        return ["--suppressions", path]

    def test_known_findings_do_not_count(self):
        known = self.suppressions("[[suppress]]\nkind = 'out_of_bounds'\nkernel = '^twice$'\n"
                                  "reason = 'the end'\n[[suppress]]\nkind = 'trap'\n")
        done, report = self.report(CLIENTS / "faulty", "3", options=known)
        self.assertEqual((done.returncode, report["findings"]), (0, []))
        (finding,) = report["suppressed"]
        self.assertEqual((finding["kind"], finding["reason"]), ("out_of_bounds", "the end"))
        self.assertIn("1 finding suppressed by", done.stderr)
        self.assertRegex(done.stderr, r"no finding matched the suppression at .*known.toml:5:1")
        other = self.suppressions("[[suppress]]\nkernel = '^thrice$'")
        done, report = self.report(CLIENTS / "faulty", "3", options=other)
        self.assertEqual((done.returncode, len(report["findings"])), (1, 1))

    def test_suppressions_with_mistakes_are_refused_before_the_program_starts(self):
        done = self.exec(*self.suppressions("[[suppress]]\nkid = 'trap'"), "--", "touch",
                         self.folder / "started")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r'has no key "kid" \(.*known.toml:2:1\); did you mean "kind"\?')
        self.assertFalse((self.folder / "started").exists())

    def test_reports_for_other_tools(self):
        sarif, junit = self.folder / "r.sarif", self.folder / "r.xml"
        done = self.exec("--sarif", sarif, "--junit", junit, "--", CLIENTS / "faulty", "3")
        self.assertEqual(done.returncode, 1, done.stderr)
        (run,) = json.loads(sarif.read_text())["runs"]
        (result,) = run["results"]
        self.assertEqual((result["ruleId"], result["level"]), ("out_of_bounds", "error"))
        # The PTX of the client is in no file.
        self.assertEqual(result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"], "twice")
        (suite,) = xml.etree.ElementTree.parse(junit).getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("1", "1"))
        self.assertEqual(suite[0].get("classname"), "twice")
        self.assertEqual(self.exec("--sarif", sarif, "--", "true").returncode, 0)
        self.assertEqual(json.loads(sarif.read_text())["runs"][0]["results"], [])
        done = self.exec("--junit", "/nowhere/r.xml", "--", "touch", self.folder / "started")
        self.assertEqual(done.returncode, 2)
        self.assertFalse((self.folder / "started").exists())

    def test_what_is_missing_is_told(self):
        done, report = self.report(CLIENTS / "streams")
        self.assertEqual(report["missing"], [{"name": "cuIpcGetEventHandle", "calls": 1}])
        self.assertIn("not simulated: cuIpcGetEventHandle (1 call)", done.stderr)
        done, report = self.report(CLIENTS / "modules")
        self.assertIn("holds machine code only", report["unchecked"][0]["why"])

    def test_a_program_without_cuda_says_so(self):
        done, report = self.report("true")
        self.assertEqual((done.returncode, report["processes"]), (0, 0))
        self.assertIn("nothing was checked", done.stderr)

    def test_the_report_can_go_to_a_file(self):
        done = self.exec("--log-file", self.folder / "log.%p", "--", CLIENTS / "faulty", "3")
        self.assertEqual(done.stderr, "")
        (log,) = self.folder.glob("log.*")
        self.exec("--log-file", self.folder / "of_%q{WHO}_%%", CLIENTS / "faulty", "3", WHO="me")
        self.assertTrue((self.folder / "of_me_%").exists())
        self.assertRegex(log.name, r"^log\.\d+$")
        self.assertIn("error: out_of_bounds", log.read_text())

    def test_the_device_can_be_chosen(self):
        done, report = self.report(CLIENTS / "memory", options=["--device", "sim:tiny"])
        self.assertEqual((done.returncode, report["device"]), (0, "sim:tiny"))
        done = self.exec("--device", "sim:h2000", "--", CLIENTS / "memory")
        self.assertEqual(done.returncode, 2)
        self.assertIn('did you mean "sim:h200"?', done.stderr)

    def test_a_program_that_takes_too_long_is_stopped(self):
        done = self.exec("--timeout", "0.2", "--", "sleep", "60")
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: the program took more than 0.2 s and was stopped", done.stderr)

    def test_bad_usage(self):
        for words, message in [
            ([], 'baton exec needs a program after "--"'),
            (["--", "/nowhere/at/all"], '"/nowhere/at/all" cannot be started: No such file or directory'),
            (["--device", "cuda:1", "--", "true"], "baton exec takes --device sim, "),
            (["--memory", "many", "--", "true"], '--memory takes a number of bytes'),
            (["--memory", "99999999999TiB", "--", "true"], '--memory takes a number of bytes'),
            (["--error-exitcode", "256", "--", "true"], "--error-exitcode takes an exit status from 0 to 255"),
            (["--schedule", "sideways", "--", "true"], '--schedule has no choice "sideways"'),
            (["--tool", "racechek", "true"], '--tool has no choice "racechek"; did you mean "racecheck"?'),
            (["--save", "run.csan", "true"], "--save run.csan is an option of compute-sanitizer that baton exec does not have: write --json FILE"),
            (["--xml", "--", "true"], "--xml yes is an option of compute-sanitizer that baton exec does not have: "),
            (["--show-backtrace=host", "true"], "write --show-backtrace device"),
            (["--report-api-errors", "implicit", "true"], '--report-api-errors has no choice "implicit"'),
            (["--report-api-errors", "all", "--device", "cuda", "true"], "--report-api-errors is for the simulated GPU"),
            (["--ignore-getprocaddress-notfound", "no", "true"], "that an entry is not there is an answer"),
            (["--launch-skip", "-1", "true"], "--launch-skip takes a number of launches"),
            (["--launch-count", "1", "--device", "cuda", "true"], "--launch-count is for the simulated GPU"),
            (["--padding", "65537", "true"], "--padding 65537 is an option of compute-sanitizer "),
            (["--padding", "some", "true"], '--padding takes a number from 0 up, "some" was given'),
            (["--check-device-heap", "no", "true"], "this is always checked"),
            (["--suppressions", "known.xml", "true"], "--suppressions takes a TOML file"),
            (["--kernel-name", "kns=a,b", "true"], "--kernel-name takes kne=NAME or kns=PART"),
            (["--keep-going", "--destroy-on-device-error", "context", "true"], "contradict each other"),
            (["--tool", "memcheck", "--device", "cuda", "true"], "--tool is for the simulated GPU"),
            (["--launch-timeout"], "--launch-timeout lacks its value"),
            (["--keep-goin", "--", "true"], 'unknown option "--keep-goin"; did you mean "--keep-going"?'),
        ]:
            with self.subTest(words):
                done = self.exec(*words)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(message, done.stderr.splitlines()[0])

    def test_the_command_of_compute_sanitizer_is_taken_as_it_is(self):
        done = self.exec("--target-processes", "all", "--show-backtrace", "no", "--launch-timeout=60", "--xml", "no",
                         "--print-limit", "100", "--error-exitcode", "9", "--force-blocking-launches", "--padding", "32",
                         "--track-stream-ordered-races", "all", "--report-api-errors", "no", "--nvtx", "false", "--quiet", CLIENTS / "faulty", "3")
        self.assertEqual((done.stdout, done.returncode), ("result 700\n", 9), done.stderr)
        self.assertTrue(all(line.startswith("error: ") for line in done.stderr.splitlines()), done.stderr)
        # What follows the program is the program's own.
        self.assertEqual(self.exec("echo", "--tool", "--help", "--").stdout, "--tool --help --\n")
        self.assertEqual(self.exec("--", "echo", "--", "exec").stdout, "-- exec\n")

    def test_a_tool_chooses_findings_and_leaves_faults(self):
        beyond = [CLIENTS / "faulty", "3"]
        self.assertEqual(self.exec("--tool", "racecheck", *beyond).returncode, 1)
        for tool, count, status in [("memcheck", 0, 0), ("racecheck", 0, 0), ("synccheck", 0, 0), ("initcheck", 1, 1)]:
            with self.subTest(tool):
                done, report = self.report(CLIENTS / "virtual_memory", "fresh", options=["--tool", tool])
                self.assertEqual((len(report["findings"]), done.returncode), (count, status), done.stderr)
                self.assertEqual("1 finding of other tools left out" in done.stderr, count == 0)
        done, report = self.report(CLIENTS / "stream_values", "unordered", options=["--tool", "racecheck"])
        self.assertEqual({each["kind"] for each in report["findings"]}, {"unordered_grids"})
        done, report = self.report(CLIENTS / "stream_values", "unordered", options=["--tool", "memcheck"])
        self.assertEqual((report["findings"], done.returncode), ([], 0))

    def test_memory_that_is_never_freed_is_told_where_that_is_asked_for(self):
        self.assertEqual(self.exec("--leak-check", "no", CLIENTS / "faulty", "0").returncode, 0)
        done, report = self.report(CLIENTS / "faulty", "0", options=["--leak-check", "full"])
        (leak,) = report["findings"]
        self.assertEqual((leak["kind"], leak["count"], done.returncode), ("leak", 1, 1), done.stderr)
        self.assertIn("1 allocation of 400 bytes in all was never freed", leak["message"])

    def test_children_can_be_left_out(self):
        script = f"{CLIENTS}/faulty 3; true"
        done, report = self.report("sh", "-c", script, options=["--target-processes", "application-only"])
        self.assertEqual((done.returncode, report["findings"], report["processes"]), (0, [], 0))
        done, report = self.report("sh", "-c", f"exec {CLIENTS}/faulty 3", options=["--target-processes", "application-only"])
        self.assertEqual((done.returncode, len(report["findings"])), (1, 1))

    def test_kernels_are_chosen_as_with_compute_sanitizer(self):
        for option, value, count in [("--kernel-name", "kns=wic", 1), ("--kernel-name", "kne=twice", 1),
                                     ("--kernel-name", "kne=twic", 0), ("--kernel-regex", "^t.*e$", 1),
                                     ("--kernel-name", "kne=other,kernel_substring=tw", 1),
                                     ("--kernel-name-exclude", "kns=twi", 0), ("--kernel-name-exclude", "kns=x.", 1)]:
            with self.subTest((option, value)):
                done, report = self.report(CLIENTS / "faulty", "3", options=[option, value])
                self.assertEqual(len(report["findings"]), count)

    def test_launches_are_chosen_as_with_compute_sanitizer(self):
        program = self.folder / "sequence.py"
        program.write_text(SEQUENCE)
        fresh, race = ("uninitialized", "get"), ("unordered_grids", "put")
        for options, found in [
                ([], {fresh: 3, race: 2}),
                (["--launch-skip", "0", "--launch-count", "0"], {fresh: 3, race: 2}),
                (["--launch-skip", "1"], {fresh: 2, race: 2}),
                (["--launch-skip", "1", "--launch-count=1"], {fresh: 1}),
                # What the launches before wrote is known.
                (["--launch-skip", "4", "--launch-count", "2"], {}),
                (["--launch-count", "4"], {fresh: 3}),
                # Only launches of chosen kernels are counted, and a race counts where it is found.
                (["--launch-skip", "1", "--kernel-name", "kne=put"], {race: 2}),
                (["--launch-count", "1", "--kernel-name", "kne=put"], {}),
                (["--launch-skip", "2", "--launch-count", "2", "--kernel-name-exclude", "^put$"], {fresh: 1}),
                (["--launch-skip", "18446744073709551615"], {})]:
            with self.subTest(options):
                done, report = self.report("/usr/bin/python3", program, options=options)
                self.assertEqual({(each["kind"], each["kernel"]): each["count"] for each in report["findings"]}, found,
                                 done.stderr)
        done = self.exec("/usr/bin/python3", program, BATON_EXEC_LAUNCH_COUNT="few")
        self.assertIn('BATON_EXEC_LAUNCH_COUNT takes a number from 0 up, "few" was given', done.stderr)

    def test_errors_of_calls_of_the_driver(self):
        program = self.folder / "calls.py"
        program.write_text("""
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
pointer = ctypes.c_void_p()
for flags in (0, 7):
    cuda.cuInit(flags)
cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(8))
for kernel in (0, 0):
    cuda.cuLaunchKernel(None, 1, 1, 1, 1, 1, 1, 0, None, None, None)
cuda.cuStreamSynchronize_ptsz(ctypes.c_void_p(12345))
cuda.cuIpcGetMemHandle(ctypes.byref(pointer), None)
""")
        done, report = self.report("/usr/bin/python3", program)
        self.assertEqual((report["findings"], done.returncode), ([], 0), done.stderr)
        done, report = self.report("/usr/bin/python3", program, options=["--report-api-errors", "explicit"])
        self.assertEqual(done.returncode, 1, done.stderr)
        told = {each["message"].split("; called")[0]: each["count"] for each in report["findings"]}
        self.assertEqual(told, {"cuInit gave CUDA_ERROR_INVALID_VALUE (1): invalid argument": 1,
                                "cuMemAlloc_v2 gave CUDA_ERROR_INVALID_CONTEXT (201): invalid device context": 1,
                                "cuLaunchKernel gave CUDA_ERROR_INVALID_HANDLE (400): invalid resource handle": 2,
                                "cuStreamSynchronize_ptsz gave CUDA_ERROR_INVALID_HANDLE (400): invalid resource handle": 1,
                                "cuIpcGetMemHandle gave CUDA_ERROR_NOT_SUPPORTED (801): operation not supported": 1})
        # No kernel made them.
        done, report = self.report("/usr/bin/python3", program,
                                   options=["--report-api-errors=all", "--kernel-name", "kne=other", "--tool", "racecheck"])
        self.assertEqual(len(report["findings"]), 5, done.stderr)
        known = self.suppressions("[[suppress]]\nkind = 'api_error'\nmessage = 'cuInit|cuMem|cuLaunch|cuStream|cuIpc'\n")
        done, report = self.report("/usr/bin/python3", program, options=["--report-api-errors", "all", *known])
        self.assertEqual((len(report["suppressed"]), done.returncode), (5, 0), done.stderr)

    def test_what_is_printed_can_be_limited(self):
        done, report = self.report("sh", "-c", f"{CLIENTS}/faulty 3; {CLIENTS}/virtual_memory fresh",
                                   options=["--print-limit", "1"])
        self.assertEqual(len(report["findings"]), 2)
        self.assertIn("1 finding more not printed (--print-limit 1)", done.stderr)
        done = self.exec("--print-level", "error", CLIENTS / "virtual_memory", "fresh")
        self.assertNotIn("uninitialized", done.stderr)
        self.assertIn("0 errors, 1 warning", done.stderr)

    def test_a_program_without_cuda_can_be_an_error(self):
        self.assertEqual(self.exec("--require-cuda-init", "yes", "true").returncode, 1)
        self.assertEqual(self.exec("--require-cuda-init", "no", "true").returncode, 0)

    def test_findings_that_could_not_be_written_are_an_error(self):
        # A limit of the size of files stands for a full disk.
        limited = ("import os, resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
                   "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2); os.execv(sys.argv[2], sys.argv[2:])")
        for size in ("0", "150"):
            with self.subTest(size):
                done, report = self.report("/usr/bin/python3", "-c", limited, size, CLIENTS / "faulty", "3")
                self.assertEqual((report["lost"], done.returncode), (1, 1), done.stderr)
                self.assertIn("1 process could not write all findings", done.stderr)
                self.assertNotIn("no process used", done.stderr)

    def test_a_report_that_cannot_be_written_is_an_error(self):
        done = self.exec("--json", "/nowhere/report.json", "--", CLIENTS / "memory")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/nowhere/report.json", done.stderr)


if __name__ == "__main__":
    unittest.main()
