#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In one sitting on one device: ours against published Triton kernels and libraries, on the tasks of suites/flashinfer-bench.

published_table.py PROGRAMS CHECKOUT OUT [--ours TASK=FILE ...] [--only TASK ...] [--seconds N]
    PROGRAMS is the folder of accelopt; CHECKOUT one of AccelOpt's repository, of which nothing is kept: its baselines, its best
    kernels and its samples of the same definitions become files in a temporary folder

Every pair is raced: a copy of the task has ours as its baseline and the published kernel as the candidate, which is tuned first
where it is autotuned (after one rung no more, if even its best configuration takes a quarter longer than ours). Both get the
same inputs of the same seed and are verified in every call, in device time with a cold second-level cache. The copy lets host
functions see offsets (`visible`), which many published ones read, and its sequences have one draw of lengths, in which every
query sees a key: published ones compute NaN for those that see none. What does not pass there, and the mixture of experts, whose
routing is PyTorch's, is timed by library_times.py, and the table says so. Results are written to OUT as they come: table.json,
table.md, and log.txt with all that the programs said.
"""

import argparse
import itertools
import json
import math
import os
import pathlib
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import capture_corpus  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUITE = ROOT / "suites" / "flashinfer-bench"
RECORDED = ROOT / "examples" / "recorded" / "flashinfer-bench"
TIMES = pathlib.Path(__file__).resolve().parent / "library_times.py"
MOE = "moe_fp8_block_scale_topk8"
# In this order: what is asked of attentions comes first.
TASKS = {
    "gqa_paged_decode_h32_kv4": "gqa_paged_decode_h32_kv4_d128_ps1",
    "mla_paged_decode_h16": "mla_paged_decode_h16_ckv512_kpe64_ps1",
    "gqa_paged_prefill_causal_h32_kv8": "gqa_paged_prefill_causal_h32_kv8_d128_ps1",
    "gqa_ragged_prefill_causal_h32_kv4": "gqa_ragged_prefill_causal_h32_kv4_d128",
    "mla_paged_prefill_causal_h16": "mla_paged_prefill_causal_h16_ckv512_kpe64_ps1",
    "rmsnorm_h128": "rmsnorm_h128",
    "fused_add_rmsnorm_h7168": "fused_add_rmsnorm_h7168",
    MOE: "moe_fp8_block_scale_ds_routing_topk8_ng8_kg4_e32_h7168_i2048",
    "gemm": "gemm_n28672_k4096",
}
ATTENTION = tuple(task for task in TASKS if task.startswith(("gqa", "mla")))
NORMAL_97_5 = 1.959964
RACED, GRAPH, HOST = "raced in pairs, verified", "its own clock, CUDA graph", "host-timed, not verified per call"
ENDED = []


# The published kernels.
def kind_of(path):
    return "sample" if "samples" in path.parts else "best" if path.name.endswith("_solution.json") else "baseline"


def text_of(solution):
    entry = solution["spec"]["entry_point"].split("::")[-1]
    text = solution["sources"][0]["content"]
    return text if entry == "run" else f"{text}\n\nrun = {entry}\n"


def published(checkout, definition):
    """Kernels of this definition by kind, and what was left out."""
    found, left_out = {}, []
    for path in capture_corpus.solution_paths(checkout):
        solution = json.loads(path.read_text(encoding="utf-8"))
        kind = kind_of(path)
        same_kind = re.sub(r"kv\d+", "kv", solution["definition"]) == re.sub(r"kv\d+", "kv", definition)
        if definition.startswith("moe") and kind == "baseline":
            kind = "deprecated baseline" if path.name.startswith("deprecated") else kind
        if solution["definition"] == definition:
            found[kind] = text_of(solution)
        elif same_kind and kind == "sample":
            left_out.append(f"the sample of {solution['definition']}, which has another number of heads")
    return found, left_out


def file_name(name):
    return re.sub(r"\W+", "_", name)


def offsets(seed, axes):
    """Of queries and keys, drawn so that every query sees a key; of decoded sequences those of keys alone."""
    count, keys = axes["len_indptr"] - 1, axes.get("num_kv_indices", axes.get("total_kv"))
    kv_indptr = [0, *sorted(random.Random(f"{seed} {count} {keys}").sample(range(1, keys), count - 1)), keys]
    if "total_q" not in axes:
        return {"kv_indptr": kv_indptr}
    lengths = [end - begin for begin, end in zip(kv_indptr, kv_indptr[1:])]
    queries = [length * axes["total_q"] // keys for length in lengths]
    for i in range(count):
        queries[i] += min(lengths[i] - queries[i], axes["total_q"] - sum(queries))
    return {"qo_indptr": [0, *itertools.accumulate(queries)], "kv_indptr": kv_indptr}


def copy_of_task(task, baseline, folder, seed=1):
    """The task with this baseline, with offsets that host functions may read, and without queries that see no key: published kernels
    compute no number for these."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in (SUITE / task).iterdir():
        if path.is_file() and path.name != "baseline.py":
            (folder / path.name).write_bytes(path.read_bytes())
    text = (folder / "task.toml").read_text(encoding="utf-8")
    text = re.sub(r'(name = "\w+_indptr".*?\ninit = "[^"\n]*"\n)', r"\1visible = true\n", text, flags=re.S)
    for workload in tomllib.loads(text)["workloads"] if task in ATTENTION else ():
        if "inputs" not in workload:
            given = ", ".join(f'{name} = "values({", ".join(map(str, numbers))})"' for name, numbers in offsets(seed, workload["axes"]).items())
            text = text.replace(f'name = "{workload["name"]}"\n', f'name = "{workload["name"]}"\ninputs = {{ {given} }}\n')
    if task == "gemm":  # published ones refuse other matrices b
        text = re.sub(r"N = \d+, K = \d+", "N = 28672, K = 4096", text)
    (folder / "task.toml").write_text(text, encoding="utf-8")
    (folder / "baseline.py").write_bytes(baseline.read_bytes())
    return folder


# Arithmetic of the table.
def trimmed_interval(times):
    """Estimate, low and high of a program's time, as accelopt has it: of logarithms, a tenth cut off at either end."""
    logs = sorted(map(math.log, times))
    cut = len(logs) // 10
    kept = logs[cut:len(logs) - cut]
    spread = statistics.stdev(logs) if len(logs) > 1 else 0.0
    error = NORMAL_97_5 * spread / math.sqrt(len(kept))
    middle = statistics.fmean(kept)
    return {"estimate": math.exp(middle), "low": math.exp(middle - error), "high": math.exp(middle + error)}


def turned(ratio):
    return {"estimate": 1 / ratio["estimate"], "low": 1 / ratio["high"], "high": 1 / ratio["low"]}


def over(times, ours_ns, added_ns=0.0):
    """How many times as fast ours is as a program with these times; what is added to ours is time, too."""
    interval = trimmed_interval(times)
    return {name: value / (ours_ns + added_ns) for name, value in interval.items()}


def geometric_mean(ratios):
    """Of independent ratios; the interval from those of the logarithms, added in quadrature."""
    if not ratios:
        return None
    middle = statistics.fmean(math.log(one["estimate"]) for one in ratios)
    low, high = (math.sqrt(sum(math.log(one[end] / one["estimate"]) ** 2 for one in ratios)) / len(ratios) for end in ("low", "high"))
    return {"estimate": math.exp(middle), "low": math.exp(middle - low), "high": math.exp(middle + high)}


def hardest(row):
    """Of published best and sample the one over which ours has the least."""
    known = [(row["over"][kind]["estimate"], kind) for kind in ("best", "sample") if kind in row["over"]]
    return min(known)[1] if known else None


def figures(rows):
    """The four that are asked for: what, the value, whether it is reached (None: not all of it was measured)."""
    by_task = {row["task"]: row for row in rows}

    def mean_over(name, tasks):
        present = [by_task[task]["over"][name] for task in tasks if name in by_task.get(task, {"over": {}})["over"]]
        return geometric_mean(present), f"{len(present)} of {len(tasks)}", len(present) == len(tasks)

    plain = [task for task in TASKS if task != MOE]
    mean, count, whole = mean_over("baseline", plain)
    out = [{"figure": f"geometric mean over the published baselines without MoE ({count})", "value": mean, "wanted": 5.0,
            "reached": mean["estimate"] >= 5.0 if mean and whole else None}]
    reached, worst = [], None
    for task in plain:
        row = by_task.get(task)
        name = hardest(row) if row else None
        if name is None:
            continue
        reached.append(row["over"][name]["high"] >= 1.0)
        if worst is None or row["over"][name]["estimate"] < worst["estimate"]:
            worst = row["over"][name]
    out.append({"figure": f"each over the better of published best and sample, upper end of the interval ({sum(reached)} of {len(reached)} measured, "
                          f"{len(plain)} asked); the least", "value": worst, "wanted": 1.0,
                "reached": False if not all(reached) else True if len(reached) == len(plain) else None})
    mean, count, whole = mean_over("flashinfer", ATTENTION)
    out.append({"figure": f"geometric mean of attentions over FlashInfer ({count})", "value": mean, "wanted": 1.0,
                "reached": mean["estimate"] >= 1.0 if mean and whole else None})
    value = by_task.get(MOE, {"over": {}})["over"].get("deprecated baseline")
    out.append({"figure": "MoE over the deprecated baseline's run(), routing included on both sides", "value": value, "wanted": 3.0,
                "reached": value["estimate"] >= 3.0 if value else None})
    return out


def shown_time(ns):
    return "-" if ns is None else f"{ns / 1e6:.3f} ms" if ns >= 1e6 else f"{ns / 1e3:.2f} us"


def shown_ratio(ratio):
    return "-" if ratio is None else f"{ratio['estimate']:.3g}x [{ratio['low']:.3g}, {ratio['high']:.3g}]"


def markdown(table):
    columns = ("baseline", "best", "sample", "torch", "flashinfer", "deprecated baseline", "suite's baseline")
    columns = [name for name in columns if any(name in row["times"] for row in table["rows"])]
    lines = [f"Device: {table['device'] or '?'}; seed {table['seed']}; {table['seconds']:.0f} s in all.", ""]
    lines += ["| " + " | ".join(("task", "ours", "floor", "share", *columns)) + " |", "|---" * (4 + len(columns)) + "|"]
    for row in table["rows"]:
        marks = {RACED: "", GRAPH: " (g)", HOST: " (h)"}
        cells = [f"{shown_time(row['times'].get(name))}{marks.get(row['how'].get(name), '')}; {shown_ratio(row['over'].get(name))}"
                 if name in row["times"] else "-" for name in columns]
        share = "-" if not row["share"] else f"{100 * row['share']:.1f} %"
        lines.append("| " + " | ".join((row["task"], shown_time(row["ours_ns"]), shown_time(row["floor_ns"]), share, *cells)) + " |")
    lines += ["", f"Times, and how many times as fast ours is, with its interval of 95 %. Without a mark: {RACED}. (g): {GRAPH}. (h): {HOST}.", "",
              "| figure | found | wanted | |", "|---|---|---|---|"]
    for one in table["figures"]:
        verdict = {True: "PASS", False: "MISS", None: "NOT COMPLETE"}[one["reached"]]
        lines.append(f"| {one['figure']} | {shown_ratio(one['value'])} | {one['wanted']:g} | {verdict} |")
    lines += [""] + [f"* {row['task']}: {note}" for row in table["rows"] for note in row["notes"]]
    return "\n".join(lines) + "\n"


def ended(process):
    """What it said until now. First it is asked to end what it began: a process left on the device disturbs what is measured later."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        os.killpg(process.pid, number)
        try:
            return process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            continue
    return "", ""


# The sitting.
class Sitting:
    def __init__(self, options):
        self.options, self.begin = options, time.monotonic()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="accelopt-published-"))
        self.table = {"device": "", "seed": options.seed, "seconds": 0.0, "rows": [], "figures": []}
        options.out.mkdir(parents=True, exist_ok=True)
        if options.go_on and (options.out / "table.json").exists():
            before = json.loads((options.out / "table.json").read_text(encoding="utf-8"))
            self.table["device"] = before["device"]
            self.table["rows"] = [row for row in before["rows"] if row["task"] not in options.only]

    def left(self):
        return self.options.seconds - (time.monotonic() - self.begin)

    def write(self):
        self.table["seconds"] = time.monotonic() - self.begin
        self.table["rows"].sort(key=lambda row: list(TASKS).index(row["task"]))
        self.table["figures"] = figures(self.table["rows"])
        for name, text in (("table.json", json.dumps(self.table, indent=1) + "\n"), ("table.md", markdown(self.table))):
            place = self.options.out / f"{name}.new"
            place.write_text(text, encoding="utf-8")
            place.replace(self.options.out / name)

    def say(self, text):
        print(f"[{time.monotonic() - self.begin:5.0f} s] {text}", flush=True)

    def run(self, name, command, limit):
        """Objects that it printed, and what it said if it failed."""
        limit = min(limit, self.left())
        if limit < 3:
            return [], "no time is left"
        begin = time.monotonic()
        process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   errors="replace", start_new_session=True)
        ENDED.append(process)
        problem = ""
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            out, err = ended(process)
            problem = f"no end within {limit:.0f} s; "
        ENDED.remove(process)
        with open(self.options.out / "log.txt", "a", encoding="utf-8") as log:
            log.write(f"##### {name} ({time.monotonic() - begin:.1f} s): {' '.join(map(str, command))}\n{out}{err}\n")
        objects = []
        for line in out.splitlines():
            if line.startswith("{"):
                try:
                    objects.append(json.loads(line))
                except json.JSONDecodeError:
                    pass
        if process.returncode != 0 or not objects:
            problem += " ".join((err or out).split())[-300:] or f"exit {process.returncode}"
        return objects, problem

    def raced(self, task, name, kernel, ours, limit):
        """The evaluation of this kernel against ours; none and why."""
        copy = copy_of_task(task, ours, self.folder / task, self.options.seed)
        file = self.folder / f"{task}_{file_name(name)}.py"
        file.write_text(kernel, encoding="utf-8")
        command = [self.options.programs / "accelopt", "eval", copy, file, "--json", "--seed", self.options.seed, "--device", self.options.device]
        objects, problem = self.run(f"{task} against {name}", command, limit)
        found = next((one for one in objects if one.get("type") == "evaluation"), None)
        if found is None or not found.get("ratio"):
            reason = f"{found['status']}: {found['reason']}" if found else problem
            return found, reason or problem or "no ratio"
        return found, ""

    def library(self, task, names, limit, file=None):
        command = [sys.executable, TIMES, self.folder / task, ",".join(names), "--json", "--seed", self.options.seed, "--seconds", max(5, int(limit - 12))]
        objects, problem = self.run(f"{task}: {', '.join(names)}", command + (["--file", file] if file else []), limit)
        found = {}
        for one in objects:
            if "library" in one and ("times_ns" in one or one["library"] not in found):
                found[one["library"]] = one
        return found, problem


def add_evaluation(row, name, found, table):
    timing = next(one for one in found["workloads"] if one["role"] == "race")
    row["over"][name], row["times"][name], row["how"][name] = turned(found["ratio"]), timing["time_ns"], RACED
    row["ours"].append(timing["reference_ns"])
    row["ours_ns"] = statistics.median(row["ours"])
    if timing.get("roofline"):
        row["floor_ns"] = timing["roofline"]["floor_ns"]
        row["share"] = row["floor_ns"] / row["ours_ns"]
    device = found.get("environment", {}).get("device", "")
    if device not in ("", table["device"]):
        if table["device"]:
            row["notes"].append(f"measured on another device: {device}")
        else:
            table["device"] = device


def add_times(row, name, found, added_ns=0.0):
    """A program's own times; of no use without ours."""
    row["times"][name] = trimmed_interval(found["times_ns"])["estimate"]
    row["how"][name] = HOST if found["how"].startswith("host") else GRAPH
    row["notes"].append(f"{name}: {found['call']} ({found['how']}); tried: {json.dumps(found['tried'])}")
    if row["ours_ns"]:
        row["over"][name] = over(found["times_ns"], row["ours_ns"], added_ns)


def one_task(sitting, task, ours):
    options, table = sitting.options, sitting.table
    row = {"task": task, "file": str(ours or "suite's baseline"), "ours_ns": None, "ours": [], "floor_ns": None, "share": None, "times": {}, "over": {}, "how": {},
           "notes": []}
    table["rows"].append(row)
    kernels, left_out = published(options.checkout, TASKS[task])
    row["notes"] += [f"left out: {one}" for one in left_out]
    if ours is None:
        ours = SUITE / task / "baseline.py"
        row["notes"].append("ours is the suite's baseline: no other kernel was given")
    text = ours.read_text(encoding="utf-8")
    if "autotune" in text and "# accelopt configuration:" not in text:
        row["notes"].append("ours is autotuned and names no configuration: its first one is raced (`accelopt best` writes the line)")
    end = time.monotonic() + min(options.task_seconds * (2 if task in (MOE, "gemm") else 1), sitting.left())

    def time_left():
        return end - time.monotonic()

    raced = {} if task == MOE else {name: kernels[name] for name in ("baseline", "sample", "best") if name in kernels}
    if task == MOE:
        raced["suite's baseline"] = (SUITE / task / "baseline.py").read_text(encoding="utf-8")
    failed = {}
    for name, kernel in raced.items():
        found, reason = sitting.raced(task, name, kernel, ours, max(time_left(), options.least_seconds))
        if reason:
            failed[name] = reason
            row["notes"].append(f"{name} was not raced: {reason[:300]}")
        else:
            add_evaluation(row, name, found, table)
        sitting.say(f"{task} against {name}: {shown_ratio(row['over'].get(name))} {reason[:200]}")
        sitting.write()
    if row["ours_ns"] is None:
        # No published kernel passed: the suite's own against ours, for its time.
        found, reason = sitting.raced(task, "suite's baseline", (SUITE / task / "baseline.py").read_text(encoding="utf-8"), ours,
                                      max(time_left(), options.least_seconds))
        if reason:
            row["notes"].append(f"ours was not timed: {reason[:300]}")
        else:
            add_evaluation(row, "suite's baseline", found, table)
    libraries = [name for name in (("routing",) if task == MOE else ("flashinfer", "torch")) if name in options.libraries or task == MOE]
    if task == "gemm" and "flashinfer" in libraries:
        libraries.remove("flashinfer")
    by_library, problem = sitting.library(task, libraries, max(time_left(), options.least_seconds)) if libraries else ({}, "")
    for name in libraries:
        found = by_library.get(name, {"failure": problem})
        if "times_ns" not in found:
            row["notes"].append(f"{name} was not timed: {found.get('failure', '')[:600]}")
        elif name != "routing":
            add_times(row, name, found)
        sitting.say(f"{task}, {name}: {shown_ratio(row['over'].get(name))} {found.get('call', found.get('failure', ''))[:200]}")
    routing_ns = 0.0
    if task == MOE:
        if "times_ns" in by_library.get("routing", {}):
            routing_ns = trimmed_interval(by_library["routing"]["times_ns"])["estimate"]
            row["notes"].append(f"ours has the routing added: {shown_time(routing_ns)}, PyTorch's as a CUDA graph")
            failed = {name: "a program of PyTorch" for name in ("deprecated baseline", "best") if name in kernels}
        else:
            failed = {}
    for name in failed:
        file = sitting.folder / f"{task}_{file_name(name)}.py"
        file.write_text(kernels[name], encoding="utf-8")
        found, problem = sitting.library(task, ["published-run"], max(min(time_left(), 40), options.least_seconds), file)
        if "times_ns" in found.get("published-run", {}):
            add_times(row, name, found["published-run"], routing_ns)
        else:
            row["notes"].append(f"run() of {name} was not timed: {(found.get('published-run', {}).get('failure') or problem)[:300]}")
        sitting.say(f"{task}, run() of {name}: {shown_ratio(row['over'].get(name))}")
    sitting.write()


def end_all(*_):
    """Processes on the device do not outlive this one."""
    for process in list(ENDED):
        os.killpg(process.pid, signal.SIGKILL)
    os._exit(1)


def pair(text):
    task, _, file = text.partition("=")
    if task not in TASKS or not pathlib.Path(file).is_file():
        raise argparse.ArgumentTypeError(f"{text}: TASK=FILE is wanted, of {', '.join(TASKS)}")
    return task, pathlib.Path(file).resolve()


def main():
    signal.signal(signal.SIGTERM, end_all)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--ours", type=pair, nargs="+", action="extend", default=[], help="TASK=FILE; otherwise recorded winners, else the suite's baseline")
    parser.add_argument("--only", nargs="+", choices=tuple(TASKS), default=tuple(TASKS))
    parser.add_argument("--libraries", nargs="*", choices=("torch", "flashinfer"), default=("torch", "flashinfer"))
    parser.add_argument("--seconds", type=float, default=530, help="of all")
    parser.add_argument("--task-seconds", type=float, default=75, help="of one task; gemm and the mixture of experts have twice as many")
    parser.add_argument("--least-seconds", type=float, default=25, help="of a step whose task has used its time")
    parser.add_argument("--prepare-seconds", type=float, default=150, help="for FlashInfer's modules, where they do not come with it")
    parser.add_argument("--go-on", action="store_true", help="keep the rows of other tasks that are in OUT")
    parser.add_argument("--seed", type=int, default=20261126)
    parser.add_argument("--device", default="cuda:0")
    options = parser.parse_args()
    for name in ("programs", "checkout", "out"):
        setattr(options, name, getattr(options, name).resolve())
    if not (options.programs / "accelopt").exists():
        parser.error(f"{options.programs} has no accelopt: PROGRAMS is the folder of the program")
    if not (options.checkout / "experiments" / "flb_optimize" / "solutions").is_dir():
        parser.error(f"{options.checkout} has no experiments/flb_optimize/solutions: CHECKOUT is one of AccelOpt's repository")
    os.environ.setdefault("ACCELOPT_NCU", "off")
    os.environ.setdefault("ACCELOPT_PYTHON", sys.executable)
    sitting = Sitting(options)
    ours = {task: RECORDED / task / "winner.py" for task in TASKS if (RECORDED / task / "winner.py").exists()}
    ours.update(options.ours)
    if "flashinfer" in options.libraries and set(options.only) - {"gemm", MOE}:
        objects, problem = sitting.run("FlashInfer's modules", [sys.executable, TIMES, "--prepare", "flashinfer", "--seconds", options.prepare_seconds],
                                       options.prepare_seconds + 15)
        sitting.say(f"FlashInfer's modules: {', '.join(one['module'] + ' ' + one['state'] for one in objects) or problem}")
    for task in options.only:
        if sitting.left() < options.least_seconds:
            sitting.say(f"{task}: not begun, no time is left")
            continue
        try:
            one_task(sitting, task, ours.get(task))
        except Exception as problem:  # pylint: disable=broad-except
            sitting.say(f"{task} broke off: {problem!r}")  # the others can still be had
            for row in sitting.table["rows"]:
                if row["task"] == task:
                    row["notes"].append(f"broke off: {problem!r}")
    sitting.write()
    print(markdown(sitting.table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
