#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures, on a Neuron core, the constants that the model of Trainium has from recorded profiles, from documents, or from nowhere.

    ENV/bin/python3 scripts/neuron-constants.py -o constants.json [--core 0] [--repeat 3]
    ACCELOPT_TRAINIUM_CONSTANTS=constants.json accelopt eval TASK KERNEL --device trn1:model

ENV is a Python environment with `neuronxcc` of SDK 2.25 to 2.29; `neuron-profile` is looked for beside it, on the PATH and in /opt/aws/neuron/bin. 34
kernels, each compiled once and run --repeat times: chains of one instruction in two lengths, so that what is around them cancels out, and in several
widths, so that the cost of an element and that of an instruction come apart (docs/nki.md, "On a Trainium").
"""

import argparse
import array
import importlib.util
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

SCHEMA = 1
TOOLS = "/opt/aws/neuron/bin"
COMPILE_OPTIONS = "--disable-dge --logical-nc-config=1"
PARTITIONS, ENGINES, ELEMENT_BYTES, FLOAT32_PASSES = 128, 16, 4, 4
HEAD = """\
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    y = nl.ndarray(({p}, {n}), dtype=x.dtype, buffer=nl.shared_hbm)
"""


def chain(first, step, last, n, times):
    lines = first + [step.format(i=i, j=i + 1, n=n) for i in range(times)] + last
    return HEAD.format(p=PARTITIONS, n=n) + "".join(f"    {line.format(t=times, n=n)}\n" for line in lines) + "    return y\n"


def elementwise(step):
    """t0 is the input; each step makes t{j} of t{i}."""
    return lambda n, times: (chain(["t0 = nl.load(x)"], step, ["nl.store(y, t{t})"], n, times), (PARTITIONS, n))


def multiplications(n, times):
    """Columns that go through the tensor engine, added up in PSUM."""
    first = ["a = nl.load(x[0:128, 0:128])", "b = nl.load(x[0:128, 128:{end}])".replace("{end}", str(128 + n)),
             "p = nl.zeros((nl.par_dim(128), {n}), nl.float32, buffer=nl.psum)"]
    return chain(first, "p += nisa.nc_matmul(a, b)", ["nl.store(y, nl.copy(p))"], n, times), (PARTITIONS, 128 + n)


def loads(n, times):
    """Rows of n elements from HBM: what adds them up is quicker than they come."""
    first = ["s0 = nisa.tensor_reduce(nl.add, nl.load(x[0:128, 0:{n}]), axis=[1])"]
    source = HEAD.format(p=PARTITIONS, n=1) + "".join(
        f"    {line}\n" for line in [first[0].format(n=n)] + [
            f"s{i + 1} = nl.add(s{i}, nisa.tensor_reduce(nl.add, nl.load(x[{128 * (i + 1)}:{128 * (i + 2)}, 0:{n}]), axis=[1]))"
            for i in range(times)] + [f"nl.store(y, s{times})"]) + "    return y\n"
    return source, (PARTITIONS * (times + 1), n)


def journeys(n, times):
    """To HBM and back, each waiting for the one before."""
    lines = ["t0 = nl.load(x)"]
    for i in range(times):
        lines += [f"h{i} = nl.ndarray((128, {n}), dtype=nl.float32, buffer=nl.hbm)", f"nl.store(h{i}, t{i})", f"t{i + 1} = nl.load(h{i})"]
    lines.append(f"nl.store(y, t{times})")
    return HEAD.format(p=PARTITIONS, n=n) + "".join(f"    {line}\n" for line in lines) + "    return y\n", (PARTITIONS, n)


# What is repeated, its widths in elements, and how often in a short and in a long chain.
FAMILIES = {
    "vector": (elementwise("t{j} = nisa.tensor_tensor(t{i}, t{i}, nl.maximum)"), (128, 512, 1024), (16, 64)),
    "scalar": (elementwise("t{j} = nisa.activation(nl.sqrt, t{i})"), (128, 512, 1024), (16, 64)),
    "reciprocal": (elementwise("t{j} = nisa.reciprocal(t{i})"), (128, 512, 1024), (16, 64)),
    "tensor": (multiplications, (128, 256, 512), (16, 64)),
    "load": (loads, (64, 256, 1024, 2048), (8, 40)),
    "journey": (journeys, (64,), (2, 8)),
}


def find_profiler():
    places = [pathlib.Path(sys.executable).parent, *map(pathlib.Path, os.environ.get("PATH", "").split(":")), pathlib.Path(TOOLS)]
    for place in places:
        if os.access(place / "neuron-profile", os.X_OK):
            return place / "neuron-profile"
    raise SystemExit(f"there is no neuron-profile beside {sys.executable}, on the PATH or in {TOOLS}: install aws-neuronx-tools")


class Bench:
    """Runs kernels in a folder of its own."""

    def __init__(self, folder, repeat):
        import numpy as np
        from neuronxcc import nki
        self.np, self.nki = np, nki
        self.folder, self.repeat, self.profiler, self.count = folder, repeat, find_profiler(), 0

    def ones(self, shape):
        path = self.folder / "x.raw"
        with path.open("wb") as file:
            for _ in range(shape[0]):
                array.array("f", [1.0] * shape[1]).tofile(file)
        return self.np.fromfile(str(path), dtype=self.np.float32).reshape(tuple(shape))

    def kernel(self, source):
        self.count += 1
        path = self.folder / f"kernel{self.count}.py"
        path.write_text(source, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        return module.kernel

    def nanoseconds(self, source, shape):
        """Of the device's own trace, of each run."""
        kernel, x, times = self.kernel(source), self.ones(shape), []
        for _ in range(self.repeat):
            for name in ("file.neff", "profile.ntff"):
                pathlib.Path(name).unlink(missing_ok=True)
            self.nki.baremetal(kernel, save_neff_name="file.neff", save_trace_name="profile.ntff", additional_compile_opt=COMPILE_OPTIONS)(x)
            told = subprocess.run([self.profiler, "view", "--output-format", "summary-json", "-n", "file.neff", "-s", "profile.ntff"],
                                  capture_output=True, text=True, check=False)
            if told.returncode != 0:
                raise SystemExit(f"{self.profiler}: {told.stderr.strip()}")
            times.append(1e9 * next(iter(json.loads(told.stdout).values()))["total_time"])
        return times


def line_through(points):
    """Slope and intercept, by least squares."""
    xs, ys = zip(*points)
    mean_x, mean_y = statistics.fmean(xs), statistics.fmean(ys)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x in xs)
    return slope, mean_y - slope * mean_x


def constants_of(samples):
    """What the samples say, by the names of src/targets/trainium/chip.hpp."""
    def each(family):
        """Nanoseconds of one more instruction, by width."""
        medians = {(one["elements"], one["times"]): statistics.median(one["ns"]) for one in samples if one["family"] == family}
        _, widths, (short, long) = FAMILIES[family]
        return [(n, (medians[n, long] - medians[n, short]) / (long - short)) for n in widths]

    out = {}
    slope, start = line_through([(2 * n, ns) for n, ns in each("vector")])  # two tiles of SBUF: two cycles an element
    out["vector_ghz"], out["vector_start"] = 1 / slope, start / slope
    slope, start = line_through(each("scalar"))
    out["scalar_ghz"], out["scalar_start"] = 1 / slope, start / slope
    out["reciprocal"] = line_through(each("reciprocal"))[0] * out["vector_ghz"]
    out["tensor_ghz"] = FLOAT32_PASSES / line_through(each("tensor"))[0]
    # A load is a descriptor a partition, over all engines.
    rows = PARTITIONS / ENGINES
    slope, start = line_through([(ELEMENT_BYTES * n, ns / rows) for n, ns in each("load")])
    out["dma_bytes_per_ns"], out["descriptor_ns"] = 1 / slope, start
    (n, hop), = each("journey")
    transfer = rows * (out["descriptor_ns"] + ELEMENT_BYTES * n / out["dma_bytes_per_ns"])
    out["dma_latency_ns"] = hop / 2 - transfer
    short = FAMILIES["journey"][2][0]
    whole = statistics.median(next(one["ns"] for one in samples if one["family"] == "journey" and one["times"] == short))
    out["start_ns"] = whole - (short + 1) * hop
    return out


def machine():
    try:
        return pathlib.Path("/sys/devices/virtual/dmi/id/product_name").read_text(encoding="utf-8").strip()
    except OSError:
        return platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    output = options.output.resolve()
    os.environ["NEURON_RT_VISIBLE_CORES"] = str(options.core)
    os.environ["NEURON_CC_FLAGS"] = "--auto-cast=none"
    folder = pathlib.Path(tempfile.mkdtemp(prefix="neuron-constants-"))
    os.chdir(folder)  # where the vendor's package leaves its files
    try:
        bench = Bench(folder, options.repeat)
        samples = []
        for family, (make, widths, lengths) in FAMILIES.items():
            for n in widths:
                for times in lengths:
                    source, shape = make(n, times)
                    ns = bench.nanoseconds(source, shape)
                    samples.append({"family": family, "elements": n, "times": times, "ns": ns})
                    print(f"{family:12} {n:5} elements, {times:3} times: {statistics.median(ns) / 1e3:9.2f} us", flush=True)
    finally:
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)
    import neuronxcc
    constants = constants_of(samples)
    output.write_text(json.dumps({"schema": SCHEMA, "neuronxcc": str(getattr(neuronxcc, "__version__", "?")), "machine": machine(),
                                  "constants": constants, "samples": samples}, indent=1) + "\n", encoding="utf-8")
    for name, value in constants.items():
        print(f"{name:18} {value:10.4g}")


if __name__ == "__main__":
    main()
