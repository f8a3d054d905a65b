#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what `accelopt export flashinfer-trace` writes against FlashInfer-Bench's own classes, from a checkout of it; no part
of the tests, which have no checkout. Needs pydantic; torch and safetensors are stood in for.

    validate_flashinfer_trace.py CHECKOUT DATASET [AUTHOR]
"""

import pathlib
import sys
import types


def own_classes(checkout):
    """The module flashinfer_bench.data without what the package imports besides."""
    def module(name, **members):
        made = types.ModuleType(name)
        made.__dict__.update(members)
        sys.modules[name] = made
        return made

    module("flashinfer_bench").__path__ = [str(checkout / "flashinfer_bench")]
    module("flashinfer_bench.utils", dtype_str_to_torch_dtype=lambda name: name)
    module("flashinfer_bench.env", get_fib_dataset_path=lambda: None)
    module("torch", Tensor=object)
    module("safetensors", torch=module("safetensors.torch"))
    import flashinfer_bench.data as data
    return data


def check_dataset(data, folder, author, problems):
    """Everything must be read by the loader; what accelopt writes itself must have the bytes that the classes would write."""
    data.TraceSet.from_path(str(folder))  # raises what is refused

    def check(what, ours, theirs):
        if ours != theirs:
            problems.append(f"{what}: written otherwise\n  ours:   {ours[:400]}\n  theirs: {theirs[:400]}")

    objects = 0
    for file in sorted((folder / "solutions" / author).rglob("*.json")):
        text = file.read_text(encoding="utf-8")
        check(file, text, data.Solution.model_validate_json(text).model_dump_json(indent=2, exclude_unset=True))
        objects += 1
    for file in sorted([*(folder / "workloads").rglob("*.jsonl"), *(folder / "traces").rglob("*.jsonl")]):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            check(f"{file}:{number}", line, data.Trace.model_validate_json(line).model_dump_json())
            objects += 1
    print(f"{folder}: read whole; {objects} objects compared")


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    data = own_classes(pathlib.Path(sys.argv[1]))
    problems = []
    check_dataset(data, pathlib.Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "accelopt", problems)
    print("\n".join(problems + [f"{len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
