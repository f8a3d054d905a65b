# SPDX-License-Identifier: Apache-2.0
"""Changes of this many days: payments alone, or with what is paid back now and then."""
import json
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    changes = [random.randrange(100) for _ in range(size)]
    if workload == "refunds":
        changes = [-change if random.random() < 0.3 else change for change in changes]
    return json.dumps([changes, 40 * size if workload == "payments" else 10 * size])


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
