# SPDX-License-Identifier: Apache-2.0
import unittest

from visits.log import first_visits


class FirstVisits(unittest.TestCase):
    def test_order_is_that_of_the_log(self):
        self.assertEqual(first_visits([("b", "/"), ("a", "/"), ("b", "/x")]), (["b", "a"], 1))

    def test_no_visits(self):
        self.assertEqual(first_visits([]), ([], 0))


if __name__ == "__main__":
    unittest.main()
