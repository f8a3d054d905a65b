# SPDX-License-Identifier: Apache-2.0
"""This many whole counts and a window: of a quarter of them, or of a tenth."""
import json
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    width = max(1, size // (4 if workload == "wide" else 10))
    return json.dumps([[random.randrange(-1000, 1000) for _ in range(size)], width])


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
