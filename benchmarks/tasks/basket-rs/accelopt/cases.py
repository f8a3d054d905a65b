# SPDX-License-Identifier: Apache-2.0
"""Two baskets of this many items, a line: they share half of them, or few."""
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    most = 1 + 2 * size if workload == "half" else 10**9
    return "|".join(" ".join("item%d" % random.randrange(most) for _ in range(size)) for _ in range(2))


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
