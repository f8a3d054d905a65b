#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Published Triton solutions of an AccelOpt checkout on a device: each is captured, replayed, and compared bit for bit with
what its own function computes under PyTorch; with --race also verified and raced.

replay_corpus.py FOLDER-OF-ACCELOPT CHECKOUT [--race] [--jobs N] [--only EXPRESSION] [--limit SECONDS]
    FOLDER-OF-ACCELOPT also holds host_bits (target bench_host_bits); needs a CUDA device, Triton and PyTorch

Shapes are small, for what is compared are bits. The references are those of suites/flashinfer-bench, on the device: the
definitions' Python takes the processor minutes.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import capture_corpus  # noqa: E402

# Extents that stand for the published ones.
SMALL = {"M": 128, "batch_size": 64, "num_pages": 4096, "num_kv_indices": 2000, "len_indptr": 9, "total_q": 96, "total_kv": 700, "seq_len": 32}
SUITE = pathlib.Path(__file__).resolve().parents[2] / "suites" / "flashinfer-bench"
# Its arithmetic on the routing is PyTorch's: it is not captured (capture_corpus.py).
NOT_CAPTURED = "moe_"
RUNNING = set()
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


def reference_of(name):
    """The suite's reference of the same function, whatever the number of heads."""
    for folder in sorted(SUITE.iterdir(), key=lambda one: -len(one.name)):
        if folder.is_dir() and re.sub("kv[48]", "kv", name).startswith(re.sub("kv[48]", "kv", folder.name)):
            return (folder / "reference.cu").read_text().replace("args=(a, b, c,", "args=(A, B, C,")
    raise SystemExit(f"no reference of {name} in {SUITE}")


def ran(command, limit):
    """Exit code, standard output and standard error; of what comes to no end, what it said until then."""
    # A session of its own: what it started ends with it.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                               env={**os.environ, "ACCELOPT_NCU": "off"})
    RUNNING.add(process)
    try:
        out, err = process.communicate(timeout=limit)
        return process.returncode, out, err
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return None, out, f"{err}\nno end within {limit} s"
    finally:
        RUNNING.discard(process)


def lines_of(out):
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def compared(programs, task, file, limit):
    """Whether it is the same, and a line about it."""
    _, out, err = ran([programs / "host_bits", task, file], limit)
    lines = lines_of(out)
    opened = next((line["open_seconds"] for line in lines if "open_seconds" in line), None)
    runs = [line for line in lines if "file" in line]
    same = bool(runs) and all(line.get("same") for line in runs)
    if same:
        text = f"bit-identical; host {runs[0]['host_us']:.1f} us"
        if tried := runs[0].get("configuration", 0):
            text += f"; by configuration {tried + 1}, not by those before it"
    else:
        text = "; ".join(line.get("error") or "; ".join(line.get("differences", [])) for line in runs)
        text = "; ".join(part for part in (text, err.strip()[-300:]) if part)
    seconds = f" (opened {opened:.1f} s, built {runs[0]['build_seconds']:.1f} s, run {runs[0].get('seconds', 0):.1f} s)" if runs and opened else ""
    return same, text + seconds


def raced(programs, task, file, limit):
    _, out, err = ran([programs / "accelopt", "eval", task, file, "--host", "--json", "--device", "cuda:0"], limit)
    lines = lines_of(out)
    evaluation = lines[-1] if lines else {"status": "FAILED", "reason": err.strip()[-300:]}
    profile = evaluation.get("profile") or {}
    notes = [note for note in profile.get("notes", []) if "function" in note]
    items = {item["name"].split(": ")[-1]: item["value"] for item in profile.get("items", [])}
    same = any(note.endswith(SAME) for note in notes)
    figures = f"replay {items['cold time']:.1f} us, host {items['host time']:.1f} us; " if "host time" in items else ""
    said = "bit-identical" if same else "; ".join(notes) or evaluation.get("reason", "")
    return same, f"{evaluation['status']}; {figures}{said}"


def end_all(*_):
    """Processes on the device do not outlive this one, which may be ended by who has no more time."""
    for process in list(RUNNING):
        os.killpg(process.pid, signal.SIGKILL)
    os._exit(1)


def main():
    signal.signal(signal.SIGTERM, end_all)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--race", action="store_true")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--only", default="", help="a regular expression: names of files")
    parser.add_argument("--limit", type=int, default=180, help="seconds a solution")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="accelopt-corpus-"))
    solutions = [one for one in write_dataset(folder, options.checkout) if re.search(options.only, str(one[1]))]
    subprocess.run([options.programs / "accelopt", "import", "flashinfer-trace", folder, "--output", folder / "tasks"], check=False,
                   stdout=subprocess.DEVNULL)
    left_out = [one for one in solutions if one[0].startswith(NOT_CAPTURED)]
    solutions = [one for one in solutions if one not in left_out]
    for name in {one[0] for one in solutions}:
        (folder / "tasks" / name / "reference.py").unlink()
        (folder / "tasks" / name / "reference.cu").write_text(reference_of(name))

    def one(place):
        begin = time.monotonic()
        name, path, solution = solutions[place]
        file = folder / f"solution{place}.py"
        text, entry = solution["sources"][0]["content"], solution["spec"]["entry_point"].split("::")[-1]
        file.write_text(text if entry == "run" else f"{text}\n\nrun = {entry}\n")
        same, said = (raced if options.race else compared)(options.programs, folder / "tasks" / name, file, options.limit)
        print(f"{path.parent.name}/{path.stem[:60]}: {said[:400]} ({time.monotonic() - begin:.0f} s)", flush=True)
        return same

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        identical = sum(pool.map(one, range(len(solutions))))
    print(f"{len(solutions)} solutions: {identical} bit-identical to their own function; {len(left_out)} left out, which are not captured")
    return 0 if identical == len(solutions) else 1


if __name__ == "__main__":
    sys.exit(main())
