#!/usr/bin/env python3
"""baton explain: every code that messages and JSON use, and docs/codes.md, which lists them.

UPDATE=1 writes the page.
"""

import os

from baton import ROOT, Case, main

PAGE = ROOT / "docs" / "codes.md"
HEAD = """\
# Every code

Messages and JSON name what happened by a code. `baton explain CODE` prints its row. This page is made from the
library's tables by `UPDATE=1 ctest --test-dir build/release -R e2e/explain`.
"""
TITLES = {"finding": "Findings of the simulated GPU", "observation": "Findings on a GPU",
          "cause of a verdict": "Causes of verdicts",
          "decision about an edge": "Decisions about edges", "error": "Errors"}


def page(codes):
    text = HEAD
    for table, title in TITLES.items():
        text += f"\n## {title}\n\n| code | | meaning | page |\n| --- | --- | --- | --- |\n"
        text += "".join("| `{code}` | {detail} | {meaning} | [{page}]({page}) |\n".format(**row)
                        for row in codes if row["table"] == table)
    return text


class Explain(Case):
    def test_codes(self):
        for code, part in (("shared_race", "shared memory"), ("conflict", "unsafe"),
                           ("other_edge", "decision"), ("limit", "status 2")):
            result = self.baton("explain", code)
            self.check(result, 0)
            self.assertIn(code, result.out)
            self.assertIn(part, result.out)

    def test_one_code_is_read_in_lines(self):
        lines = self.baton("explain", "shared_race").out.splitlines()
        self.assertEqual(lines[0], "shared_race: finding, error")
        self.assertRegex(lines[1], "^  two warps of a block")
        self.assertRegex(lines[2], "^  what helps: put __syncthreads")
        self.assertEqual(lines[3], "  read: docs/findings.md")
        self.assertEqual(self.baton("explain", "no_wait").out.count("  what helps: "), 3)

    def test_a_code_of_several_tables(self):
        result = self.baton("explain", "no_wait", "--json")
        self.check(result, 0)
        self.assertEqual([row["table"] for row in result.json()["codes"]],
                         ["finding", "cause of a verdict", "decision about an edge"])

    def test_a_part_of_codes(self):
        codes = {row["code"] for row in self.baton("explain", "race", "--json").json()["codes"]}
        self.assertLessEqual({"shared_race", "host_race", "free_race"}, codes)
        self.check(self.baton("explain", "shared_rase"), 2, "did you mean \"shared_race\"?")

    def test_lists_point_at_single_codes(self):
        for arguments in ([], ["findings"]):
            out = self.baton("explain", *arguments).out
            self.assertTrue(out.endswith("\nbaton explain CODE says what helps, and where to read\n"), out[-200:])
            self.assertNotIn("docs/", out.split("what helps against")[0])

    def test_groups(self):
        every = self.baton("explain", "--json").json()["codes"]
        for group, table in (("findings", "finding"), ("observations", "observation"),
                             ("causes", "cause of a verdict"), ("decisions", "decision about an edge"),
                             ("errors", "error")):
            result = self.baton("explain", group, "--json")
            self.check(result, 0)
            self.assertEqual(result.json()["codes"], [row for row in every if row["table"] == table])
        result = self.baton("explain", "warnings")
        self.check(result, 0)
        for part in ("uninitialized", "--strict", "what helps against uninitialized:"):
            self.assertIn(part, result.out)

    def test_no_code(self):
        self.check(self.baton("explain", ""), 2, "an argument is empty", "baton explain [CODE]")

    def test_all(self):
        codes = self.baton("explain", "--json").json()["codes"]
        self.assertGreater(len(codes), 60)
        for row in codes:
            self.assertTrue(row["meaning"], row)

    def test_the_page_has_them_all(self):
        codes = self.baton("explain", "--json").json()["codes"]
        self.assertEqual({row["table"] for row in codes}, set(TITLES))
        if os.environ.get("UPDATE"):
            PAGE.write_text(page(codes), encoding="utf-8")
        self.assertTrue(PAGE.read_text(encoding="utf-8") == page(codes), "docs/codes.md is old: run this with UPDATE=1")

    def test_an_unknown_code(self):
        self.check(self.baton("explain", "shared_rase"), 2, 'did you mean "shared_race"')


if __name__ == "__main__":
    main()
