# SPDX-License-Identifier: Apache-2.0
"""The two references of each task of flashinfer-bench compute the same: the one for the device runs here on threads.

A block's threads run side by side if they wait for one another, and one after the other if not.
"""

import concurrent.futures
import pathlib
import random
import re
import struct
import subprocess
import tempfile
import tomllib
import unittest

import support

SUITE = support.ROOT / "suites" / "flashinfer-bench"
LARGEST_DIFFERENCE = 1e-9  # of doubles that are added in another order, relative to the largest element

DEVICE = """\
#include <math.h>
#include <stdint.h>
#define __launch_bounds__(threads)
#define __global__
#define __device__
#define __shared__ static
struct Extents { unsigned x = 1, y = 1, z = 1; };
inline thread_local Extents blockIdx, threadIdx;
inline Extents blockDim;
void __syncthreads();
"""

MAIN = """\
#include <algorithm>
#include <barrier>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

static std::unique_ptr<std::barrier<>> meeting;
void __syncthreads() { meeting->arrive_and_wait(); }

template <class Kernel>
void launch(Extents grid, Extents block, bool waits, Kernel kernel) {
  blockDim = block;
  const auto thread = [&](unsigned number, Extents at) {
    blockIdx = at;
    threadIdx = {number % block.x, number / block.x, 0};
    kernel();
  };
  const unsigned threads = block.x * block.y;
  const auto blocks = [&](auto each) {
    for (unsigned z = 0; z < grid.z; ++z)
      for (unsigned y = 0; y < grid.y; ++y)
        for (unsigned x = 0; x < grid.x; ++x) each(Extents{x, y, z});
  };
  if (!waits) {
    blocks([&](Extents at) { for (unsigned i = 0; i < threads; ++i) thread(i, at); });
    return;
  }
  // The same threads for all blocks, one block after the other.
  const auto meet = [threads]() noexcept { meeting = std::make_unique<std::barrier<>>(threads); };
  meet();
  std::barrier next(threads, meet);
  std::vector<std::jthread> running;
  for (unsigned i = 0; i < threads; ++i)
    running.emplace_back([&, i] {
      blocks([&](Extents at) { thread(i, at); meeting->arrive_and_drop(); next.arrive_and_wait(); });
    });
}

int64_t cdiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

template <class T>
std::vector<T> read(const char* name, size_t count) {
  std::vector<T> out(count);
  FILE* const file = fopen(name, "rb");
  if (!file || fread(out.data(), sizeof(T), count, file) != count) { printf("cannot read %s\\n", name); exit(2); }
  fclose(file);
  return out;
}

int compare(const char* name, const std::vector<real>& a, const std::vector<real>& b) {
  real largest = 0;
  for (const real x : a) largest = std::max(largest, std::isfinite(x) ? std::abs(x) : 0);
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || std::abs(a[i] - b[i]) <= LARGEST * largest) continue;
    printf("%s: %g and %g at index %zu\\n", name, a[i], b[i], i);
    return 1;
  }
  printf("%s: %zu elements up to %g\\n", name, a.size(), largest);
  return largest > 0 ? 0 : 1;
}
"""


def count_of(shape, axes):
    count = 1
    for axis in shape:
        count *= axes[axis]
    return count


def drawn(init, shape, axes, generator):
    """Elements as task.toml says, of the generators that the suite has."""
    name, arguments = re.fullmatch(r"(\w+)\((.*)\)", init).groups()
    values = [eval(argument, {}, dict(axes)) for argument in arguments.split(",")]  # our own files
    count = count_of(shape, axes)
    if name == "constant":
        return values * count
    if name == "normal":
        return [generator.gauss(*values) for _ in range(count)]
    if name == "uniform":
        return [generator.uniform(*values) for _ in range(count)]
    if name == "indptr":
        return [0, *sorted(generator.randrange(values[0] + 1) for _ in range(count - 2)), values[0]]
    rows = count // axes[shape[-1]]
    assert name == "distinct", init
    return [x for _ in range(rows) for x in generator.sample(range(*values), axes[shape[-1]])]


class Program:
    """Calls both references of a task on the same inputs, and compares what they write."""

    def __init__(self, task, folder):
        self.folder, self.source = folder, task
        self.toml = tomllib.loads((task / "task.toml").read_text(encoding="utf-8"))
        workload = next(w for w in self.toml["workloads"] if w["role"] == "check")
        self.fixed = {name: value for name, value in self.toml["axes"].items() if value != "var"}
        self.variable = {name: workload["axes"][name] for name in self.toml["axes"] if name not in self.fixed}
        self.axes = self.fixed | self.variable
        self.inits = workload.get("inputs", {})
        self.text = (task / "reference.cu").read_text(encoding="utf-8")

    def write_inputs(self, generator):
        for tensor in self.toml["inputs"]:
            values = drawn(self.inits.get(tensor["name"], tensor["init"]), tensor.get("shape", []), self.axes, generator)
            letter = "i" if tensor["dtype"] == "int32" else "d"
            (self.folder / tensor["name"]).write_bytes(struct.pack(f"{len(values)}{letter}", *values))

    def header(self):
        fixed = ", ".join(f"{name} = {value}" for name, value in self.fixed.items())
        return f"#pragma once\n{DEVICE}using real = double;\n" + (f"enum {{ {fixed} }};\n" if fixed else "")

    def main(self):
        body, types = [], {}
        for name, value in self.variable.items():
            body.append(f"const int64_t {name} = {value};")
        for tensor in self.toml["inputs"]:
            kind = "int32_t" if tensor["dtype"] == "int32" else "real"
            count = count_of(tensor.get("shape", []), self.axes)
            body.append(f'auto {tensor["name"]} = read<{kind}>("{tensor["name"]}", {count});')
            types[tensor["name"]] = f"const {kind}*" if "shape" in tensor else kind
        for output in self.toml["outputs"]:
            count = count_of(output["shape"], self.axes)
            body.append(f"std::vector<real> {output['name']}({count}, -1), expected_{output['name']}({count}, -2);")
            types[output["name"]] = "real*"
        for name, kind, shape in re.findall(r"^//@ scratch (\w+) (\w+) \[(.*)\]$", self.text, re.M):
            kind = "int32_t" if kind == "int32" else "real"
            count = "*".join(f"({extent})" for extent in shape.split(","))
            body.append(f"std::vector<{kind}> {name}({count}, 77);")
            types[name] = f"{kind}*"
        outputs = [output["name"] for output in self.toml["outputs"]]
        given = [tensor["name"] for tensor in self.toml["inputs"]] + outputs + list(self.variable)
        passed = ", ".join(self.argument(f"expected_{name}" if name in outputs else name, types.get(name)) for name in given)
        declared = [f'extern "C" void reference({", ".join(types.get(name, "int64_t") for name in given)});']
        body.append(f"reference({passed});")
        waits = "true" if "__syncthreads" in self.text else "false"
        for kernel, grid, block, names in re.findall(r"^//@ launch (\w+) grid=\((.*)\) block=\((.*)\) args=\((.*)\)$", self.text, re.M):
            names = names.split(", ")
            declared.append(f'extern "C" void {kernel}({", ".join(types.get(name, "int64_t") for name in names)});')
            passed = ", ".join(self.argument(name, types.get(name)) for name in names)
            grid = ", ".join(f"unsigned({extent})" for extent in re.split(r", (?![^(]*\))", grid))
            body.append(f"launch({{{grid}}}, {{{block}}}, {waits}, [&] {{ {kernel}({passed}); }});")
        body.append("return " + " | ".join(f'compare("{name}", expected_{name}, {name})' for name in outputs) + ";")
        return '#include "task.h"\n' + MAIN + "\n".join(declared) + "\n\nint main() {\n  " + "\n  ".join(body) + "\n}\n"

    @staticmethod
    def argument(name, kind):
        if kind is None:  # an axis
            return name
        return f"{name}.data()" if kind.endswith("*") else f"{name}[0]"

    def compile(self):
        (self.folder / "task.h").write_text(self.header(), encoding="utf-8")
        (self.folder / "main.cpp").write_text(self.main(), encoding="utf-8")
        device = self.folder / "device.cpp"
        device.write_text('#include "task.h"\n' + self.text, encoding="utf-8")
        return subprocess.run(
            ["g++", "-std=c++20", "-O1", "-pthread", f"-DLARGEST={LARGEST_DIFFERENCE}", "-I.", "main.cpp", "device.cpp",
             self.source / "reference.cpp", "-o", "program"], cwd=self.folder, capture_output=True, text=True)

    def run(self):
        return subprocess.run(["./program"], cwd=self.folder, capture_output=True, text=True, timeout=300)


class References(unittest.TestCase):
    def compare(self, task, seed):
        with tempfile.TemporaryDirectory() as folder:
            program = Program(task, pathlib.Path(folder))
            program.write_inputs(random.Random(seed))
            built = program.compile()
            if built.returncode != 0:
                return built.stderr
            ran = program.run()
            return ran.stdout + ran.stderr if ran.returncode != 0 else ""

    def test_both_references_agree(self):
        tasks = sorted(path.parent for path in SUITE.glob("*/task.toml"))
        self.assertEqual(len(tasks), 9)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for task, problem in zip(tasks, pool.map(lambda task: self.compare(task, seed=20), tasks)):
                with self.subTest(task.name, seed=20):
                    self.assertEqual(problem, "")


if __name__ == "__main__":
    support.main()
