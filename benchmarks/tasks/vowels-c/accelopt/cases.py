# SPDX-License-Identifier: Apache-2.0
"""Texts of this many letters, a line: of all letters, or of few."""
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def case():
    letters = "abcdefghijklmnopqrstuvwxyz ABC.,;" if workload == "text" else "aeb"
    return "".join(random.choice(letters) for _ in range(size))


with open(out, "w") as file:
    for _ in range(int(count)):
        print(case(), file=file)
