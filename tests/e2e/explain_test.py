#!/usr/bin/env python3
"""baton explain: every code that messages and JSON use."""

import unittest

from baton import Case, main


class Explain(Case):
    def test_codes(self):
        for code, part in (("shared_race", "shared memory"), ("conflict", "unsafe"),
                           ("other_edge", "decision"), ("limit", "status 2")):
            result = self.baton("explain", code)
            self.check(result, 0)
            self.assertIn(code, result.out)
            self.assertIn(part, result.out)

    def test_a_code_of_several_tables(self):
        result = self.baton("explain", "no_wait", "--json")
        self.check(result, 0)
        self.assertEqual([row["table"] for row in result.json()["codes"]],
                         ["finding", "cause of a verdict", "decision about an edge"])

    def test_all(self):
        codes = self.baton("explain", "--json").json()["codes"]
        self.assertGreater(len(codes), 60)
        for row in codes:
            self.assertTrue(row["meaning"], row)

    def test_an_unknown_code(self):
        self.check(self.baton("explain", "shared_rase"), 2, 'did you mean "shared_race"')


if __name__ == "__main__":
    main()
