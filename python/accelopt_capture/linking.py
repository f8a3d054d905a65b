# SPDX-License-Identifier: Apache-2.0
"""From recorded plans to cubins: compiles every kernel once and puts the answer together. Runs in a process where none of the
solution's Python has run."""

from __future__ import annotations

import json
import time
from typing import Any, Callable

from . import answer, hooks, machine_code, session, state
from .compiling import Compiled, compile_all
from .errors import Failure
from .plan import Plan, finish
from .replaying import Replay


def build(request: dict[str, Any], recorded: list[dict[str, Any]], folder: str, deadline: float,
          kept: dict[str, Compiled | Failure]) -> tuple[dict[str, Any], list[bytes]]:
    """The answer of a capture, and what was compiled for it beside what is kept. @error Failure: also that what was recorded is no plan."""
    limits, begun = request["limits"], time.monotonic()
    jobs, choices = hooks.Jobs(limits["kernels"]), Choices()
    hooks.install(jobs, request["arch"])
    state.begin(session.Session(session.NoPlan(), request["device"]))
    plans = []
    for one in recorded:
        again = Again(request, one, choices)
        again.run()
        plans.append((again.sink, one["plan"]["reads"]))
    missing = [place for place, key in enumerate(jobs.keys) if key not in kept]
    made = compile_all([jobs.jobs[place] for place in missing], limits, folder, request["device"]["shared_memory_per_block_optin"], deadline)
    new = {jobs.keys[place]: result for place, result in zip(missing, made)}
    results = [new[key] if key in new else kept[key] for key in jobs.keys]
    findings: list[dict[str, Any]] = []
    for finding in (finding for one in recorded for finding in one["findings"]):
        if finding not in findings and len(findings) < 100:
            findings.append(finding)
    result = {"choices": choices.all, "findings": findings, **linked(plans, results, limits)}
    blobs = result.pop("blobs")
    result["compiled"] = machine_code.described(new, blobs)
    result["seconds"] = {"compile": round(time.monotonic() - begun, 4)}
    return result, blobs


class Choices:
    """The autotuned kernels of all workloads, each once."""

    def __init__(self) -> None:
        self.all: list[dict[str, Any]] = []

    def index(self, choice: dict[str, Any]) -> int:
        text = json.dumps(choice, sort_keys=True)
        for index, known in enumerate(self.all):
            if json.dumps(known, sort_keys=True) == text:
                return index
        self.all.append(choice)
        return len(self.all) - 1


class Again(Replay):
    """In a plan, with all configurations."""

    def __init__(self, request: dict[str, Any], recorded: dict[str, Any], choices: Choices) -> None:
        workload = next(workload for workload in request["workloads"] if workload["name"] == recorded["plan"]["workload"])
        super().__init__(request, workload, recorded, Plan(workload["name"], request["limits"]))
        self.places = [choices.index(choice) for choice in recorded["choices"]]

    def choose(self, op: dict[str, Any]) -> None:
        plan = self.sink
        alternatives = []
        for alternative in op["alternatives"]:
            place = alternative["configuration"]
            if "error" in alternative:
                alternatives.append({"configuration": place, "error": answer.failure_of(alternative["error"]).json()})
                continue
            plan.into = []
            self.ops(alternative["ops"], "alternative")
            alternatives.append({"configuration": place, "ops": plan.into})
            plan.into = plan.ops
        plan.add({"op": "choose", "choice": self.places[op["choice"]], "alternatives": alternatives})


def linked(plans: list[tuple[Plan, dict[str, int]]], results: list[Compiled | Failure], limits: dict[str, int]) -> dict[str, Any]:
    """Plans that name cubins in place of kernels to compile, and the cubins, each once."""
    cubins: list[dict[str, Any]] = []
    blobs: list[bytes] = []
    known: dict[tuple[bytes, str], int] = {}

    def cubin_of(result: Compiled) -> int:
        meta = result.metadata
        key = (result.cubin, str(meta))
        if key not in known:
            known[key] = len(cubins)
            blobs.append(result.cubin)
            cubins.append({
                "kernel": meta["name"], "num_warps": meta["num_warps"], "num_ctas": meta["num_ctas"], "shared_bytes": meta["shared"],
                "global_scratch_bytes": meta["global_scratch_size"], "global_scratch_align": meta["global_scratch_align"],
                "profile_scratch_bytes": meta["profile_scratch_size"], "profile_scratch_align": meta["profile_scratch_align"],
                "ptxas": result.ptxas})
        return known[key]

    def link(plan: Plan, op: dict[str, Any]) -> dict[str, Any]:
        if op["op"] != "launch":
            return op
        result = results[op["job"]]
        if isinstance(result, Failure):
            raise result
        return finish(plan, op, cubin_of(result), result.metadata)

    for plan, _ in plans:
        plan.ops = [choose(plan, op, link) if op["op"] == "choose" else link(plan, op) for op in plan.ops]
    if sum(map(len, blobs)) > limits["cubin_bytes"]:
        raise Failure("limit", f"the cubins take over {limits['cubin_bytes']} bytes", call="cubin_bytes")
    return {"cubins": cubins, "plans": [plan.json(reads) for plan, reads in plans], "blobs": blobs}


def choose(plan: Plan, op: dict[str, Any], link: Callable) -> dict[str, Any]:
    """Alternatives that do not compile keep their error. @error Failure: the first one's, if none compiles."""
    alternatives: list[dict[str, Any]] = []
    first: Failure | None = None
    for alternative in op["alternatives"]:
        if "ops" in alternative:
            try:
                ops = [link(plan, inner) for inner in alternative["ops"]]
                alternative = {"configuration": alternative["configuration"], "ops": ops}
            except Failure as failure:
                first = first or failure
                alternative = {"configuration": alternative["configuration"], "error": failure.json()}
        alternatives.append(alternative)
    if all("error" in alternative for alternative in alternatives):
        raise first or Failure("compile", "no configuration can be launched")
    return {**op, "alternatives": alternatives}
