# SPDX-License-Identifier: Apache-2.0
"""Calls subject.FUNCTION with the arguments of each case, one after the other in one process. A case is a JSON list of positional
arguments. Writes what each call gave, or its error, with the arguments after it; then adds to each list that was given, and writes
the arguments again: what a result shares with its arguments, or with the next result, shows."""
import json
import os
import sys

sys.path.insert(0, os.getcwd())
import subject

function = getattr(subject, sys.argv[3])
lines = []
with open(sys.argv[1]) as file:
    cases = json.load(file)
for case in cases:
    try:
        value = function(*case)
        line = "value %r" % (value,)
    except Exception as error:
        value = None
        line = "error %s: %s" % (type(error).__name__, error)
    lines.append("%s, arguments %r" % (line, case))
    if isinstance(value, list):
        value.append("added by the driver")
        lines.append("arguments then %r" % (case,))
with open(sys.argv[2], "w") as file:
    file.write("\n".join(lines) + "\n")
