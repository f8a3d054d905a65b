# SPDX-License-Identifier: Apache-2.0
"""Readings, this many: all but all of them different, or of few that repeat."""
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    most = 10**9 if workload == "many" else 20
    return " ".join(str(random.randrange(-most, most)) for _ in range(size))


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
