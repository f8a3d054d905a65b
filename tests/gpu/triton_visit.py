#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All that Triton on a device must show, in the time that a device is to be had: each step has a limit of its own, and what
it said is written as it comes.

triton_visit.py pack PROGRAMS TO --corpus CHECKOUT     copies what a machine without a compiler's libraries needs into TO
triton_visit.py run PROGRAMS OUT --corpus CHECKOUT [--seconds N] [--sessions N] [--only STEP...]

PROGRAMS holds accelopt, accelopt-device, accelopt-nvrtc, accelopt-arena, host_bits and cuda (targets bench_host_bits and
bench_cuda), linked so that they look for libraries in ../lib (-Wl,-rpath,'$ORIGIN/../lib' -Wl,--disable-new-dtags).
CHECKOUT is one of AccelOpt (replay_corpus.py). Steps, in this order: facts, replay, bits, losers, suite, exploits, recipes.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCRATCH = pathlib.Path(tempfile.gettempdir()) / "accelopt-triton-visit"
PROGRAMS = ("accelopt", "accelopt-device", "accelopt-nvrtc", "accelopt-arena", "host_bits", "cuda")
# They belong to the C library, which is that machine's own, or come with its compiler.
NOT_COPIED = re.compile(r"^(ld-linux|linux-vdso|libc\.|libm\.|libdl\.|librt\.|libpthread\.|libresolv\.|libstdc\+\+|libgcc_s)")
COPIED = ("tests/gpu", "tests/blackbox/support.py", "tests/capture/support.py", "suites/flashinfer-bench", "exploits/triton")
CORPUS = ("experiments/flb_optimize/definitions", "experiments/flb_optimize/workloads", "experiments/flb_optimize/solutions",
          "experiments/flb_full_complete_local/results/12-21-17-05", "samples/fib")

# What is run: what it does with the device first, then what is only more of the same.
REPLAYED = ("test_the_host_function_computes_the_same", "test_inputs_that_the_host_sees_and_drawn_scalars",
            "test_whatever_a_plan_may_hold_is_replayed", "test_a_winner_with_plans_of_slots_is_confirmed",
            "test_the_fastest_right_configuration_is_kept", "test_a_plan_that_fails_for_some_values_is_wrong_there",
            "test_an_output_that_the_host_knows_is_refused", "test_wrong_kernels_are_found", "test_a_write_to_an_input_is_found",
            "test_a_winner_is_confirmed", "test_the_baseline_is_no_faster_than_itself")


# Packing.
def libraries_of(program):
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    for name, path in re.findall(r"(\S+) => (/\S+)", listed):
        if not NOT_COPIED.match(name):
            yield name, pathlib.Path(path)


def pack(programs, to, corpus):
    for folder in ("bin", "lib"):
        (to / folder).mkdir(parents=True, exist_ok=True)
    for name in PROGRAMS:
        found = next((one for one in (programs / name, programs.parent / "bench" / name) if one.exists()), None)
        if found is None:
            raise SystemExit(f"{programs / name} is missing: build it first")
        subprocess.run(["strip", "-o", to / "bin" / name, found], check=True)
        for library, path in libraries_of(found):
            shutil.copyfile(path, to / "lib" / library)
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (to / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, to / "tree" / name, **({"dirs_exist_ok": True} if copy is shutil.copytree else {}))
    for name in CORPUS:
        shutil.copytree(corpus / name, to / "corpus" / name, dirs_exist_ok=True)
    total = sum(one.stat().st_size for one in to.rglob("*") if one.is_file())
    print(f"{to}: {total / 2**20:.0f} MiB; there: python3 {to.name}/tree/tests/gpu/triton_visit.py run {to.name}/bin OUT --corpus {to.name}/corpus")


# Running.
class Visit:
    def __init__(self, out, seconds):
        self.out, self.end = out, time.monotonic() + seconds
        self.begin = time.monotonic()
        out.mkdir(parents=True, exist_ok=True)

    def left(self):
        return self.end - time.monotonic()

    def say(self, text):
        line = f"[{time.monotonic() - self.begin:5.0f} s] {text}"
        print(line, flush=True)
        with open(self.out / "summary.txt", "a", encoding="utf-8") as file:
            file.write(line + "\n")

    def run(self, log, name, command, limit, environment=None, say=None):
        """Runs it, and appends all that it says to the log as it comes. Gives its exit code (none: it came to no end) and lines."""
        limit = min(limit, self.left())
        if limit < 5:
            self.say(f"{name}: not begun, no time is left")
            return None, []
        begin, lines = time.monotonic(), []
        if shutil.which(command[0]) is None:
            self.say(f"{name}: there is no {command[0]}")
            return None, []
        with open(self.out / f"{log}.log", "a", encoding="utf-8") as file:
            file.write(f"\n##### {name}: {' '.join(map(str, command))}\n")
            process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       text=True, errors="replace", start_new_session=True,
                                       env={**os.environ, "PYTHONUNBUFFERED": "1", "ACCELOPT_NCU": "off", **(environment or {})})

            def read():
                for line in process.stdout:
                    lines.append(line.rstrip("\n"))
                    file.write(f"{time.monotonic() - begin:6.1f} {line}")
                    file.flush()
                    if say and say(line):
                        self.say(f"  {line.strip()[:300]}")

            reader = threading.Thread(target=read)
            reader.start()
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                ended(process)
                code = None
            reader.join(10)
            file.write(f"##### exit {code} after {time.monotonic() - begin:.1f} s\n")
        how = f"NO END within {limit:.0f} s" if code is None else "ok" if code == 0 else f"exit {code}"
        self.say(f"{name}: {how} ({time.monotonic() - begin:.1f} s)" + ("" if code == 0 or not lines else f"; last: {lines[-1].strip()[:200]}"))
        return code, lines


def ended(process):
    """First it is asked to end what it began: a process that is left on the device disturbs all that is measured later."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


IMPORTS = """
import sys, time
begin = time.monotonic()
import triton
print("import triton", triton.__version__, round(time.monotonic() - begin, 1), "s", flush=True)
import torch
print("import torch", torch.__version__, round(time.monotonic() - begin, 1), "s", flush=True)
print("device", torch.cuda.get_device_name(), round(time.monotonic() - begin, 1), "s", flush=True)
torch.ones(8, device="cuda").sum().item()
print("first kernel", round(time.monotonic() - begin, 1), "s", flush=True)
"""


def facts(visit, options):
    where = "; ".join(f"{name}={os.environ[name]}" for name in ("LD_LIBRARY_PATH", "PATH", "VIRTUAL_ENV", "ACCELOPT_PYTHON", "CUDA_HOME")
                      if name in os.environ)
    visit.say(where)
    visit.run("facts", "card", ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"], 20, say=lambda _: True)
    visit.run("facts", "driver's library", ["bash", "-c", "ldconfig -p | grep libcuda.so; cat /sys/kernel/security/lsm; uname -r; nproc; free -g"], 20)
    # From a disk that nobody has read yet this can take a minute, and would be taken for something else later.
    visit.run("facts", "imports, first", [sys.executable, "-c", IMPORTS], 150, say=lambda line: "first kernel" in line)
    visit.run("facts", "imports, again", [sys.executable, "-c", IMPORTS], 60, say=lambda line: "first kernel" in line)
    visit.run("facts", "doctor", [options.programs / "accelopt", "doctor"], 60)


def replay(visit, options):
    begin = time.monotonic()
    told = re.compile(r"FAIL|ERROR|^ok|^    \d|Error:")
    for name in (name for name in REPLAYED if any(part in name for part in options.tests)):
        limit = min(150 if "whatever" in name or "confirmed" in name else 100, options.most_replay - (time.monotonic() - begin))
        visit.run("replay", name, [sys.executable, HERE / "triton_replay.py", options.programs, f"TritonReplay.{name}"], limit,
                  say=told.search)


def bits(visit, options):
    visit.run("bits", "corpus", [sys.executable, HERE / "replay_corpus.py", options.programs, options.corpus, "--jobs", 6, "--limit", 100,
                                 "--only", options.solutions],
              options.most_bits, say=lambda line: True)


def segments(folder):
    """A task whose host function reads an input."""
    sys.path.insert(0, str(HERE))
    import triton_replay  # pylint: disable=import-outside-toplevel
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("task.toml", triton_replay.SEGMENTS), ("reference.cu", triton_replay.SEGMENTS_REFERENCE),
                       ("baseline.py", triton_replay.SEGMENTS_RIGHT["a block as long as the longest sequence"])):
        (folder / name).write_text(text, encoding="utf-8")


def losers(visit, options):
    segments(SCRATCH / "tasks" / "segments")
    for name in options.tasks:
        suite = SCRATCH / "tasks" if name == "segments" else ROOT / "suites" / "flashinfer-bench"
        visit.run("losers", f"losers, candidates a second, identical kernels: {name}",
                  [options.programs / "cuda", "--suite", suite, "--accelopt", options.programs / "accelopt", "--task", name,
                   "--sessions", options.sessions, "--gains", 1], options.most_losers,
                  say=lambda line: line[:1] in "#PFO" or "cuda:" in line)


def suite(visit, options):
    for task in sorted((ROOT / "suites" / "flashinfer-bench").iterdir()):
        if not task.is_dir():
            continue
        _, lines = visit.run("suite", task.name, [options.programs / "accelopt", "eval", task, "--device", "cuda:0", "--json"], 75)
        for line in lines:
            if not line.startswith("{"):
                continue
            verdict = json.loads(line)
            stages = ", ".join(f"{stage['name']} {stage['seconds']:.1f}" for stage in verdict.get("stages", []))
            ratio = verdict.get("ratio") or {}
            visit.say(f"  {verdict['status']} {verdict.get('verdict', '')} {ratio.get('estimate', 0):.3f} [{ratio.get('low', 0):.3f}, "
                      f"{ratio.get('high', 0):.3f}] {verdict.get('blocks', '')} blocks; {stages}; {verdict.get('reason', '')[:160]}")


def exploits(visit, options):
    visit.run("exploits", "selftest", [options.programs / "accelopt", "selftest", "--device", "cuda:0", "--exploits", ROOT / "exploits" / "triton"],
              options.most_exploits, say=lambda line: "NOT" in line or "missed" in line or " of " in line or "FAIL" in line)


def recipes(visit, options):
    """Searches without a model: split-KV is what this decoding lacks."""
    task = ROOT / "suites" / "flashinfer-bench" / "gqa_paged_decode_h32_kv4"
    visit.run("recipes", "search by recipes", [options.programs / "accelopt", "run", task, "--agents", "recipes", "--device", "cuda:0", "--iterations", 1,
                                              "--plans", 6, "--max-time", f"{options.most_recipes}s", "--verbose", "--knowledge", "none",
                                              "--workspace", SCRATCH / "workspace"], options.most_recipes + 40, say=lambda line: True)


STEPS = {"facts": facts, "replay": replay, "bits": bits, "losers": losers, "suite": suite, "exploits": exploits, "recipes": recipes}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("pack", "run"))
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--corpus", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=int, default=530, help="of all steps together")
    parser.add_argument("--sessions", type=int, default=60, help="races of identical kernels a task")
    parser.add_argument("--most-replay", type=int, default=270, help="seconds; likewise the next three")
    parser.add_argument("--most-bits", type=int, default=130)
    parser.add_argument("--most-losers", type=int, default=80)
    parser.add_argument("--most-exploits", type=int, default=150)
    parser.add_argument("--most-recipes", type=int, default=80)
    parser.add_argument("--tests", nargs="+", default=[""], help="parts of the names of triton_replay.py's tests")
    parser.add_argument("--solutions", default="", help="a regular expression: whose bits")
    parser.add_argument("--tasks", nargs="+", default=["rmsnorm_h128", "segments", "fused_add_rmsnorm_h7168"], help="of the step losers")
    parser.add_argument("--only", nargs="+", choices=tuple(STEPS), default=tuple(STEPS))
    options = parser.parse_args()
    for name in ("programs", "out", "corpus"):
        setattr(options, name, getattr(options, name).resolve())
    if options.what == "pack":
        return pack(options.programs, options.out, options.corpus)
    os.environ.setdefault("ACCELOPT_PYTHON", sys.executable)
    os.environ.setdefault("XDG_CACHE_HOME", str(SCRATCH / "cache"))
    visit = Visit(options.out, options.seconds)
    for name in options.only:
        visit.say(f"== {name}")
        try:
            STEPS[name](visit, options)
        except Exception as problem:  # pylint: disable=broad-except
            visit.say(f"{name} broke off: {problem!r}")  # the others can still be had
    return 0


if __name__ == "__main__":
    sys.exit(main())
