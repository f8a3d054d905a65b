# Writes the inputs: {count} cases of this size, drawn from the seed. It runs on the old code alone.
import json
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
random.seed(int(seed))
cases = []
for _ in range(int(count)):
    # TODO: one input of this size as JSON, such as a list of arguments
    cases.append([{arguments}])
with open(out, "w") as file:
    json.dump(cases, file)
