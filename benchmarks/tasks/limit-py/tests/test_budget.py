# SPDX-License-Identifier: Apache-2.0
import unittest

from budget import days_within


class DaysWithin(unittest.TestCase):
    def test_days_count_until_the_limit(self):
        self.assertEqual(days_within([5, 5, 5], 10), 2)

    def test_no_days(self):
        self.assertEqual(days_within([], 10), 0)

    def test_all_days(self):
        self.assertEqual(days_within([1, 1], 10), 2)


if __name__ == "__main__":
    unittest.main()
