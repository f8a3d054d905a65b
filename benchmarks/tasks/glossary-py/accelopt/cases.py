# SPDX-License-Identifier: Apache-2.0
"""Texts and this many terms: of single words, or some of two."""
import json
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def word():
    return "".join(random.choice("abcdefg") for _ in range(random.randrange(2, 5)))


def case():
    terms = [word() + (" " + word() if workload == "pairs" and random.random() < 0.05 else "") for _ in range(size)]
    texts = ["".join(word() + random.choice([" ", ", ", "-", "_", ". "]) for _ in range(40)) for _ in range(size // 60 + 1)]
    return json.dumps([texts, terms])


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
