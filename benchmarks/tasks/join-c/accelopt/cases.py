# SPDX-License-Identifier: Apache-2.0
"""Lines of this many words: short ones, or of many lengths."""
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    most = 9 if workload == "short" else 30
    return " ".join("w" * random.randrange(1, most) for _ in range(size))


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
