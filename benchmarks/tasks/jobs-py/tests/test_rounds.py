# SPDX-License-Identifier: Apache-2.0
import unittest

from rounds import finish_order


class FinishOrder(unittest.TestCase):
    def test_the_shorter_job_ends_first(self):
        self.assertEqual(finish_order([("long", 5), ("short", 2)], 2), ["short", "long"])

    def test_no_jobs(self):
        self.assertEqual(finish_order([], 1), [])


if __name__ == "__main__":
    unittest.main()
