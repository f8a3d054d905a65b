# Writes the inputs: count cases of this size, a line each, drawn from the seed. It runs on the old code alone.
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
random.seed(int(seed))
with open(out, "w") as file:
    for _ in range(int(count)):
        # TODO: one input of this size on a line; an empty line for size 0
        print(" ".join(str(random.randrange(int(size) + 1)) for _ in range(int(size))), file=file)
