# SPDX-License-Identifier: Apache-2.0
"""Writes networks of this size: random ones, or trees. Some ask for a station that is not there."""
import json
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
size = int(size)
random.seed(int(seed))


def name():
    return "station %x" % random.getrandbits(64)


cases = []
for _ in range(int(count)):
    names = [name() for _ in range(size)]
    network = {station: [] for station in names}
    for place, station in enumerate(names):
        if workload == "tree":
            if place > 0:
                network[random.choice(names[max(0, place - 8):place])].append(station)
        else:
            network[station] = random.choices(names, k=3)
    if names and random.random() < 0.1 and size < 20:
        network[random.choice(names)].append(name())
    cases.append([network, names[0] if names else name()])
with open(out, "w") as file:
    json.dump(cases, file)
