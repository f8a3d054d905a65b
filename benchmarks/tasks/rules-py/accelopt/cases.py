# SPDX-License-Identifier: Apache-2.0
"""This many rules and requests: to which early rules apply, or often none."""
import json
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    parts = ["part %d" % place for place in range(8 if workload == "early" else 30)]
    rules = [{"name": "rule %d" % place, "needs": random.sample(parts, 2)} for place in range(size)]
    return json.dumps([rules, [random.sample(parts, 5) for _ in range(size)]])


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
