"""Compares the operator with the task's reference, on every workload, eager and compiled. Needs a CUDA device: python3 test/test_@NAME@.py"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import torch  # noqa: E402

import check  # noqa: E402
import @NAME@  # noqa: E402

ARGUMENTS = @ARGUMENTS@  # in the operator's order; outputs that only it writes are returned
RETURNED = @RETURNED@


def call(function, workload, inputs):
    values = {**workload["axes"], **{name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in inputs.items()}}
    returned = function(*[values[name] for name in ARGUMENTS])
    torch.cuda.synchronize()
    values.update(zip(RETURNED, returned if isinstance(returned, (tuple, list)) else [returned]))
    return values


def test_right():
    for workload in check.TASK["workloads"]:
        check.check(lambda *given: call(@NAME@.@NAME@, *given), workload)


def test_compiled():
    def around(*given):
        return @NAME@.@NAME@(*given)

    workload = min(check.TASK["workloads"], key=lambda one: sum(torch.Size(tensor["shape"]).numel() for tensor in one["tensors"]))
    check.check(lambda *given: call(torch.compile(around, fullgraph=True), *given), workload)


def test_refused():
    inputs = check.inputs_of(check.TASK["workloads"][0])
    name = next(name for name, value in inputs.items() if isinstance(value, torch.Tensor))
    for wrong in (inputs[name].to(torch.complex64), inputs[name][None]):
        try:
            call(@NAME@.@NAME@, check.TASK["workloads"][0], {**inputs, name: wrong})
        except (TypeError, ValueError):
            continue
        raise AssertionError(f"{name} of another dtype or shape was taken")


if __name__ == "__main__":
    for test in (test_right, test_compiled, test_refused):
        test()
    print("passed")
