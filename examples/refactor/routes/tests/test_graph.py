# SPDX-License-Identifier: Apache-2.0
import unittest

from routes.graph import UnknownStation, reachable

NETWORK = {"a": ["b", "c"], "b": ["d"], "c": ["d", "a"], "d": [], "e": ["a"]}


class Reachable(unittest.TestCase):
    def test_nearest_come_first(self):
        self.assertEqual(reachable(NETWORK, "a"), [("a", 0), ("b", 1), ("c", 1), ("d", 2)])

    def test_a_lonely_station_reaches_itself(self):
        self.assertEqual(reachable(NETWORK, "d"), [("d", 0)])

    def test_a_ring_ends(self):
        self.assertEqual(reachable({1: [2], 2: [1]}, 1), [(1, 0), (2, 1)])

    def test_an_unknown_station_is_told(self):
        with self.assertRaises(UnknownStation):
            reachable(NETWORK, "x")

    def test_the_network_is_left_as_it_is(self):
        network = {1: [2, 3], 2: [], 3: [2]}
        reachable(network, 1)
        self.assertEqual(network, {1: [2, 3], 2: [], 3: [2]})


if __name__ == "__main__":
    unittest.main()
