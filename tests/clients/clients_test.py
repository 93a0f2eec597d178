"""scripts/clients: how it reads lists and reports, and compares them. It downloads nothing."""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "clients"

REPORT = """<testsuites><testsuite>
<testcase classname="tests.test_a" name="test_right"/>
<testcase classname="tests.test_a" name="test_wrong[1-x]"><failure message="assert 1 == 2&#10;more">E</failure></testcase>
<testcase classname="tests.test_a" name="test_wrong[2-x]"><error message="no setup">E</error></testcase>
<testcase classname="tests.test_a" name="test_wrong[2-x]"/>
<testcase classname="tests.test_a" name="test_left"><skipped message="no GPU"/></testcase>
</testsuite></testsuites>"""


def load_script():
    loader = importlib.machinery.SourceFileLoader("clients_script", str(SCRIPT))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[loader.name] = module  # dataclasses look themselves up
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


clients = load_script()


class Clients(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def results(self):
        path = self.folder / "report.xml"
        path.write_text(REPORT, encoding="utf-8")
        return clients.read_results(path)

    def compare(self, expected):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            failed = clients.compare(self.results(), expected)
        return failed, output.getvalue()

    def test_a_test_that_failed_at_any_time_failed(self):
        states = {result.name: result.state for result in self.results()}
        self.assertEqual(states, {
            "tests.test_a::test_right": "passed", "tests.test_a::test_wrong[1-x]": "failed",
            "tests.test_a::test_wrong[2-x]": "failed", "tests.test_a::test_left": "skipped"})

    def test_an_unexpected_failure_is_named(self):
        failed, text = self.compare(["tests.test_a::test_wrong[1-x]"])
        self.assertTrue(failed)
        self.assertIn("unexpected failure: tests.test_a::test_wrong[2-x]: no setup", text)
        self.assertNotIn("test_wrong[1-x]", text)
        self.assertIn("4 tests: 1 passed, 2 failed (1 as expected), 1 skipped", text)

    def test_patterns_and_repaired_tests(self):
        failed, text = self.compare(["tests.test_a::test_wrong*", "tests.test_a::test_right"])
        self.assertFalse(failed)
        self.assertIn("passed, though expected to fail: tests.test_a::test_right", text)

    def test_lists_have_comments(self):
        path = self.folder / "list.txt"
        path.write_text("# a cause\n\na::b  # why\nc::*\n", encoding="utf-8")
        self.assertEqual(clients.read_expected(path), ["a::b", "c::*"])

    def test_what_stands_behind_dashes_is_of_pytest(self):
        self.assertEqual(clients.split_arguments(["cupy", "--sample", "40", "--", "--timeout=300", "-x"]),
                         (["cupy", "--sample", "40"], ["--timeout=300", "-x"]))
        self.assertEqual(clients.split_arguments(["cupy"]), (["cupy"], []))
        result = subprocess.run([sys.executable, SCRIPT, "cupy", "--baton", SCRIPT, "--work", self.folder, "--", "-x"],
                                text=True, capture_output=True)
        self.assertIn("name their project with --tests", result.stderr)

    def test_every_list_is_that_of_a_suite(self):
        suites = clients.read_suites()
        for path in sorted((clients.SUITES / "expected").glob("*.txt")):
            self.assertIn(path.stem, suites)
            self.assertTrue(clients.read_expected(path), path)

    def test_a_missing_project_is_named_before_anything_is_downloaded(self):
        result = subprocess.run([sys.executable, SCRIPT, "cuda_core", "--baton", self.folder / "none",
                                 "--work", self.folder], text=True, capture_output=True)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("build Baton, or name the tool with --baton", result.stderr)
        result = subprocess.run([sys.executable, SCRIPT, "cuda_core", "--baton", SCRIPT, "--work", self.folder],
                                text=True, capture_output=True)
        self.assertIn("name their project with --tests", result.stderr)
        self.assertFalse((self.folder / "venv").exists())


if __name__ == "__main__":
    unittest.main()
