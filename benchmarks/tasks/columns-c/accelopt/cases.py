# SPDX-License-Identifier: Apache-2.0
"""Tables of so many columns, described by a line: as many rows, or a third of them."""
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    rows = size if workload == "square" else size // 3
    return "%d %d %d %d" % (rows, size, random.getrandbits(32), 12)


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
