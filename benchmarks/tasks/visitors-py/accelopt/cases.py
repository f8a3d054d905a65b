# SPDX-License-Identifier: Apache-2.0
"""Logs of this many visits: of visitors who come once, or who come back."""
import json
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    most = 10**9 if workload == "once" else 2 + size // 2
    return json.dumps([[["visitor %d" % random.randrange(most), "/%d" % random.randrange(99)] for _ in range(size)]])


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
