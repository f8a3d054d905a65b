# SPDX-License-Identifier: Apache-2.0
"""This many jobs for a quarter as many workers: of like lengths, or some of no length."""
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    least = 1 if workload == "alike" else 0
    most = 1000 if workload == "alike" else 3
    return " ".join([str(size // 4), *(str(random.randrange(least, most)) for _ in range(size))])


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
