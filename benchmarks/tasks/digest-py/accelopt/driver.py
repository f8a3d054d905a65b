# SPDX-License-Identifier: Apache-2.0
"""Calls the function on every case, a line of JSON each; writes what it gave and its arguments after the call."""
import json
import os
import sys

sys.path.insert(0, os.getcwd())
from digests import chain

results = []
with open(sys.argv[1]) as file:
    cases = [json.loads(line) for line in file]
for arguments in cases:
    try:
        results.append({"value": chain(*arguments), "arguments": arguments})
    except Exception as error:
        results.append({"error": type(error).__name__, "arguments": arguments})
with open(sys.argv[2], "w") as file:
    json.dump(results, file)
