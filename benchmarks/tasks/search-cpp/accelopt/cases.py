# SPDX-License-Identifier: Apache-2.0
"""This many values, and a third as many wanted: far apart, or close together."""
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    most = 10**9 if workload == "apart" else 2 * size + 1
    values = [str(random.randrange(most)) for _ in range(size)]
    wanted = [random.choice(values) if values and random.random() < 0.5 else str(random.randrange(most)) for _ in range(size // 3 + 1)]
    return " ".join(values) + "|" + " ".join(wanted)


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
