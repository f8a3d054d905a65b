# SPDX-License-Identifier: Apache-2.0
"""Writes texts of this many words, a line each: all but all of them different, or of few that repeat."""
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))
with open(out, "w") as file:
    for _ in range(int(count)):
        most = 2**40 if workload == "random" else 2 + size // 2
        print(" ".join("w%x" % random.randrange(most) for _ in range(size)), file=file)
