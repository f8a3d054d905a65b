# SPDX-License-Identifier: Apache-2.0
import unittest

from rules import first_rules

RULES = [{"name": "both", "needs": ["a", "b"]}, {"name": "one", "needs": ["a"]}]


class FirstRules(unittest.TestCase):
    def test_the_first_one_counts(self):
        self.assertEqual(first_rules(RULES, [["b", "a"], ["a"], ["c"]]), ["both", "one", None])

    def test_no_rules(self):
        self.assertEqual(first_rules([], [["a"]]), [None])


if __name__ == "__main__":
    unittest.main()
