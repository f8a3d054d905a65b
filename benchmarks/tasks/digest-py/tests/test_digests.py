# SPDX-License-Identifier: Apache-2.0
import hashlib
import unittest

from digests import chain


class Chain(unittest.TestCase):
    def test_no_links(self):
        self.assertEqual(chain("a", 0), hashlib.sha256(b"a").hexdigest())

    def test_a_link_covers_the_one_before(self):
        self.assertEqual(chain("a", 1), hashlib.sha256(hashlib.sha256(b"a").digest() * 128).hexdigest())


if __name__ == "__main__":
    unittest.main()
