# SPDX-License-Identifier: Apache-2.0
"""Lines of this many tags: most of them different, or of a hundred that repeat."""
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    most = 10**9 if workload == "many" else 1 + size // 2
    return " ".join("t%d" % random.randrange(most) for _ in range(size))


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
