# SPDX-License-Identifier: Apache-2.0
"""So many bytes, described by a line: even, or odd."""
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    return "%d %d" % (2 * (size // 2) + (workload == "odd" and size > 0), random.getrandbits(32))


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
