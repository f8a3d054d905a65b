#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures published Triton code, counts what is captured, and names each loss. Needs checkouts, and no GPU:
capture_corpus.py [--accelopt FOLDER] [--tritonbench FOLDER] [--json FILE] [--configurations all|first]"""

import argparse
import ast
import collections
import json
import pathlib
import re
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "capture"))
import support  # noqa: E402

LIMITS = {"compile_s": 30, "wall_s": 600, "kernels": 512, "printed_bytes": 16 << 20}


# AccelOpt: solutions with definitions and workloads.
def definitions(root):
    base = root / "experiments" / "flb_optimize"
    found = {path.stem: json.loads(path.read_text()) for path in base.glob("definitions/*/*.json")}
    axes = {}
    for path in base.glob("workloads/*/*.json"):
        workload = json.loads(path.read_text())
        axes[workload["definition"]] = workload["workload"]["axes"]
    return found, axes


def definition_of(name, found, axes):
    """The definition and its variable axes; one that differs in the number of heads alone is made from its sibling."""
    if name in found:
        return found[name], axes[name]
    for heads in ("kv4", "kv8"):
        sibling = re.sub(r"kv[48]", heads, name)
        if sibling in found:
            changed = json.loads(json.dumps(found[sibling]))
            changed["axes"]["num_kv_heads"]["value"] = int(re.search(r"kv([48])", name)[1])
            return changed, axes[sibling]
    raise SystemExit(f"no definition of {name}")


def indptr(count, total):
    return [total * i // (count - 1) for i in range(count)]


def workload_of(definition, variable):
    extents = {name: axis.get("value", variable.get(name)) for name, axis in definition["axes"].items()}
    inputs = []
    for name, spec in definition["inputs"].items():
        if spec["shape"] is None:
            value = 0 if spec["dtype"].startswith("int") else 0.125
            inputs.append(support.scalar(name, value, spec["dtype"]))
        elif name.endswith("indptr"):
            count = extents["len_indptr"]
            total = extents.get("total_q") if name == "qo_indptr" else extents.get("num_kv_indices", extents.get("total_kv"))
            inputs.append(support.visible(name, indptr(count, total)))
        else:
            inputs.append(support.tensor(name, *(extents[axis] for axis in spec["shape"]), dtype=spec["dtype"]))
    outputs = [support.tensor(name, *(extents[axis] for axis in spec["shape"]), dtype=spec["dtype"])
               for name, spec in definition["outputs"].items()]
    return {"name": "w", "inputs": inputs, "outputs": outputs}


def solution_paths(root):
    return [*sorted(root.glob("experiments/flb_optimize/solutions/*/*/*.json")),
            *sorted(root.glob("experiments/flb_full_complete_local/results/12-21-17-05/*_solution.json")),
            *sorted(root.glob("samples/fib/*.json"))]


def accelopt(server, root, configurations):
    found, axes = definitions(root)
    for path in solution_paths(root):
        solution = json.loads(path.read_text())
        definition, variable = definition_of(solution["definition"], found, axes)
        files = [{"name": source["path"], "content": source["content"]} for source in solution["sources"]]
        yield f"{path.parent.name}/{path.stem}"[:110], dict(
            op="capture", files=files, entry=solution["spec"]["entry_point"], convention="value", arguments="auto",
            configurations=configurations, workloads=[workload_of(definition, variable)], limits=LIMITS)


# TritonBench: one file with wrappers and, behind a line of #, a test that calls them.
DRIVER = '''
import sys
import torch
accelopt = sys.modules["accelopt_capture"]
errors, host, shapes, state, tensor = (getattr(accelopt, name) for name in "errors host shapes state tensor".split())

DRAWN = "rand randn randint rand_like randn_like randint_like randperm normal bernoulli".split()


def drawn(name):
    def draw(*size, dtype=None, device=None, **options):
        if name.endswith("_like"):
            return torch.empty_like(size[0], dtype=dtype)
        if name == "randint":
            shape = options["size"] if "size" in options else size[-1]
            bounds = [bound for bound in size if isinstance(bound, int)] or [options.get("low", 0), options["high"]]
            low, high = bounds if len(bounds) > 1 else (0, bounds[0])
            if shapes.numel(shape) <= 4096:  # lengths and the like, which wrappers read
                values = [low + i % max(high - low, 1) for i in range(shapes.numel(shape))]
                return torch.tensor(values, dtype=dtype or torch.int64, device="cuda").view(shape)
            size, dtype = [shape], dtype or torch.int64
        if name == "randperm":
            dtype = dtype or torch.int64
        size = size or (options.get("size"),)
        return torch.empty(*size, dtype=dtype, device="cuda")
    return draw


for name in DRAWN:
    setattr(torch, name, drawn(name))
refuse, elementwise = errors.refuse, host.elementwise


def in_test():
    frame = sys._getframe(1)
    while frame.f_code.co_filename not in ("case.py", "case_test.py") and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code.co_filename == "case_test.py"


def lenient_elementwise(call, function, operands, dtype=None):
    tensors = [x for x in operands if isinstance(x, tensor.Tensor)]
    if in_test() and not all(x.storage_.is_known() for x in tensors):
        shape = shapes.broadcast(*(x.shape for x in tensors))
        return torch.empty(shape, dtype=dtype or host.promoted(*operands), device="cuda")
    return elementwise(call, function, operands, dtype)


def lenient_attribute(self, name):
    if not name.startswith("_") and name not in tensor.NO_ATTRIBUTE and in_test():
        return lambda *_, **__: self if name.endswith("_") else torch.empty_like(self)
    return strict_attribute(self, name)


strict_attribute = tensor.Tensor.__getattr__
host.elementwise = lenient_elementwise
tensor.Tensor.__getattr__ = lenient_attribute


def run():
    import case  # the wrappers: refused on their own account
    try:
        import case_test
    except BaseException as error:
        file = (error.failure.where if isinstance(error, errors.Refused) else errors.from_exception(error).where).get("file")
        launched = any(op["op"] in ("launch", "choose") for op in state.session().sink.ops)
        if file != "case_test.py" or not launched:
            raise
        errors.reset_refusal()
        state.session().find("case_test.py", 1, "the test part ended early: " + str(error)[:300])
'''


def tritonbench(server, root, configurations):
    for path in sorted((root / "data" / "TritonBench_G_v1").glob("*.py")):
        text = path.read_text()
        mark = re.search(r"^#{30,}\s*$", text, re.MULTILINE)
        wrappers, test = (text[:mark.start()], text[mark.end():]) if mark else (text, "")
        try:
            names = [node.name for node in ast.parse(wrappers).body if hasattr(node, "name")]
        except SyntaxError:
            names = []
        lead = "from case import *\n" + (f"from case import {', '.join(names)}\n" if names else "")
        files = [{"name": "case.py", "content": wrappers + "\nimport torch\n"}, {"name": "case_test.py", "content": lead + test},
                 {"name": "driver.py", "content": DRIVER}]
        yield path.stem, dict(op="capture", files=files, entry="driver.py::run", convention="value",
                              configurations="first" if configurations != "all" else "all",
                              workloads=[{"name": "w", "inputs": [], "outputs": []}], limits=LIMITS)


def launches(answer):
    count = 0
    for plan in answer["ok"]["plans"]:
        count += sum(1 for op in plan["ops"] if op["op"] in ("launch", "choose"))
    return count


def measure(server, name, cases):
    rows = []
    for case, request in cases:
        begun = time.monotonic()
        answer = server.ask(**request)
        row = {"case": case, "seconds": round(time.monotonic() - begun, 3)}
        if "ok" in answer:
            ok = answer["ok"]
            row.update(captured=launches(answer) > 0, launches=launches(answer), cubins=len(ok["cubins"]), seconds_of=ok["seconds"],
                       findings=[finding["message"] for finding in ok["findings"]])
            if not row["captured"]:
                row["loss"] = "no launch"
        else:
            error = answer["error"]
            row.update(captured=False, loss=f"{error['kind']}: {error['message']}"[:300], where=f"{error.get('file')}:{error.get('line')}")
        print(f"{name} {case}: {row['seconds']} s, " + (f"{row['launches']} launches, {row['cubins']} cubins" if row["captured"]
              else f"{row['loss']} ({row.get('where', '')})"), flush=True)
        rows.append(row)
    report(name, rows)
    return rows


def report(name, rows):
    captured = [row for row in rows if row["captured"]]
    print(f"\n{name}: {len(captured)} of {len(rows)} captured and compiled")
    if captured:
        times = sorted(row["seconds"] for row in captured)
        print(f"  seconds: median {statistics.median(times):.2f}, p90 {times[int(len(times) * 0.9)]:.2f}, largest {times[-1]:.2f}; host "
              f"median {statistics.median(row['seconds_of']['host'] for row in captured):.3f}")
    for loss, count in collections.Counter(re.sub(r"\d+", "N", row["loss"])[:90] for row in rows if not row["captured"]).most_common():
        print(f"  {count:3} {loss}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--accelopt", type=pathlib.Path)
    parser.add_argument("--tritonbench", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--configurations", choices=("all", "first"), default="first")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    options = parser.parse_args()
    results = {}
    with support.Server() as server:
        for name, cases in (("accelopt", accelopt), ("tritonbench", tritonbench)):
            root = getattr(options, name)
            if root is not None:
                chosen = (case for case in cases(server, root, options.configurations) if options.only in case[0])
                results[name] = measure(server, name, chosen)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
