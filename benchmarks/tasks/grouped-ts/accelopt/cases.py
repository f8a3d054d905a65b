# SPDX-License-Identifier: Apache-2.0
"""This many entries, with a key for every third of them, or for every twentieth."""
import json
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    keys = max(1, size // (3 if workload == "many" else 20))
    return json.dumps([{"key": "k%d" % random.randrange(keys), "value": random.randrange(-9, 10)} for _ in range(size)])


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
