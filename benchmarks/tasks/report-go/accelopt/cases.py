# SPDX-License-Identifier: Apache-2.0
"""Names of this many words, a line: all of them there, or with empty ones between."""
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    gap = "  " if workload == "gaps" else " "
    return gap.join("name%d" % random.randrange(10**6) for _ in range(size))


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
