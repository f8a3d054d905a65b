# SPDX-License-Identifier: Apache-2.0
"""Readings of this many values, a line: all there, or with gaps now and then."""
import json
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    values = ["%d" % random.randrange(10**6) for _ in range(size)]
    if workload == "gaps":
        values = ["NaN" if random.random() < 0.2 else value for value in values]
    return " ".join(values)


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
