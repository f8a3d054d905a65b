# SPDX-License-Identifier: Apache-2.0
"""Lines of this many words: they repeat early, or hardly ever."""
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    most = 2 * size + 2 if workload == "early" else 10**9
    return " ".join("%09x" % random.randrange(most) for _ in range(size))


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
