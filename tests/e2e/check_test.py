#!/usr/bin/env python3
"""`baton check`: what is known of programs and images before anything runs, and what `run` makes of
launch attributes and edges."""

import json

from baton import ROOT, Case, buffer, kernel, launch, main, program

TESTDATA = ROOT / "src" / "session" / "testdata"
IMAGES = ROOT / "src" / "image" / "testdata"
METADATA = ROOT / "tests" / "golden" / "metadata"

PROGRAM = """\
name = "edges"
[symbols]
C = 2
G = 8
[buffers.x]
dtype = "i32"
shape = [256]
role = "inout"
init = "zeros"
[buffers.rank]
dtype = "u32"
shape = [8]
role = "output"
[buffers.size]
dtype = "u32"
shape = [8]
role = "output"
[kernels.after]
ptx = "attributes.ptx"
entry = "after"
[kernels.hasty]
ptx = "attributes.ptx"
entry = "hasty"
[kernels.clusters]
ptx = "attributes.ptx"
entry = "clusters"
[kernels.clusters.launch]
cluster = ["C"]
cooperative = true
[[steps]]
launch = "clusters"
grid = ["G"]
block = [32]
args = ["rank", "size"]
[[steps]]
launch = "after"
grid = [8]
block = [32]
args = ["x", 256]
pdl = "on"
"""


# Reads early what the launch before writes; `read` says what it reads early.
EARLY = """\
[buffers.x]
dtype = "i32"
shape = [4]
role = "input"
init = "zeros"
[buffers.w]
dtype = "i32"
shape = [4]
role = "weight"
init = "ones"
[buffers.y]
dtype = "i32"
shape = [4]
role = "scratch"
[buffers.z]
dtype = "i32"
shape = [4]
role = "output"
[kernels.late]
ptx = "edges.ptx"
entry = "late"
[kernels.ahead]
ptx = "edges.ptx"
entry = "ahead"
[[steps]]
launch = "late"
grid = [1]
block = [4]
args = ["x", "y"]
[[steps]]
launch = "ahead"
grid = [1]
block = [4]
args = ["READ", "y", "z"]
pdl = "MODE"
"""


class Edges(Case):
    def setUp(self):
        super().setUp()
        self.write("edges.ptx", (TESTDATA / "edges.ptx").read_text())

    def program(self, read, mode, first="late"):
        self.write("p.toml", EARLY.replace("READ", read).replace("MODE", mode).replace("late", first))

    def test_reports_for_other_tools(self):
        self.program("y", "force")
        for command in ("check", "run"):
            with self.subTest(command):
                result = self.baton(command, "p.toml", "--sarif", "r.sarif", "--junit", "r.xml")
                self.assertEqual(result.status, 1, result)
                (run,) = json.loads((self.folder / "r.sarif").read_text())["runs"]
                errors = [r for r in run["results"] if r["level"] == "error"]
                self.assertIn("conflict", {r["ruleId"] for r in errors})
                place = errors[-1]["locations"][0]["physicalLocation"]
                self.assertEqual(place["artifactLocation"]["uri"], "p.toml")
                self.assertEqual(run["invocations"][0]["exitCode"], 1)
                self.assertIn("<failure type=\"conflict\"", (self.folder / "r.xml").read_text())
        # Written whatever the command ends with.
        self.assertEqual(self.baton("check", "q.toml", "--sarif", "r.sarif").status, 2)
        (run,) = json.loads((self.folder / "r.sarif").read_text())["runs"]
        self.assertFalse(run["invocations"][0]["executionSuccessful"])

    def edge(self, command, status, *options, **environment):
        result = self.baton(command, "p.toml", "--json", *options, **environment)
        self.assertEqual(result.status, status, result)
        (edge,) = result.json()["edges"]
        return edge["verdict"], edge["decision"], edge["decision_reason"]

    def test_a_weight_may_be_read_early(self):
        self.program("w", "auto")
        for command in ("check", "run"):
            self.assertEqual(self.edge(command, 0), ("proven", "programmatic", "it is proven"))
            self.assertEqual(self.edge(command, 0, "--pdl", "off"),
                             ("proven", "full", "the option pdl says off"))
            self.assertEqual(self.edge(command, 0, BATON_PDL="off"),
                             ("proven", "full", "BATON_PDL=off"))
        self.check(self.baton("check", "p.toml"), 0)

    def test_an_unsafe_edge_is_status_1_of_a_check_and_full_in_a_run(self):
        self.program("y", "auto")
        witness = ("ahead reads y at edges.cu:24, before it has waited, while "
                   "late (launch 0) writes it at edges.cu:19")
        self.check(self.baton("check", "p.toml"), 1, "p.toml:30", "is unsafe", witness)
        json = self.baton("check", "p.toml", "--json").json()
        self.assertEqual(json["edges"][0]["reason"], witness)
        self.assertIn(witness, json["error"]["what"])
        self.assertEqual(self.edge("run", 0), ("unsafe", "full", "it is not proven"))
        log = self.baton("run", "p.toml", BATON_LOG="info").err
        self.assertIn(f"edge 0 -> 1 is unsafe: {witness}; it is full: it is not proven", log)

    def test_the_users_word(self):
        self.program("y", "off")
        self.assertEqual(self.edge("check", 0), ("unsafe", "full", "the program says off"))
        self.program("y", "on")
        for command in ("check", "run"):
            self.check(self.baton(command, "p.toml"), 1, 'pdl = "on", but ahead reads y', "p.toml:")
        self.program("y", "force")
        self.assertEqual(self.edge("check", 1), ("unsafe", "programmatic", "the program says force"))

    def test_parts_of_the_sms(self):
        def with_sms(*sms):
            return program(buffer("x", "i32", [4], "input", "arange"), buffer("y", "i32", [4], "output"),
                           kernel("late", ptx="edges.ptx"),
                           *(launch("late", [1], [4], [a, b], sms=count)
                             for a, b, count in zip("xy", "yy", sms)), S=8)
        self.write("p.toml", with_sms("S", 16))
        result = self.baton("check", "p.toml", "--json")
        if result.status == 3:
            self.skipTest(result.first_error)
        report = result.json()
        self.assertEqual([(part["asked"], part["launches"]) for part in report["parts"]], [(8, [0]), (16, [1])])
        self.assertEqual([step["sms"] for step in report["steps"]], [part["given"] for part in report["parts"]])
        self.assertEqual(report["edges"][0]["decision_cause"], "other_part")
        self.assertRegex(self.baton("check", "p.toml").out, r"part +SMs +asked +launches\n +0 +8 +8 +0\n")
        for executor in ("stream", "graph"):
            run = self.baton("run", "p.toml", "--executor", executor, "--json").json()
            self.assertEqual(run["parts"], report["parts"])
            self.assertEqual(run["status"], "ok")
        self.check(self.baton("run", "p.toml", "--set", "S=4096"), 2, "p.toml:", "4112 SMs", "ask for fewer")
        self.write("p.toml", with_sms(8, 8))
        report = self.baton("run", "p.toml", "--json").json()
        self.assertEqual([part["launches"] for part in report["parts"]], [[0, 1]])

    def test_behind_a_launch_without_a_trigger_there_is_no_room_to_count(self):
        self.program("w", 'auto"\nplacement = "even')
        json = self.baton("check", "p.toml", "--json").json()
        self.assertEqual(json["edges"][0]["decision"], "programmatic")
        self.assertIsNone(json["edges"][0]["room"])
        text = "launch 0 never triggers, so its blocks have ended when this one starts"
        self.assertEqual((json["steps"][1]["padding"], json["steps"][1]["placement"]), (0, text))
        table = self.baton("check", "p.toml").out
        self.assertIn(text, table)
        self.assertRegex(table, "0 -> 1 +- +- +- +no block is left: the launch before never triggers")

    def test_room_for_early_blocks(self):
        self.program("w", "auto", "hands_over")
        json = self.baton("check", "p.toml", "--json").json()
        room = {"held": 1, "beside": 31, "share": 1, "limit": "places for blocks"}
        self.assertEqual(json["edges"][0]["room"], room)
        self.assertEqual((json["steps"][1]["padding"], json["steps"][1]["placement"]), (0, None))
        self.assertIn("places for blocks", self.baton("check", "p.toml").out)
        full = self.baton("check", "p.toml", "--pdl", "off", "--json").json()
        self.assertIsNone(full["edges"][0]["room"])

        self.program("w", 'auto"\nplacement = "even', "hands_over")
        json = self.baton("check", "p.toml", "--json").json()
        self.assertEqual(json["edges"][0]["room"], room | {"beside": 1, "limit": "shared memory"})
        padded = json["steps"][1]
        self.assertGreater(padded["padding"], 0)
        self.assertEqual(padded["padding"], padded["shared"])
        text = "no more than its share of 1 fits beside 0 or 1 of launch 0"
        self.assertEqual(padded["placement"], text)
        self.assertIn(text, self.baton("check", "p.toml").out)
        self.assertEqual(self.baton("run", "p.toml", "--json").json()["steps"][1]["shared"], padded["shared"])
        full = self.baton("check", "p.toml", "--pdl", "off", "--json").json()
        self.assertEqual((full["steps"][1]["shared"], full["steps"][1]["placement"]), (0, "it does not start early"))


class Check(Case):
    def setUp(self):
        super().setUp()
        self.write("attributes.ptx", (TESTDATA / "attributes.ptx").read_text())
        self.write("p.toml", PROGRAM)

    def test_a_program_that_would_run(self):
        json = self.baton("check", "p.toml", "--json").json()
        self.assertEqual([json["version"], json["command"], json["program"]], [1, "check", "edges"])
        first, second = json["steps"]
        self.assertEqual(first["attributes"], {"cooperative": True, "cluster": [2, 1, 1]})
        self.assertEqual(first["grid"], [8, 1, 1])
        self.assertEqual(first["headroom"]["threads"], first["limits"]["max_threads"] - 32)
        self.assertEqual(first["headroom"]["cooperative_blocks"],
                         first["limits"]["max_cooperative_blocks"] - 8)
        self.assertEqual(second["attributes"], {"pdl": True})
        advice = json["edges"][0].pop("advice")
        self.assertEqual([each["text"] for each in advice], [
            "clusters moves 64 B, which takes memory less than 1 ns: fuse clusters and after",
            "clusters never triggers: give it a trigger behind its loads (rewrite \"loads\")"])
        self.assertGreater(advice[0]["seconds"], advice[1]["seconds"])
        self.assertEqual(json["edges"], [{
            "from": 0, "to": 1, "verdict": "proven", "cause": "holds",
            "reason": "after waits before it touches what an earlier launch touches",
            "decision": "programmatic", "decision_cause": "asked",
            "decision_reason": "the program says on", "room": None}])
        # A run does what the check says.
        run = self.baton("run", "p.toml", "--json").json()
        self.assertEqual(run["edges"], json["edges"])
        self.assertEqual([step["attributes"] for step in run["steps"]],
                         [step["attributes"] for step in json["steps"]])
        table = self.baton("run", "p.toml").out
        self.assertIn("cooperative, cluster 2", table)
        self.assertIn("pdl", table)

    def test_what_may_save_most_comes_first(self):
        steps = PROGRAM[PROGRAM.index("[[steps]]"):]
        self.write("many.toml", PROGRAM + 5 * steps)
        rows = [len(self.baton("check", "many.toml", *more).out.partition("may save")[2]
                    .partition("forecasts for a run")[0].strip().splitlines()) - 1 for more in ((), ("--verbose",))]
        json = self.baton("check", "many.toml", "--json").json()
        self.assertEqual(rows, [8, sum(len(edge["advice"]) for edge in json["edges"])])
        self.assertGreater(rows[1], 8)

    def test_symbols_and_the_device_decide(self):
        self.check(self.baton("check", "p.toml"), 0)
        self.check(self.baton("check", "p.toml", "--set", "C=4"), 0)
        self.check(self.baton("check", "p.toml", "--set", "C=3"), 2, "not divisible", "p.toml:")
        self.check(self.baton("check", "p.toml", "--set", "C=0"), 2, "cluster.x is 0")
        self.check(self.baton("check", "p.toml", "--set", "c=4"), 2, '"c"')
        for command in ("check", "run"):
            self.check(self.baton(command, "p.toml", "--set", "G=1000000"), 2,
                       "the largest grid that fits")
        self.check(self.baton("check", "p.toml", "--device", "sim:nowhere"), 2, "sim:nowhere")

    def test_nothing_runs_and_no_contents_are_needed(self):
        self.write("p.toml", PROGRAM.replace('init = "zeros"\n', ""))
        self.check(self.baton("run", "p.toml"), 2, "nothing initialises the buffer x")
        self.check(self.baton("check", "p.toml"), 0)

    def test_what_overrides_an_edge(self):
        def decisions(*options, **environment):
            result = self.baton("check", "p.toml", "--json", *options, **environment)
            return [edge["decision"] for edge in result.json()["edges"]]
        self.assertEqual(decisions("--pdl", "off"), ["programmatic"], "the step insists")
        self.assertEqual(decisions(BATON_PDL="off"), ["full"])
        self.write("p.toml", PROGRAM.replace('pdl = "on"', ""))
        self.assertEqual(decisions(), ["programmatic"], "it is proven")
        self.assertEqual(decisions("--pdl", "off"), ["full"])
        self.assertEqual(decisions("--pdl", "on"), ["programmatic"])
        self.assertEqual(decisions("--pdl", "on", BATON_PDL="off"), ["full"])
        self.check(self.baton("check", "p.toml", BATON_PDL="nope"), 2, "BATON_PDL", "nope")

    def test_on_is_refused_where_it_cannot_be(self):
        self.write("p.toml", PROGRAM.replace('launch = "after"', 'launch = "hasty"'))
        for command in ("check", "run"):
            self.check(self.baton(command, "p.toml"), 2, "hasty never waits", "p.toml:")
        self.write("p.toml", PROGRAM.replace('launch = "after"', 'launch = "hasty"').replace('"on"', '"force"'))
        self.check(self.baton("check", "p.toml"), 0)
        # The simulated GPU finds what is wrong with it.
        self.check(self.baton("run", "p.toml", BATON_DEVICE="sim"), 1)

    def test_an_image(self):
        json = self.baton("check", "attributes.ptx", "--device", "sim:h200", "--json").json()
        self.assertEqual(json["images"][0]["runs"], "compiles")
        kernels = {kernel["name"]: kernel for kernel in json["kernels"]}
        self.assertEqual(set(kernels), {"after", "hasty", "clusters"})
        limits = kernels["after"]["limits"]
        self.assertEqual((limits["max_threads"], limits["block"]), (1024, [256, 1, 1]))
        self.assertGreaterEqual(limits["max_cooperative_blocks"], 132)
        self.assertGreaterEqual(limits["max_cluster"], 8)
        self.assertTrue(kernels["after"]["waits"])
        text = self.baton("check", "attributes.ptx").out
        self.assertIn("hasty", text)

    def test_registers_of_ptx_come_from_an_assembler_or_are_marked(self):
        image = ROOT / "tests" / "golden" / "kernels.ptx"
        if self.baton("doctor", "--json").json()["parts"][3]["found"]:
            limits = self.baton("check", image, "--device", "sim", "--json").json()["kernels"][0]["limits"]
            self.assertFalse(limits["registers_estimated"])
            self.assertNotIn("~", self.baton("check", image, "--device", "sim").out)
        for file in (image, ROOT / "tests" / "golden" / "program.toml"):
            result = self.baton("check", file, "--device", "sim", BATON_NVJITLINK="/nonexistent")
            self.check(result, 0)
            self.assertRegex(result.out, r" ~\d+ ")
            self.assertIn("~ an estimate of the simulated GPU", result.out)
            result = self.baton("check", file, "--device", "sim", "--json", BATON_NVJITLINK="/nonexistent").json()
            first = (result["steps"] if "steps" in result else result["kernels"])[0]
            self.assertTrue(first["limits"]["registers_estimated"])

    def test_registers_of_compiled_source_are_the_assemblers(self):
        self.write("k.cu", "extern \"C\" __global__ void k(float* y) { y[0] = 1; }")
        self.write("p.toml", program(buffer("y", "f32", [1], "output"), kernel("k", source="k.cu"),
                                     launch("k", [1], [1], ["y"])))
        limits = self.baton("check", "p.toml", "--device", "sim", "--json").json()["steps"][0]["limits"]
        self.assertFalse(limits["registers_estimated"])

    def test_an_image_that_the_device_does_not_take(self):
        result = self.baton("check", IMAGES / "vectors_sm_80.cubin", "--device", "sim", "--json")
        self.assertEqual(result.status, 2, result)
        json = result.json()
        self.assertEqual(json["images"][0]["runs"], "no")
        self.assertTrue(json["images"][0]["reason"])
        self.assertTrue(json["kernels"])
        result = self.baton("check", IMAGES / "vectors_sm_90.cubin", "--device", "sim")
        self.assertIn("cubin for sm_90, no: the image is a cubin: it holds machine code only", result.out)
        # Of a fatbin it takes the PTX, whatever machine code lies beside that.
        image = self.baton("check", IMAGES / "packed_none.fatbin", "--device", "sim", "--json").json()["images"][0]
        self.assertEqual((image["runs"], image["reason"]), ("compiles", "PTX for sm_90 compiles for sm_90"))

    def test_metadata(self):
        sidecar = METADATA / "tvm_0_27.tvm_meta.json"
        result = self.baton("check", sidecar, "--json")
        self.check(result, 0)
        functions = result.json()["metadata"][0]["functions"]
        self.assertTrue(functions)
        for function in functions:
            self.assertTrue(function["symbol"])
        self.assertIn("has no image", self.baton("check", sidecar).out)
        for name in ("version_1.json", "version_1.bin"):
            with self.subTest(name):
                result = self.baton("check", METADATA / name, "--json")
                self.check(result, 2, "function native", "no such kernel", name)  # its image is empty
                self.assertTrue(result.json()["metadata"][0]["functions"])
        # A library brings the image: its kernels and how they are called, held against each other.
        result = self.baton("check", METADATA / "tvm_0_27_ptx.so", "--json")
        self.check(result, 0)
        json = result.json()
        called = {f["symbol"]: f for module in json["metadata"] for f in module["functions"]}
        kernels = {kernel["name"]: kernel for kernel in json["kernels"]}
        self.assertTrue(set(called) <= set(kernels))
        for symbol, function in called.items():
            self.assertEqual(len(function["params"]), len(kernels[symbol]["params"]))

    def test_a_sidecar_is_held_against_its_image(self):
        self.write("k.ptx", (TESTDATA / "attributes.ptx").read_text())

        def sidecar(symbol, types, tags=("blockIdx.x", "threadIdx.x")):
            function = {"name": symbol, "arg_types": types, "launch_param_tags": list(tags)}
            self.write("k.tvm_meta.json", json.dumps({"tvm_version": "0.21.0", "func_info": {symbol: function}}))
            return self.baton("check", "k.ptx")
        right = sidecar("after", ["handle", "int32"])
        self.check(right, 0)
        self.assertIn("launch metadata: TVM sidecar JSON", right.out)
        self.assertIn("handle, int32", right.out)
        self.check(sidecar("before", ["handle", "int32"]), 2, "before", "after", "k.ptx")
        self.check(sidecar("after", ["handle"]), 2, "function after", "1 parameters", "2")
        self.check(sidecar("after", ["handle", "int64"]), 2, "parameter 1", "int64 of 8 bytes", "4 bytes")
        hasty = sidecar("hasty", ["handle", "int32"], ["blockIdx.x", "tir.use_programtic_dependent_launch"])
        self.check(hasty, 0)
        self.assertIn("never waits", hasty.err)
        self.write("k.tvm_meta.json", "{")
        self.check(self.baton("check", "k.ptx"), 2, "k.tvm_meta.json")
        self.check(self.baton("check", "k.tvm_meta.json"), 2, "k.tvm_meta.json")

    def test_what_is_neither(self):
        self.check(self.baton("check", "nothing"), 2, "nothing")
        self.write("noise", bytes(range(256)))
        self.check(self.baton("check", "noise"), 2, "noise")
        self.write("words", "these are words")
        self.check(self.baton("check", "words"), 2, "words")
        self.check(self.baton("check"), 2, "baton check PROGRAM|IMAGE")



class NextStep(Case):
    def test_the_last_line_says_what_to_do(self):
        chain = program(buffer("x", "f32", ["N"], "inout", "ones"),
                        kernel("k", text="extern \"C\" __global__ void k(float* x) {"
                                         " x[threadIdx.x] += 1; }"),
                        launch("k", [1], [32], ["x"]), launch("k", [1], [32], ["x"]), N=32)
        self.write("p.toml", chain)
        result = self.baton("check", "p.toml")
        self.check(result, 0)
        self.assertEqual(result.out.splitlines()[-1],
                         "next: 1 edge is full; --rewrite wait makes it programmatic")
        done = self.baton("check", "p.toml", "--rewrite", "wait", "--json")
        self.check(done, 0)
        self.assertEqual(done.json()["next"], "baton run p.toml --rewrite wait")
        # The run is that which was checked.
        options = ("--device", "sim:h100", "--set", "N=64", "--pdl", "off")
        self.assertEqual(self.baton("check", "p.toml", *options, "--json").json()["next"],
                         "baton run p.toml --device sim:h100 --set N=64 --pdl off")


if __name__ == "__main__":
    main()
