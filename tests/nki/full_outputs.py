#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole outputs of the public NKI benchmark's kernels at their published sizes, held against its own NumPy references.

    full_outputs.py CHECKOUT BENCH [--only OPERATOR]... [--mutants N] [--seed N]

Run by hand, with a Python that has numpy: CHECKOUT is a user's copy of the benchmark's repository, whose references this
executes; BENCH is the program bench/nki. A kernel passes with a relative L2 error of at most 1e-6; where it is larger, both are
also held against the same reference on inputs in double, which tells whose error it is. Of each kernel up to N
mutants (default 2) have to be refused, or to miss the benchmark's own tolerance, 2e-5."""

import argparse
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

MOST_ERROR = 1e-6
TOLERANCE = 2e-5
# What changes a result, wherever it stands in a kernel: the first place of each that it has is changed.
MUTATIONS = [(r"\bop=np\.add\b", "op=np.max"), (r"\bop0=nl\.multiply\b", "op0=nl.add"), (r"\bnp\.subtract\b|\bnl\.subtract\b", "nl.add"),
             (r"\bnl\.add\(", "nl.subtract("), (r"\bop=nl\.exp\b", "op=nl.square"), (r"\bop=np\.multiply\b", "op=np.add"),
             (r"\bnl\.multiply\(", "nl.add("), (r"\+=", "="), (r"affine_range\((\d*[02468])\)", lambda m: f"affine_range({int(m[1]) // 2})")]


def reference_of(checkout, name):
    cases = json.loads((checkout / "NKIBench/summary.json").read_text())[name]["cases"]
    implementation = next(iter(cases.values()))["impls"][0]
    spec = importlib.util.spec_from_file_location(f"reference_{name}", checkout / "NKIBench" / implementation["task"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, checkout / "NKIBench" / implementation["kernel"]


def mutants(source, most):
    made = []
    for pattern, replacement in MUTATIONS:
        text, count = re.subn(pattern, replacement, source, count=1)
        if count and text != source and len(made) < most:
            made.append((pattern, text))
    return made


def output_of(folder):
    return np.fromfile(folder / "out.f32", dtype=np.float32)


def error_of(output, expected):
    """Relative L2, in double."""
    output, expected = (np.asarray(one).ravel().astype(np.float64) for one in (output, expected))
    if output.size != expected.size or not np.isfinite(output).all():
        return float("inf")
    return float(np.linalg.norm(output - expected) / np.linalg.norm(expected))


def in_double(module, inputs, output, expected):
    """How far the kernel's output and the reference's are from the reference on inputs in double."""
    exact = module.forward(*(one.astype(np.float64) if isinstance(one, np.ndarray) else one for one in inputs))
    return f"; from the reference in double the kernel is {error_of(output, exact):.2g} off, the reference {error_of(expected, exact):.2g}"


def check(options, name):
    module, kernel = reference_of(options.checkout, name)
    np.random.seed(options.seed)
    inputs = module.get_inputs()
    expected = module.forward(*inputs)
    good = True
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        tensors = [one for one in module.transform_to_nki_inputs(inputs) if isinstance(one, np.ndarray)]
        for number, tensor in enumerate(tensors):
            np.ascontiguousarray(tensor, dtype=np.float32).tofile(folder / f"in{number}.f32")

        def run(*more):
            (folder / "out.f32").unlink(missing_ok=True)
            begun = time.monotonic()
            done = subprocess.run([options.bench, options.checkout, "--execute", name, folder, *more], capture_output=True, text=True)
            return done, time.monotonic() - begun
        done, seconds = run()
        error = error_of(output_of(folder), expected) if done.returncode == 0 else float("inf")
        passed = error <= MOST_ERROR
        more = done.stderr.strip()[:300] if passed or done.returncode else in_double(module, inputs, output_of(folder), expected)
        print(f"{'PASSED' if passed else 'FAILED'} {name}: relative L2 {error:.2g}, {seconds:.1f} s {more}", flush=True)
        good = good and passed
        for pattern, text in mutants(kernel.read_text(), options.mutants):
            (folder / "mutant.py").write_text(text)
            done, _ = run(folder / "mutant.py")
            error = error_of(output_of(folder), expected) if done.returncode == 0 else float("inf")
            caught = error > TOLERANCE
            why = f"relative L2 {error:.2g}" if done.returncode == 0 else done.stderr.strip().splitlines()[-1][:160]
            print(f"    {'caught' if caught else 'MISSED'} mutant {pattern}: {why}", flush=True)
            good = good and caught
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("bench", type=pathlib.Path)
    parser.add_argument("--only", action="append")
    parser.add_argument("--mutants", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    known = json.loads((options.checkout / "NKIBench/summary.json").read_text())
    results = [check(options, name) for name in sorted(options.only or known)]
    print(f"{sum(results)} of {len(results)} as they should be")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
