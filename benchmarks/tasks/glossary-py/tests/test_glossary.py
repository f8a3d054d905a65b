# SPDX-License-Identifier: Apache-2.0
import unittest

from glossary import terms_used


class TermsUsed(unittest.TestCase):
    def test_whole_words_count(self):
        self.assertEqual(terms_used(["a heap, and heaps"], ["heaps", "hea", "heap"]), [["heaps", "heap"]])

    def test_terms_may_have_several_words(self):
        self.assertEqual(terms_used(["a hash table!"], ["hash table", "table top"]), [["hash table"]])

    def test_no_texts(self):
        self.assertEqual(terms_used([], ["a"]), [])


if __name__ == "__main__":
    unittest.main()
