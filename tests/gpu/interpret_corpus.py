#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Interprets AccelOpt's published Triton solutions at small shapes, and compares those of one definition with each other:
they were written apart, so that agreement says that the interpreter is right. interpret_corpus.py ACCELOPT_CHECKOUT"""

import collections
import math
import pathlib
import random
import struct
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "capture"))
import capture_corpus as corpus  # noqa: E402
import support  # noqa: E402

SMALL = {"batch_size": 2, "num_pages": 64, "len_indptr": 3, "num_kv_indices": 24, "total_q": 8, "total_kv": 8}
FORMATS = {"float32": "f", "float16": "e", "int32": "i"}


def encoded(values, dtype):
    if dtype == "bfloat16":
        return b"".join(struct.pack("<f", value)[2:] for value in values)
    return struct.pack(f"<{len(values)}{FORMATS[dtype]}", *values)


def decoded(data, dtype):
    if dtype == "bfloat16":
        return [struct.unpack("<f", b"\0\0" + data[i:i + 2])[0] for i in range(0, len(data), 2)]
    return list(struct.unpack(f"<{len(data) // struct.calcsize(FORMATS[dtype])}{FORMATS[dtype]}", data))


def write_inputs(folder, workload):
    draw = random.Random(1)
    for spec in workload["inputs"]:
        if "shape" not in spec:
            continue
        count = math.prod(spec["shape"])
        if spec["name"].endswith("indptr"):
            values = corpus.indptr(count, SMALL["num_kv_indices"] if spec["name"] == "kv_indptr" and workload["paged"] else SMALL["total_q"])
        elif spec["dtype"] == "int32":
            values = [draw.randrange(SMALL["num_pages"]) for _ in range(count)]
        else:
            values = [draw.gauss(0, 1) for _ in range(count)]
        pathlib.Path(folder, f"w.{spec['name']}.bin").write_bytes(encoded(values, spec["dtype"]))


def outputs_of(server, request):
    """By name, or the error."""
    workload = request["workloads"][0]
    with tempfile.TemporaryDirectory() as folder:
        write_inputs(folder, workload)
        answer = server.ask(**{**request, "op": "interpret", "folder": folder,
                               "workloads": [{key: workload[key] for key in ("name", "inputs", "outputs")}]})
        if "error" in answer:
            return answer["error"]
        return {spec["name"]: decoded(pathlib.Path(folder, f"w.{spec['name']}.bin").read_bytes(), spec["dtype"])
                for spec in workload["outputs"]}


def distance(a, b):
    """Normwise; infinities have to be in the same places."""
    pairs = [(x, y) for x, y in zip(a, b) if x != y]
    if any(not math.isfinite(x) or not math.isfinite(y) for x, y in pairs):
        return math.inf
    return math.sqrt(sum((x - y) ** 2 for x, y in pairs) / max(sum(y * y for y in b if math.isfinite(y)), 1e-30))


def main():
    root = pathlib.Path(sys.argv[1])
    found, axes = corpus.definitions(root)
    results = collections.defaultdict(dict)
    with support.Server() as server:
        for case, request in corpus.accelopt(server, root, "first"):
            name = next(name for name in [*found, "gqa_paged_decode_h32_kv8_d128_ps1", "gqa_paged_prefill_causal_h32_kv4_d128_ps1",
                                          "gqa_ragged_prefill_causal_h32_kv8_d128"] if name in case)
            if name.startswith(("gemm", "moe")):
                continue
            definition, variable = corpus.definition_of(name, found, axes)
            workload = corpus.workload_of(definition, {axis: SMALL[axis] for axis in variable})
            workload["paged"] = "paged" in name
            request.update(workloads=[workload], limits={**corpus.LIMITS, "host_s": 120})
            begun = time.monotonic()
            results[name][case] = outputs_of(server, request)
            print(f"{case}: {time.monotonic() - begun:.1f} s", results[name][case].get("message", "") or "", flush=True)
    for name, cases in results.items():
        good = {case: outputs for case, outputs in cases.items() if "kind" not in outputs}
        first = next(iter(good.values()), None)
        for case, outputs in good.items():
            print(name, case, {key: f"{distance(values, first[key]):.1e}" for key, values in outputs.items()})


if __name__ == "__main__":
    main()
