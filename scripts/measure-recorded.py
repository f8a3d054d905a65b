#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Confirms the winners of examples/recorded once more, against their baselines, under the rules that hold now.

scripts/measure-recorded.py [FOLDER-OF-ACCELOPT] [--device cuda:0] [--seconds 90]

One JSON object a line: the speed-up with its interval, the one that was recorded, what the confirmation noted, and the
seconds it took. `--seconds` is for all of them together; those that no time is left for say so.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


def measure(program, run, device, seconds):
    """What `eval --confirm` says of a run's winner."""
    recorded = json.loads((run / "measurements.json").read_text(encoding="utf-8"))["result"]["speedup"]
    line = {"run": run.name, "recorded": recorded}
    if seconds < 1:
        return line | {"error": "no time was left"}
    task = ROOT / "suites" / run.parent.name / run.name
    command = [program, "eval", task, run / "winner.cu", "--device", device, "--confirm", "--json"]
    began = time.monotonic()
    try:
        finished = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return line | {"error": f"not done within {seconds:.0f} s"}
    line["seconds"] = round(time.monotonic() - began, 1)
    if not finished.stdout.strip():
        return line | {"error": finished.stderr.strip()[-300:]}
    said = json.loads(finished.stdout.strip().splitlines()[-1])
    for name in ("status", "verdict", "ratio", "blocks", "workloads", "notes", "reason", "environment"):
        if name in said:
            line[name] = said[name]
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default=ROOT / "build" / "test" / "bin", type=pathlib.Path)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--seconds", default=90.0, type=float)
    given = parser.parse_args()
    end = time.monotonic() + given.seconds
    good = True
    # The one whose baseline takes a thousand times as long as the others' comes last.
    for run in sorted((ROOT / "examples" / "recorded").glob("*/*/winner.cu"), key=lambda path: path.parent.name == "matmul"):
        line = measure(given.folder / "accelopt", run.parent, given.device, end - time.monotonic())
        print(json.dumps(line), flush=True)
        good = good and line.get("verdict") == "FASTER"
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
