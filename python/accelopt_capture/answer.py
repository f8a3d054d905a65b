# SPDX-License-Identifier: Apache-2.0
"""The outer form of what a solution's process has sent: enough that every answer is of the protocol's form. Whether the
numbers make sense is checked where they are used."""

from __future__ import annotations

from typing import Any

from .errors import KINDS, MESSAGE_CHARACTERS, TEXT_CHARACTERS, Failure

ERROR_FIELDS = {"kind": str, "message": str, "file": str, "line": int, "call": str, "text": str}
CUBIN = {"kernel": str, "num_warps": int, "num_ctas": int, "shared_bytes": int, "global_scratch_bytes": int,
         "global_scratch_align": int, "profile_scratch_bytes": int, "profile_scratch_align": int, "ptxas": str}
BUFFER = {"name": str, "kind": str, "dtype": str, "bytes": int}
VIEW = {"buffer": str, "offset": int, "dtype": str, "shape": list, "strides": list}
OPS: dict[str, dict[str, Any]] = {
    "fill": {"to": VIEW, "bits": int}, "copy": {"from": VIEW, "to": VIEW}, "gather": {"from": VIEW, "index": VIEW, "to": VIEW},
    "sum": {"from": VIEW, "to": VIEW, "dims": list}, "abs_amax": {"from": VIEW, "to": VIEW, "dims": list},
    "upload": {"to": VIEW, "data": str},
    "launch": {"cubin": int, "grid": list, "block": list, "cluster": list, "shared_bytes": int, "cooperative": bool, "pdl": bool,
               "arguments": list}}
TENSOR_MAP = {"buffer": str, "offset": int, "element_type": int, "dims": list, "strides": list, "box": list, "swizzle_bytes": int,
              "nan_fill": bool}
ELF = b"\x7fELF"


def malformed(where: str) -> Failure:
    return Failure("crashed", f"what the solution's process left is no result: {where}")


def need(condition: bool, where: str) -> None:
    if not condition:
        raise malformed(where)


def has_form(value: Any, form: dict[str, Any], where: str, optional: tuple[str, ...] = ()) -> None:
    need(isinstance(value, dict) and set(value) - set(optional) == set(form), where)
    for name, kind in form.items():
        if isinstance(kind, dict):
            has_form(value[name], kind, f"{where}.{name}")
            continue
        item = value[name]
        need(isinstance(item, kind) and not (kind is int and isinstance(item, bool)), f"{where}.{name}")
        if kind is list:
            need(all(isinstance(x, dict if name == "arguments" else int) and not isinstance(x, bool) for x in item), f"{where}.{name}")


def opened(value: Any) -> dict[str, Any]:
    """What is under "ok". @error Failure: the one under "error", or that there is neither."""
    need(isinstance(value, dict) and len(value) == 1, "neither ok nor error")
    if "error" in value:
        raise failure_of(value["error"])
    need(isinstance(value.get("ok"), dict), "neither ok nor error")
    return value["ok"]


def failure_of(error: Any) -> Failure:
    need(isinstance(error, dict) and {"kind", "message"} <= set(error) <= set(ERROR_FIELDS), "error")
    for name, item in error.items():
        need(isinstance(item, ERROR_FIELDS[name]) and not isinstance(item, bool), f"error.{name}")
        need(not isinstance(item, str) or len(item) <= max(TEXT_CHARACTERS, MESSAGE_CHARACTERS), f"error.{name}")
    need(error["kind"] in KINDS, "error.kind")
    where = {name: item for name, item in error.items() if name not in ("kind", "message")}
    return Failure(error["kind"], error["message"], **where)


def check_common(ok: dict[str, Any]) -> None:
    for choice in listed(ok["choices"], "choices", 256):
        need(isinstance(choice, dict) and set(choice) == {"name", "configurations"} and isinstance(choice["name"], str), "choices")
        for values in listed(choice["configurations"], "choices.configurations", 256):
            need(isinstance(values, dict) and all(isinstance(v, (int, float, str)) or v is None for v in values.values()), "choices")
    for finding in listed(ok["findings"], "findings", 100):
        has_form(finding, {"file": str, "line": int, "message": str}, "findings")
    need(isinstance(ok["seconds"], dict) and all(isinstance(v, (int, float)) for v in ok["seconds"].values()), "seconds")


def listed(value: Any, where: str, most: int) -> list:
    need(isinstance(value, list) and len(value) <= most, where)
    return value


def check_capture(ok: dict[str, Any], blobs: list[bytes], request: dict[str, Any]) -> None:
    """@error Failure: crashed."""
    need(set(ok) == {"cubins", "choices", "plans", "findings", "seconds"}, "its fields")
    check_common(ok)
    limits = request["limits"]
    cubins = listed(ok["cubins"], "cubins", limits["kernels"])
    need(len(cubins) == len(blobs) and all(blob.startswith(ELF) for blob in blobs), "cubins")
    for cubin in cubins:
        has_form(cubin, CUBIN, "cubins")
    plans = listed(ok["plans"], "plans", len(request["workloads"]))
    need(len(plans) == len(request["workloads"]), "plans")
    for plan, workload in zip(plans, request["workloads"]):
        check_plan(plan, workload["name"], limits)


def check_plan(plan: Any, name: str, limits: dict[str, int]) -> None:
    need(isinstance(plan, dict) and set(plan) == {"workload", "buffers", "ops", "reads", "uploaded_bytes"}, "plans")
    need(plan["workload"] == name and isinstance(plan["uploaded_bytes"], int), "plans")
    need(isinstance(plan["reads"], dict) and all(isinstance(count, int) for count in plan["reads"].values()), "plans.reads")
    for buffer in listed(plan["buffers"], "plans.buffers", 1 << 16):
        has_form(buffer, BUFFER, "plans.buffers")
        need(buffer["kind"] in ("input", "inout", "output", "scratch"), "plans.buffers")
    for op in listed(plan["ops"], "plans.ops", limits["ops"]):
        if isinstance(op, dict) and op.get("op") == "choose":
            check_choose(op, limits)
        else:
            check_op(op)


def check_choose(op: dict[str, Any], limits: dict[str, int]) -> None:
    need(set(op) == {"op", "choice", "alternatives"} and isinstance(op["choice"], int), "choose")
    for alternative in listed(op["alternatives"], "alternatives", limits["configurations"]):
        need(isinstance(alternative, dict) and isinstance(alternative.get("configuration"), int), "alternatives")
        if "error" in alternative:
            alternative["error"] = failure_of(alternative["error"]).json()
        else:
            for inner in listed(alternative.get("ops"), "alternatives.ops", limits["ops"]):
                check_op(inner)
        need(len(alternative) == 2, "alternatives")


def check_op(op: Any) -> None:
    need(isinstance(op, dict) and isinstance(op.get("op"), str) and op["op"] in OPS, "ops")
    has_form(op, {"op": str, **OPS[op["op"]]}, f"ops.{op['op']}", optional=("line",))
    need(isinstance(op.get("line", 1), int), "ops.line")
    for argument in op.get("arguments", []):
        if "tensor" in argument:
            has_form(argument, {"tensor": str, "offset": int}, "arguments")
        elif "constant" in argument:
            has_form(argument, {"constant": str, "bits": int}, "arguments")
        else:
            has_form(argument, {"tensor_map": TENSOR_MAP}, "arguments")
