#!/usr/bin/env python3
"""`baton check` of several files and of folders: one table, one JSON object, one report."""

import json
import shutil
import xml.etree.ElementTree

from baton import ROOT, Case, main

GOLDEN = ROOT / "tests" / "golden"
IMAGES = ROOT / "src" / "image" / "testdata"


class CheckFiles(Case):
    def setUp(self):
        super().setUp()
        self.kernels = self.folder / "kernels"
        (self.kernels / "cache" / "hash").mkdir(parents=True)
        for name in ["program.toml", "kernels.cu", "kernels.ptx"]:
            shutil.copy(GOLDEN / name, self.kernels)
        shutil.copy(GOLDEN / "kernels.ptx", self.kernels / "cache" / "hash" / "scale.ptx")
        (self.kernels / "pyproject.toml").write_text("[project]\nname = \"x\"\n")

    def object_of(self, *arguments, status=0):
        result = self.baton(*arguments, "--json")
        self.assertEqual(result.status, status, result)
        return result.json()

    def test_a_folder_gives_one_object_with_each_file(self):
        result = self.object_of("check", self.kernels, "--device", "sim")
        files = [part["file"].rsplit("/", 1)[1] for part in result["files"]]
        self.assertEqual(files, ["scale.ptx", "kernels.ptx", "program.toml"])
        self.assertEqual([part["status"] for part in result["files"]], ["ok", "ok", "ok"])
        self.assertEqual(result["summary"]["files"], 3)
        self.assertEqual(result["summary"]["kernels"], 4)
        self.assertEqual(result["summary"]["launches"], len(result["files"][2]["steps"]))
        self.assertEqual(result["status"], "ok")

    def test_the_object_of_a_file_is_that_of_the_file_alone(self):
        ptx = self.kernels / "cache" / "hash" / "scale.ptx"
        alone = self.object_of("check", ptx, "--device", "sim")
        several = self.object_of("check", ptx, self.kernels / "program.toml", "--device", "sim")
        for key in ["file", "images", "kernels", "status"]:
            self.assertEqual(several["files"][0][key], alone[key])
        self.assertNotIn("files", alone)

    def test_what_a_folder_has_beside_code_is_skipped_and_what_is_named_is_not(self):
        library, cubin = self.kernels / "empty.so", self.kernels / "debug_full.cubin"
        shutil.copy("/bin/true", library)
        shutil.copy(IMAGES / "debug_full.cubin", cubin)
        result = self.object_of("check", self.kernels, "--device", "sim")
        skipped = {part["file"]: part["skipped"] for part in result["files"] if part["status"] == "skipped"}
        self.assertEqual(set(skipped), {str(library), str(cubin)})
        self.assertIn("no GPU code", skipped[str(library)])
        self.assertIn("cubin", skipped[str(cubin)])
        named = self.object_of("check", library, cubin, "--device", "sim", status=2)
        self.assertEqual([part["status"] for part in named["files"]], ["failed", "failed"])
        self.assertIn("2 of 2 files fail", named["error"]["what"])

    def test_a_file_that_fails_does_not_hide_the_others(self):
        (self.kernels / "a.toml").write_text("[[steps]]\nlaunch = \"none\"\n")
        run = self.baton("check", self.kernels, "--device", "sim")
        self.assertEqual(run.status, 2)
        self.assertIn("1 of 4 files fail", run.err)
        for name in ["a.toml", "kernels.ptx", "program.toml"]:
            self.assertIn(name, run.out)

    def test_reports_have_a_case_for_each_file(self):
        junit, sarif = self.folder / "r.xml", self.folder / "r.sarif"
        (self.kernels / "b.ptx").write_text("nothing")
        self.baton("check", self.kernels, "--device", "sim", "--junit", junit, "--sarif", sarif)
        cases = xml.etree.ElementTree.parse(junit).getroot().findall(".//testcase")
        names = " ".join(case.get("classname") for case in cases)
        for name in ["b.ptx", "kernels.ptx", "program.toml"]:
            self.assertIn(name, names)
        results = json.loads(sarif.read_text())["runs"][0]["results"]
        errors = [row for row in results if row["level"] == "error"]
        self.assertEqual(len(errors), 1)
        place = errors[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        self.assertTrue(place.endswith("b.ptx"), place)

    def test_names_that_do_not_exist_are_told_before_anything_is_checked(self):
        run = self.baton("check", self.kernels, self.folder / "none.ptx", "--device", "sim")
        self.assertEqual(run.status, 2)
        self.assertIn("none.ptx does not exist", run.err)
        self.assertEqual(run.out, "")
        empty = self.folder / "empty"
        empty.mkdir()
        run = self.baton("check", empty, "--device", "sim")
        self.assertEqual(run.status, 2)
        self.assertIn("has no .ptx", run.err)


if __name__ == "__main__":
    main()
