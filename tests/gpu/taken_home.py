#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packages of `accelopt best --as` on a device: each builds and passes its own test there, operators work under torch.compile, and a
winner keeps its speed-up in a CUDA graph.

    taken_home.py BIN --write FOLDER    writes the packages with BIN/accelopt; needs no device
    taken_home.py --packages FOLDER     builds, tests and times them; needs a device, nvcc, PyTorch and Triton, and nothing of accelopt
    taken_home.py BIN                   both"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = ROOT / "examples" / "recorded" / "nkibench-cuda"
WINNERS = ("silu", "rmsnorm_matmul", "matmul")
HONEST = ROOT / "exploits" / "cuda"  # a kernel with tensor maps in a cluster, which no recorded winner has
TRITON = ROOT / "suites" / "flashinfer-bench" / "rmsnorm_h128"
KEPT = 0.03  # of the speed-up, on the device that it was recorded on
RECORDED_ON = "H200"

# Prints microseconds of a call in a CUDA graph, of a call from Python, and of launching: the best of several rounds each.
TIMING = r"""
import sys, time, pathlib
folder, name = sys.argv[1:3]
sys.path[:0] = [folder, folder + "/test"]
import torch, check, importlib
operator = importlib.import_module(name)
work = max(check.TASK["workloads"], key=lambda one: sum(torch.Size(t["shape"]).numel() for t in one["tensors"]))
order = [t["name"] for t in work["tensors"] if t["part"] != "output"]
inputs = check.inputs_of(work)
given = [inputs[n] for n in order]
function = getattr(operator, name)
for _ in range(3):
    function(*given)
torch.cuda.synchronize()
def seconds(run, rounds=9):
    times = []
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record(); run(); end.record(); end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return sorted(times)[len(times) // 2]
begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
begin.record(); function(*given); end.record(); end.synchronize()
calls = max(2, min(50, int(20e3 / max(begin.elapsed_time(end) * 1e3, 1))))
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    for _ in range(calls):
        function(*given)
graph.replay(); torch.cuda.synchronize()
in_graph = seconds(graph.replay) / calls
eager = seconds(lambda: [function(*given) for _ in range(calls)]) / calls
small = min(check.TASK["workloads"], key=lambda one: sum(torch.Size(t["shape"]).numel() for t in one["tensors"]))
inputs = check.inputs_of(small)
given = [inputs[n] for n in order]
function(*given); torch.cuda.synchronize()
launching = []
for _ in range(200):
    start = time.perf_counter(); function(*given); launching.append(1e6 * (time.perf_counter() - start))
torch.cuda.synchronize()
print(in_graph, eager, sorted(launching)[100], torch.cuda.get_device_name().replace(" ", "_"))
"""


def run(*words, **options):
    """The command, its output captured; None and the output on failure."""
    began = time.monotonic()
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=200, **options)
    return done.returncode, done.stdout + done.stderr, time.monotonic() - began


class Report:
    def __init__(self):
        self.failed = []

    def say(self, right, what, detail=""):
        print(f"{'ok    ' if right else 'FAILED'} {what}" + (f": {detail}" if detail else ""), flush=True)
        if not right:
            self.failed.append(what)

    def command(self, what, *words, **options):
        code, output, seconds = run(*words, **options)
        tail = " / ".join(line.strip() for line in output.strip().splitlines()[-6 if code == 0 else -40:])
        self.say(code == 0, f"{what} ({seconds:.0f} s)", tail[-1500:])
        return code == 0


def write(program, folder):
    """The packages: winners and their baselines as operators, winners as C++, a Triton solution in both of its forms."""
    def best(form, to, *of):
        subprocess.run([str(program), "best", "--as", form, "--output", str(folder / to), "--force", *map(str, of)], check=True)

    for name in WINNERS:
        task, winner = ROOT / "suites" / "nkibench-cuda" / name, RECORDED / name / "winner.cu"
        best("torch", f"torch/{name}", "--task", task, "--solution", winner)
        best("torch", f"baseline/{name}", "--task", task)
        best("cuda", f"cuda/{name}", "--task", task, "--solution", winner)
    for form in ("torch", "cuda"):
        best(form, f"{form}/tensor_maps", "--task", HONEST / "tasks" / "matmul", "--solution", HONEST / "honest" / "multicast_in_a_cluster.cu")
    best("torch", "torch/rmsnorm_h128", "--task", TRITON)
    best("triton", "triton/rmsnorm_h128", "--task", TRITON)


def package_name(folder):
    """What the package in the folder is called: by its test's name."""
    return next((folder / "test").glob("test_*.py")).stem.removeprefix("test_")


def build_by_cmake(report, folder, name, architecture):
    built = report.command(f"cuda {name}: cmake", "cmake", "-S", folder, "-B", folder / "build", f"-DKERNEL_ARCHITECTURE={architecture}")
    return built and report.command(f"cuda {name}: build", "cmake", "--build", folder / "build", "-j", "4")


def check_cuda(report, packages, architecture):
    for folder in sorted((packages / "cuda").iterdir()):
        if shutil.which("cmake") is None:
            print(f"skipped cuda {folder.name}: no cmake; its files are built by the operator's test")
        elif build_by_cmake(report, folder, folder.name, architecture):
            report.command(f"cuda {folder.name}: test", "ctest", "--test-dir", folder / "build", "--verbose")


def check_python(report, packages):
    for form in ("torch", "triton"):
        for folder in sorted((packages / form).iterdir()):
            report.command(f"{form} {folder.name}: test", sys.executable, folder / "test" / f"test_{package_name(folder)}.py")


def timed(report, folder, name):
    code, output, _ = run(sys.executable, "-c", TIMING, folder, name)
    if code != 0:
        report.say(False, f"timing {folder}", output[-1500:])
        return None
    *numbers, device = output.split()[-4:]
    return [float(number) for number in numbers] + [device]


def check_speed(report, packages):
    for folder in sorted((packages / "torch").iterdir()):
        winner = timed(report, folder, package_name(folder))
        if winner is None:
            continue
        print(f"       {folder.name}: {winner[0]:.1f} us in a CUDA graph, {winner[1]:.1f} us a call from Python, {winner[2]:.1f} us to launch, on {winner[3]}")
        baseline = timed(report, packages / "baseline" / folder.name, folder.name) if (packages / "baseline" / folder.name).exists() else None
        if baseline is None:
            continue
        speedup = baseline[0] / winner[0]
        recorded = json.loads((RECORDED / folder.name / "measurements.json").read_text(encoding="utf-8"))["result"]["speedup"]
        off = speedup / recorded["estimate"] - 1
        fits = off > -KEPT or RECORDED_ON not in winner[3]
        report.say(fits, f"speed-up of {folder.name}", f"{speedup:.3f}x in a CUDA graph ({baseline[0]:.1f} us / {winner[0]:.1f} us), {recorded['estimate']:.3f}x "
                   f"({recorded['low']:.3f} to {recorded['high']:.3f}) recorded on an {RECORDED_ON}: {100 * off:+.1f} %")


def missing():
    """The first tool that is not there; empty: all are."""
    code, output, _ = run(sys.executable, "-c", "import torch, triton; assert torch.cuda.is_available(), 'no CUDA device'; "
                          "print('sm_%d%d' % torch.cuda.get_device_capability(), torch.__version__, triton.__version__)")
    if code != 0:
        return "no CUDA device, PyTorch or Triton: " + output.strip().splitlines()[-1], ""
    if shutil.which("nvcc") is None and not pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "nvcc").exists():
        return "no CUDA driver's compiler: nvcc is not there", ""
    print("PyTorch and Triton:", output.split()[-2:])
    return "", output.split()[-3]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("bin", nargs="?", type=pathlib.Path)
    options.add_argument("--write", type=pathlib.Path)
    options.add_argument("--packages", type=pathlib.Path)
    given = options.parse_args()
    if given.write:
        write(given.bin / "accelopt", given.write)
        return 0
    reason, architecture = missing()
    if reason:
        print(f"skipped: {reason}; no CUDA device test was run")
        return 77
    report = Report()
    with tempfile.TemporaryDirectory() as work:
        packages = pathlib.Path(work) / "packages"
        os.environ["XDG_CACHE_HOME"] = work
        if given.packages:
            shutil.copytree(given.packages, packages)
        else:
            write(given.bin / "accelopt", packages)
        check_python(report, packages)
        check_cuda(report, packages, architecture + ("a" if architecture >= "sm_90" else ""))
        check_speed(report, packages)
    print(f"{len(report.failed)} failed" + "".join(f"\n  {what}" for what in report.failed))
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
