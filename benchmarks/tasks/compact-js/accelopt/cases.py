# SPDX-License-Identifier: Apache-2.0
"""A JSON text with this many entries: flat, or nested."""
import json
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def value(depth):
    if depth == 0 or random.random() < 0.3:
        return random.choice([random.randrange(10**6), random.random(), "\u00e9 " * random.randrange(6), None, True])
    return {"key %d" % place: value(depth - 1) for place in range(2)}


def case():
    depth = 1 if workload == "flat" else 4
    return json.dumps([json.dumps([value(depth) for _ in range(size)], indent=1)])


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
