# SPDX-License-Identifier: Apache-2.0
"""Scores, this many: all but all of them different, or of few that repeat."""
import json
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    most = 10**9 if workload == "many" else 50
    return json.dumps([[random.randrange(most) for _ in range(size)]])


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
