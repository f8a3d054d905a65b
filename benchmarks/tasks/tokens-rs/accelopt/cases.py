# SPDX-License-Identifier: Apache-2.0
"""Lines of this many tokens: short runs, or long ones."""
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    most = 4 if workload == "short" else 2
    return " ".join("abcd"[random.randrange(most)] * 3 for _ in range(size))


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
