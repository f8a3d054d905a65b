# SPDX-License-Identifier: Apache-2.0
"""Logs of this many lines: most of them well, or most of them failures."""
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    share = 0.05 if workload == "well" else 0.8
    return "|".join("%s /%x %d" % (random.choice(["GET", "POST", "PUT"]), random.getrandbits(40),
                                   random.randrange(500, 600) if random.random() < share else 200) for _ in range(size))


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
