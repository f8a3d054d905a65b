# SPDX-License-Identifier: Apache-2.0
"""Calls the function on every case; writes what it gave, or the kind of error, and its arguments after the call."""
import json
import os
import sys

sys.path.insert(0, os.getcwd())
from routes import graph

results = []
with open(sys.argv[1]) as file:
    cases = json.load(file)
for network, start in cases:
    try:
        results.append({"value": graph.reachable(network, start), "network": network})
    except Exception as error:
        results.append({"error": type(error).__name__, "text": str(error), "network": network})
with open(sys.argv[2], "w") as file:
    json.dump(results, file)
