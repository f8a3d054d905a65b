# SPDX-License-Identifier: Apache-2.0
"""Chains of this many links, of short texts or long ones."""
import json
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    text = "%x" % random.getrandbits(64)
    return json.dumps([text if workload == "short" else text * 50, size])


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
