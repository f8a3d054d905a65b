# SPDX-License-Identifier: Apache-2.0
"""Rings of so many places, described by a line: long walks, or short ones."""
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    return "%d %d %d" % (size, random.getrandbits(32), size * (30 if workload == "long" else 20))


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
