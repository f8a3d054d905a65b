# SPDX-License-Identifier: Apache-2.0
"""Grids of this width, described by a line: as high, or half as high."""
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    height = size if workload == "square" else size // 2
    return "%d %d %d %d" % (size, height, random.getrandbits(32), 8)


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
