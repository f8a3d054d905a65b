#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times of a library's call for a task of suites/flashinfer-bench, as `accelopt eval TASK FILE --against NAME=!COMMAND` wants
them: nanoseconds of single calls, a line each.

library_times.py TASK LIBRARY [--seed N] [--json] [--file FILE] [--seconds N]
library_times.py --prepare flashinfer [--seconds N]

LIBRARY is one of these, or several with commas between them (with --json: a line each, and lines before it of what was the fastest until then):
    torch          the fastest call of PyTorch that is right, as a CUDA graph
    flashinfer     FlashInfer's wrappers, plan() outside of the timed part
    published-run  the function `run` of --file as its users have it: the host's time counts, and nothing is verified
    routing        what moe_fp8_block_scale_topk8 has as inputs, computed from logits by PyTorch

Offsets, page tables and lengths are those that accelopt draws for `--seed`, a slot after the other; other numbers have the
same distribution. The second-level cache is overwritten before each call. A call counts as right if no element differs from a
computation in float32 by more than TOLERANCE of that one's largest element. --prepare compiles FlashInfer's modules, all at
the same time, where they do not come with it.
"""

import argparse
import concurrent.futures
import contextlib
import hashlib
import json
import math
import os
import pathlib
import re
import statistics
import sys
import time
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import library_calls  # noqa: E402

SUITE = pathlib.Path(__file__).resolve().parents[2] / "suites" / "flashinfer-bench"
LIBRARIES = ("torch", "flashinfer", "published-run", "routing")
TOLERANCE = 0.02
SLOTS = 4
SHORT_NS, SHORT_SLOTS = 30_000, 32  # shorter calls are timed over as many sets of inputs, one right after the other
SAMPLES, MOST_SECONDS = 60, 1.5

# The suite's own draws, as src/evaluation/verify/inputs.cpp has them.
MASK, GOLDEN, SHUFFLE = (1 << 64) - 1, 0x9E3779B97F4A7C15, 5


def mix(bits):
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
    return bits ^ (bits >> 31)


def uniform(seed):
    key = mix((mix(seed) + SHUFFLE * GOLDEN) & MASK)
    return lambda place: (mix((key + (place + 1) * GOLDEN) & MASK) >> 12) / 2**52 + 2.0**-53


def input_seed(run_seed, workload, slot, name):
    slots = int.from_bytes(hashlib.sha256(run_seed.to_bytes(8, "little") + b"slots").digest()[:8], "little")
    seed = mix((slots + GOLDEN) & MASK)

    def absorbed(seed, text):
        seed = mix(seed ^ ((len(text) + GOLDEN) & MASK))
        for letter in text.encode():
            seed = mix(seed ^ letter)
        return seed

    return absorbed(mix((absorbed(seed, workload) + slot * GOLDEN) & MASK), name)


def drawn_indptr(seed, count, total):
    at = uniform(seed)
    return sorted([0, *(int(at(i) * (total + 1)) for i in range(1, count - 1)), total])


def drawn_distinct(seed, count, low, high, first=0):
    at, moved, out = uniform(seed), {}, []
    for i in range(count):
        place = i + int(at(first + i) * (high - low - i))
        out.append(moved.get(place, low + place))
        moved[place] = moved.get(i, low + i)
    return out


class Task:
    """A task's race workload."""

    def __init__(self, folder):
        text = tomllib.loads((folder / "task.toml").read_text(encoding="utf-8"))
        self.name, self.inputs = text["name"], text["inputs"]
        races = [one for one in text["workloads"] if one["role"] == "race"]
        self.workload = next(one for one in races if one["name"] == os.environ.get("ACCELOPT_WORKLOAD", races[0]["name"]))
        self.axes = {**{name: value for name, value in text["axes"].items() if value != "var"}, **self.workload["axes"]}

    def init_of(self, given):
        return self.workload.get("inputs", {}).get(given["name"], given["init"])

    def shape_of(self, given):
        return [self.axes[axis] for axis in given["shape"]]

    def structure(self, given, seed, slot):
        """The numbers of an input that accelopt draws whole; none: of another one."""
        kind, arguments = re.fullmatch(r"(\w+)\((.*)\)", self.init_of(given)).groups()
        arguments = [part.strip() for part in arguments.split(",")]
        own = input_seed(seed, self.workload["name"], slot, given["name"])
        if kind == "values":
            return [int(part) for part in arguments]
        if kind == "indptr":
            return drawn_indptr(own, self.shape_of(given)[0], self.axes[arguments[0]])
        if kind == "distinct" and len(given["shape"]) == 1:
            return drawn_distinct(own, self.shape_of(given)[0], *(self.axes.get(part) if part in self.axes else int(part) for part in arguments))
        return None


def drawn(task, seed, slot, shared):
    """A slot's inputs by name. Those without structure are drawn once, into `shared`."""
    import torch
    out = {}
    generator = torch.Generator(library_calls.DEVICE).manual_seed((seed * 1000003 + slot) % (1 << 63))
    for given in task.inputs:
        name, dtype = given["name"], getattr(torch, given["dtype"])
        kind, arguments = re.fullmatch(r"(\w+)\((.*)\)", task.init_of(given)).groups()
        if "shape" not in given:
            out[name] = int(arguments) if given["dtype"].startswith("int") else float(arguments)
        elif (numbers := task.structure(given, seed, slot)) is not None:
            out[name] = torch.tensor(numbers, dtype=dtype, device=library_calls.DEVICE)
            out[f"{name} on the host"] = numbers
        elif name in shared:
            out[name] = shared[name]
        else:
            shape = task.shape_of(given)
            if kind == "distinct":  # rows: the experts of a token
                value = torch.rand(shape[0], task.axes["num_experts"], generator=generator, device=library_calls.DEVICE).topk(shape[1]).indices.to(dtype)
            elif kind == "uniform":
                low, high = map(float, arguments.split(","))
                value = (torch.rand(shape, generator=generator, device=library_calls.DEVICE) * (high - low) + low).to(dtype)
            elif math.prod(shape) > 1 << 28:
                value = torch.empty(shape, dtype=dtype, device=library_calls.DEVICE)
                for part in value.view(-1).split(1 << 27):
                    part.copy_(torch.randn(part.shape, generator=generator, device=library_calls.DEVICE))
            else:
                value = torch.randn(shape, generator=generator, device=library_calls.DEVICE).to(dtype)
            out[name] = shared[name] = value
    return out


# Timing.
class Clock:
    def __init__(self):
        import torch
        self.torch = torch
        self.lines = torch.empty(4 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.int8, device=library_calls.DEVICE)

    def captured(self, calls):
        """One graph of all these calls, one after the other."""
        torch = self.torch
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for call in calls:
                call()
                call()
        torch.cuda.current_stream().wait_stream(stream)
        graph, kept = torch.cuda.CUDAGraph(), []
        with torch.cuda.graph(graph):
            for call in calls:
                kept.append(call())
        return graph, kept

    def timed(self, calls, samples=SAMPLES, seconds=MOST_SECONDS, best_ns=math.inf):
        """Nanoseconds, call after call in turn; few of what takes twice as long as the best, which it is not."""
        torch = self.torch
        for call in calls:
            call()
        torch.cuda.synchronize()
        pairs, end = [], time.monotonic() + seconds
        while len(pairs) < samples and (len(pairs) < 6 or time.monotonic() < end and pairs[-1][0].elapsed_time(pairs[-1][1]) * 1e6 < 2 * best_ns):
            for call in calls:
                begin, done = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                self.lines.zero_()
                begin.record()
                call()
                done.record()
                pairs.append((begin, done))
            torch.cuda.synchronize()
        return [max(begin.elapsed_time(done) * 1e6, 1.0) for begin, done in pairs]

    def as_graphs(self, calls, best_ns=math.inf):
        kept = [self.captured([call]) for call in calls]
        graph, (result,) = kept[0]
        result = next(iter(result.values())) if isinstance(result, dict) else result[0] if isinstance(result, (list, tuple)) else result
        result.zero_()
        graph.replay()
        if not bool(result.any()):
            raise RuntimeError("the graph is empty: it launches on another stream")
        times = self.timed([graph.replay for graph, _ in kept], best_ns=best_ns)
        del kept
        return times

    def back_to_back(self, calls):
        graph, kept = self.captured(calls)
        times = [one / len(calls) for one in self.timed([graph.replay])]
        del kept
        return times


def largest_difference(found, expected):
    """Of the largest element; more than 1 if a number is missing."""
    found, expected = found.float(), expected.float()
    if found.shape != expected.shape or not bool(found.isfinite().all()):
        return math.inf
    return float((found - expected).abs().max() / expected.abs().max().clamp_min(1e-30))


def prepare(seconds):
    """Compiles what is not there yet; an object a line. Gives whether all are there."""
    begin, missing, whole = time.monotonic(), {}, True

    def say(name, state):
        print(json.dumps({"module": name, "state": state, "seconds": round(time.monotonic() - begin, 1)}), flush=True)

    for name, make in library_calls.flashinfer_specs().items():
        try:
            missing[name] = make()
            if missing[name].try_load() is not None:
                say(name, "came with it")
                del missing[name]
        except Exception as problem:  # pylint: disable=broad-except
            missing.pop(name, None)
            whole = False
            say(name, f"failed: {str(problem)[-300:]}")

    def build(name):
        try:
            missing[name].build(verbose=False)
            missing[name].load()
            say(name, "compiled")
            return True
        except Exception as problem:  # pylint: disable=broad-except
            say(name, f"failed: {str(problem)[-300:]}")
            return False

    pool = concurrent.futures.ThreadPoolExecutor(max(1, len(missing)))
    begun = {pool.submit(build, name): name for name in missing}
    done, late = concurrent.futures.wait(begun, timeout=max(0, seconds - (time.monotonic() - begin)))
    for one in late:
        say(begun[one], "failed: no time is left")
    return whole and not late and all(one.result() for one in done)


# One library.
def fastest(task, seed, library, clock, deadline, report=lambda found: None):
    """Times of the fastest call that is right, its name, and what was tried. What is found on the way is reported: one of them may not end."""
    import torch
    shared, slots = {}, []
    for slot in range(SLOTS):
        slots.append(drawn(task, seed, slot, shared))

    def calls_of(given):
        if library == "flashinfer":
            return library_calls.flashinfer_calls(task, given, shared)
        return library_calls.torch_calls(task, given) if library == "torch" else {"routing": lambda: library_calls.routed(*routing)}

    if library == "routing":
        routing = list(library_calls.moe_inputs(slots[0]).values())[:2]
        routing[1] = routing[1].float()
    wanted = None if library == "routing" else library_calls.expected(task, slots[0])
    calls = [calls_of(given) for given in (slots if "sm_scale" in slots[0] else slots[:1])]
    tried, best = {}, None
    for name, first in calls[0].items():
        if time.monotonic() > deadline:
            tried[name] = "left out: no time is left"
            continue
        try:
            if isinstance(first, Exception):
                raise first
            found = first()
            if wanted is not None and (difference := largest_difference(found[:len(wanted)], wanted)) > TOLERANCE:
                raise ValueError(f"not right: differs by {difference:.3g} of the largest element")
            del found
            own = [one[name] for one in calls]
            best_ns = statistics.median(best[0]) if best else math.inf
            try:
                times, how = clock.as_graphs(own, best_ns), "CUDA graph"
            except Exception as problem:  # pylint: disable=broad-except
                torch.cuda.synchronize()
                times, how = clock.timed(own, best_ns=best_ns), f"plain calls ({str(problem)[:80]})"
            tried[name] = {"ns": statistics.median(times), "how": how}
            if best is None or statistics.median(times) < statistics.median(best[0]):
                best = (times, name, how)
                report({"times_ns": times, "call": name, "how": how, "tried": tried})
        except Exception as problem:  # pylint: disable=broad-except
            tried[name] = f"{type(problem).__name__}: {str(problem)[:200]}"
    if best is None:
        raise RuntimeError(f"no call of {library} is right: {json.dumps(tried)}")
    times, name, how = best
    if statistics.median(times) < SHORT_NS and how == "CUDA graph":
        with contextlib.suppress(Exception):
            more = [drawn(task, seed, slot, {key: value for key, value in shared.items() if key == "workspace"}) for slot in range(SHORT_SLOTS)]
            short = clock.back_to_back([calls_of(given)[name] for given in more])
            if statistics.median(short) < statistics.median(times):
                times, how = short, f"CUDA graph of {SHORT_SLOTS} calls, each with inputs of its own"
    return {"times_ns": times, "call": name, "how": how, "tried": tried}


def published(task, seed, file, clock):
    given = drawn(task, seed, 0, {})
    call = library_calls.published_call(task, given, file)
    call()
    if not task.name.startswith("moe"):
        with contextlib.suppress(Exception):
            return {"times_ns": clock.as_graphs([call]), "call": f"run() of {file.name}", "how": "CUDA graph, not verified", "tried": {}}
    return {"times_ns": clock.timed([call], samples=20, seconds=4), "call": f"run() of {file.name}", "how": "host-timed, not verified per call", "tried": {}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="?", help="its folder, or its name in suites/flashinfer-bench")
    parser.add_argument("library", nargs="?")
    parser.add_argument("--prepare", choices=("flashinfer",))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--file", type=pathlib.Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=240)
    options = parser.parse_args()
    if options.prepare:
        code = 0 if prepare(options.seconds) else 1
        sys.stdout.flush()
        os._exit(code)  # compilers that are late would be waited for
    if not options.library or not set(options.library.split(",")) <= set(LIBRARIES):
        parser.error(f"LIBRARY has to be one of {', '.join(LIBRARIES)}")
    folder = pathlib.Path(options.task) if pathlib.Path(options.task, "task.toml").exists() else SUITE / options.task
    task, deadline, code = Task(folder), time.monotonic() + options.seconds, 0
    try:
        clock = Clock()
    except (ImportError, RuntimeError, AssertionError) as problem:  # the last: PyTorch without CUDA
        parser.exit(1, f"library_times.py: PyTorch with a CUDA device is needed: {problem}\n")
    for library in options.library.split(","):
        def report(found, library=library):
            if options.json:
                print(json.dumps({"library": library, **found}), flush=True)

        try:
            if library == "published-run":
                found = published(task, options.seed, options.file, clock)
            else:
                found = fastest(task, options.seed, library, clock, deadline, report)
        except Exception as problem:  # pylint: disable=broad-except
            found, code = {"failure": f"{type(problem).__name__}: {problem}"}, 1
            print(found["failure"], file=sys.stderr)
        report(found)
        if not options.json and "times_ns" in found:
            print("\n".join(f"{one:.1f}" for one in found["times_ns"]), flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
