# SPDX-License-Identifier: Apache-2.0
"""The vendor's package as this project's tests have it: the interface of `neuronxcc.nki` of SDK 2.25 as far as a kernel is compiled, run and traced
by it, with this project's own front end and simulator behind. No device is anywhere near. A kernel's file may ask for a failure:

    STANDIN_FAILS = "compile", "run", "hang", "profile", "lost", "busy", "crash"
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import threading

import numpy as np
from accelopt_nki import trace as recording
from accelopt_nki.tensors import Tensor, dense

from . import compiler, isa, language, typing  # noqa: F401
from ._front_end import Kernel, jit, trace  # noqa: F401

SIMULATOR = pathlib.Path(sys.prefix) / "bin" / "neuron_simulator"
NOISE = 0.004  # of a time: what is measured is never the same twice


def simulate(*words):
    done = subprocess.run([SIMULATOR, *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())


def traced(kernel, arguments):
    """What the simulator is told, and the shapes of the outputs."""
    recording.kernel_files.add(kernel.function.__code__.co_filename)
    current = recording.begin()
    given, inputs = [], []
    for number, value in enumerate(arguments):
        if not isinstance(value, np.ndarray):
            given.append(value)
            continue
        name = f"in{number}"
        given.append(Tensor(current.buffer("input", name, value.shape), 0, dense(value.shape)))
        inputs.append({"name": name, "shape": list(value.shape), "value": value})
    returned = kernel(*given)
    tensors = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    outputs = [{"name": f"out{i}", "shape": list(tensor.shape)} for i, tensor in enumerate(tensors)]
    return {"outputs": [tensor.storage.number for tensor in tensors], **current.json()}, inputs, outputs, isinstance(returned, (tuple, list))


class Runner:
    def __init__(self, kernel, save_neff_name=None, save_trace_name=None, additional_compile_opt="", **_):
        if not isinstance(additional_compile_opt, str):
            raise TypeError("additional_compile_opt is a string")
        self.kernel = kernel if isinstance(kernel, Kernel) else Kernel(kernel)
        self.neff, self.ntff = save_neff_name, save_trace_name

    def __call__(self, *arguments):
        fails = self.kernel.function.__globals__.get("STANDIN_FAILS")
        if fails == "compile":
            raise RuntimeError("neuronx-cc failed with exit code 70: [GCA046] Allocation did not converge")
        program, inputs, outputs, several = traced(self.kernel, arguments)
        neff = pathlib.Path(self.neff or "unnamed.neff")
        call = {"trace": program, "inputs": [{**one, "value": None, "file": one["name"] + ".raw"} for one in inputs],
                "outputs": [{**one, "file": one["name"] + ".raw"} for one in outputs]}
        pathlib.Path("call.json").write_text(json.dumps(call))
        simulate("compile", "call.json", str(neff))
        if fails == "run":
            raise RuntimeError("nrt_execute failed with status 1006 (NRT_EXEC_OOB)")
        if fails == "lost":
            raise RuntimeError("nrt_execute failed with status 1202: an uncorrectable error of the core")
        if fails == "busy":
            raise RuntimeError("nrt_init failed, NRT_LOAD_NOT_ENOUGH_NC: logical core 0 is not available")
        if fails == "crash":
            os.abort()
        if fails == "hang":
            threading.Event().wait()
        for one in inputs:
            one["value"].tofile(one["name"] + ".raw")
        simulate("run", "call.json", str(neff))
        results = [np.fromfile(one["name"] + ".raw", dtype=np.float32).reshape(tuple(one["shape"])) for one in outputs]
        self.summary = json.loads(neff.read_text())
        self.summary["total_time"] *= 1 + NOISE * random.random()
        if self.ntff:
            pathlib.Path(self.ntff).write_text("torn" if fails == "profile" else json.dumps({"ntff_0": self.summary}) + "\n")
        return tuple(results) if several else results[0]


def baremetal(kernel=None, **options):
    return Runner(kernel, **options) if kernel is not None else lambda function: Runner(function, **options)


class Latency:
    def __init__(self, microseconds):
        self.microseconds = sorted(microseconds)

    def get_latency_percentile(self, percentile):
        return self.microseconds[min(len(self.microseconds) * percentile // 100, len(self.microseconds) - 1)]


class BenchmarkResult:
    def __init__(self, microseconds):
        self.nc_latency = Latency(microseconds)


class Benchmark(Runner):
    def __init__(self, kernel, warmup=10, iters=100, **options):
        super().__init__(kernel, **options)
        self.warmup, self.iters = warmup, iters

    def __call__(self, *arguments):
        result = super().__call__(*arguments)
        self.benchmark_result = BenchmarkResult(
            [1e6 * self.summary["total_time"] * (1 + NOISE * random.random()) for _ in range(self.iters)])
        return result


def benchmark(kernel=None, **options):
    return Benchmark(kernel, **options) if kernel is not None else lambda function: Benchmark(function, **options)
