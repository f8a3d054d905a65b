# SPDX-License-Identifier: Apache-2.0
"""This many jobs and the length of a turn: of like lengths, or of a few long ones."""
import json
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    most = 12 if workload == "alike" else 40
    needs = [random.randrange(most) if workload == "alike" or random.random() < 0.1 else 1 for _ in range(size)]
    return json.dumps([[["job %d" % place, need] for place, need in enumerate(needs)], 3])


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
