"""Compares the function with the task's reference, on every workload. Needs a CUDA device: python3 test/test_@NAME@.py"""

import inspect
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import torch  # noqa: E402

import check  # noqa: E402
import @NAME@ as solution  # noqa: E402


def writes_outputs(inputs, outputs):
    named = [one for one in inspect.signature(solution.run).parameters.values() if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    least = sum(one.default is one.empty for one in named)
    return least <= inputs + outputs <= len(named) and not least <= inputs <= len(named)


def call(workload, inputs):
    given = {tensor["name"]: inputs[tensor["name"]] for tensor in workload["tensors"] if tensor["part"] in ("input", "scalar")}
    outputs = {tensor["name"]: inputs[tensor["name"]] if tensor["part"] == "inout" else
               torch.empty(tensor["shape"], dtype=getattr(torch, tensor["dtype"]), device="cuda")
               for tensor in workload["tensors"] if tensor["part"] in ("output", "inout")}
    returned = solution.run(*given.values(), *(outputs.values() if writes_outputs(len(given), len(outputs)) else ()))
    torch.cuda.synchronize()
    if returned is None:
        return outputs
    return returned if isinstance(returned, dict) else dict(zip(outputs, returned if isinstance(returned, (tuple, list)) else [returned]))


def test_right():
    for workload in check.TASK["workloads"]:
        check.check(call, workload)


if __name__ == "__main__":
    test_right()
    print("passed")
