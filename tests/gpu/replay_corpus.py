#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Published Triton solutions of an AccelOpt checkout on a device: each is captured, replayed, verified against its
definition's Python, raced, and compared bit for bit with what its own function computes under PyTorch.

replay_corpus.py FOLDER-OF-ACCELOPT CHECKOUT [--jobs N] [--only TEXT]     needs a CUDA device, Triton and PyTorch

Shapes are small, for what is compared are bits: the references are float64 on the processor.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import capture_corpus  # noqa: E402

# Extents that stand for the published ones.
SMALL = {"M": 128, "batch_size": 64, "num_pages": 4096, "num_kv_indices": 2000, "len_indptr": 9, "total_q": 96, "total_kv": 700, "seq_len": 32}
SAME = "computes the same bytes as the kernel that was measured"


def small_axes(definition, published):
    axes = {name: SMALL.get(name, value) for name, value in published.items()}
    if "batch_size" in axes and "len_indptr" in axes:
        axes["batch_size"] = axes["len_indptr"] - 1
    return axes


def write_dataset(folder, root):
    """The corpus's definitions with one small workload each. Its solutions, by the task's name."""
    found, published = capture_corpus.definitions(root)
    solutions = []
    for path in capture_corpus.solution_paths(root):
        solution = json.loads(path.read_text())
        definition, variable = capture_corpus.definition_of(solution["definition"], found, published)
        definition = {**definition, "name": solution["definition"]}
        place = folder / "definitions" / f"{definition['name']}.json"
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps(definition))
        inputs = {name: {"type": "scalar", "value": 0 if spec["dtype"].startswith("int") else 0.125} if spec["shape"] is None else
                  {"type": "random"} for name, spec in definition["inputs"].items()}
        workload = {"definition": definition["name"], "solution": None, "evaluation": None,
                    "workload": {"uuid": definition["name"], "axes": small_axes(definition, variable), "inputs": inputs}}
        place = folder / "workloads" / f"{definition['name']}.jsonl"
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps(workload) + "\n")
        # The first solution of a definition is its task's baseline.
        place = folder / "solutions" / definition["name"] / "baseline.json"
        if not place.exists():
            place.parent.mkdir(parents=True)
            place.write_text(json.dumps({**solution, "name": f"baseline_{definition['name']}"}))
        solutions.append((definition["name"], path, solution))
    return solutions


def evaluated(program, task, file):
    begin = time.monotonic()
    run = subprocess.run([program, "eval", task, file, "--host", "--json", "--device", "cuda:0"], capture_output=True, text=True, timeout=400,
                         check=False, env={**os.environ, "ACCELOPT_NCU": "/nowhere"})
    lines = [line for line in run.stdout.splitlines() if line.startswith("{")]
    return (json.loads(lines[-1]) if lines else {"status": "FAILED", "reason": run.stderr.strip()[-300:]}), time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    program = options.programs / "accelopt"
    folder = pathlib.Path(tempfile.mkdtemp(prefix="accelopt-corpus-"))
    solutions = [one for one in write_dataset(folder, options.checkout) if options.only in str(one[1])]
    subprocess.run([program, "import", "flashinfer-trace", folder, "--output", folder / "tasks"], check=False, stdout=subprocess.DEVNULL)

    def one(place):
        name, path, solution = solutions[place]
        file = folder / f"solution{place}.py"
        text, entry = solution["sources"][0]["content"], solution["spec"]["entry_point"].split("::")[-1]
        file.write_text(text if entry == "run" else f"{text}\n\nrun = {entry}\n")
        return place, *evaluated(program, folder / "tasks" / name, file)

    identical = passed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(one, place) for place in range(len(solutions))]):
            place, evaluation, seconds = done.result()
            notes = (evaluation.get("profile") or {}).get("notes", [])
            items = {item["name"].split(": ")[-1]: item["value"] for item in (evaluation.get("profile") or {}).get("items", [])}
            same = [note for note in notes if note.endswith(SAME)]
            identical += bool(same)
            passed += evaluation["status"] == "PASSED"
            said = "bit-identical" if same else "; ".join(note for note in notes if "function" in note) or evaluation.get("reason", "")
            figures = f"replay {items['cold time']:.1f} us, host {items['host time']:.1f} us; " if "host time" in items else ""
            print(f"{solutions[place][1].parent.name}/{solutions[place][1].stem[:60]}: {evaluation['status']}; {figures}{said[:200]} ({seconds:.0f} s)", flush=True)
    print(f"{len(solutions)} solutions: {passed} passed, {identical} bit-identical to their own function")


if __name__ == "__main__":
    main()
