"""Inputs as the task draws them, its reference, and what counts as right."""

import ctypes
import importlib.util
import json
import math
import pathlib

import torch

HERE = pathlib.Path(__file__).resolve().parent
TASK = json.loads((HERE / "task.json").read_text(encoding="utf-8"))
for _workload in TASK["workloads"]:
    _workload["axes"] = dict(_workload["axes"])
SCALARS = {"float64": ctypes.c_double, "float32": ctypes.c_float, "int64": ctypes.c_int64, "int32": ctypes.c_int32, "int16": ctypes.c_int16,
           "int8": ctypes.c_int8, "uint8": ctypes.c_uint8, "bool": ctypes.c_bool}


def draw(tensor, generator):
    """A tensor in its own type, or a number."""
    init, shape, dtype = tensor["init"], tensor["shape"], getattr(torch, tensor["dtype"])
    first, second, kind = init["first"], init["second"], init["kind"]
    options = {"generator": generator, "dtype": torch.float64 if math.prod(shape) < 1 << 24 else torch.float32, "device": "cuda"}
    if kind == "values":
        out = torch.tensor(init["values"], dtype=torch.float64, device="cuda").reshape(shape)
    elif kind in ("normal", "abs_normal"):
        out = first + second * torch.randn(shape, **options)
        out = out.abs() if kind == "abs_normal" else out
    elif kind == "uniform":
        out = first + (second - first) * torch.rand(shape, **options)
    elif kind == "integers":
        out = torch.randint(int(first), int(second), shape, generator=generator, device="cuda")
    elif kind in ("zeros", "ones", "constant"):
        out = torch.full(shape, {"zeros": 0, "ones": 1}.get(kind, first), dtype=torch.float64, device="cuda")
    elif kind in ("permutation", "distinct"):
        low, high = (0, shape[-1]) if kind == "permutation" else (int(first), int(second))
        rows = [low + torch.randperm(high - low, generator=generator, device="cuda")[:shape[-1]] for _ in range(math.prod(shape[:-1]))]
        out = torch.stack(rows).reshape(shape)
    elif kind in ("indptr", "sorted"):
        low, high = (0, first + 1) if kind == "indptr" else (first, second)
        out = (low + (high - low) * torch.rand(shape, **options)).sort(dim=-1).values
        if kind == "indptr":
            out = out.floor()
            out[..., 0], out[..., -1] = 0, first
    else:
        raise ValueError(f"no way to draw {kind}")
    return out.to(dtype).item() if tensor["part"] == "scalar" else out.to(dtype).contiguous()


def inputs_of(workload, seed=1):
    """What the operator is called with, by name, in the task's order."""
    generator = torch.Generator(device="cuda").manual_seed(seed)
    return {tensor["name"]: draw(tensor, generator) for tensor in workload["tensors"] if tensor["part"] != "output"}


def reference(workload, inputs, real):
    """The outputs by name, computed with every floating tensor as `real`."""
    place = "cuda" if TASK["reference"].endswith(".cu") else "cpu"
    tensors, arguments = {}, []
    for spec in workload["tensors"]:
        name, dtype = spec["name"], getattr(torch, spec["dtype"])
        dtype = real if dtype.is_floating_point else dtype
        if spec["part"] == "scalar":
            kind = {torch.float64: ctypes.c_double, torch.float32: ctypes.c_float}.get(dtype) if dtype.is_floating_point else SCALARS[spec["dtype"]]
            arguments.append(kind(inputs[name]))
            continue
        tensors[name] = inputs[name].to(place, dtype, copy=True) if name in inputs else torch.empty(spec["shape"], dtype=dtype, device=place)
        arguments.append(ctypes.c_void_p(tensors[name].data_ptr()))
    arguments += [ctypes.c_int64(axis) for axis in workload["axes"].values()]
    run_reference(arguments, "double" if real is torch.float64 else "float", workload)
    return {spec["name"]: tensors[spec["name"]] for spec in workload["tensors"] if spec["part"] in ("output", "inout")}


def run_reference(arguments, real, workload):
    import build
    file = HERE / TASK["reference"]
    if file.suffix == ".cu":
        library = build.library(f"reference_{real}", file, HERE / f"reference_{real}.cpp", [f"-DREAL={real}", "-fmad=false"])
        axes = [ctypes.c_int64(axis) for axis in workload["axes"].values()]
        size = getattr(library, f"reference_{real}_scratch_bytes")
        size.restype = ctypes.c_size_t
        scratch = torch.empty(max(size(*axes), 16), dtype=torch.uint8, device="cuda")
        code = getattr(library, f"reference_{real}")(ctypes.c_void_p(torch.cuda.current_stream().cuda_stream),
                                                    ctypes.c_void_p(scratch.data_ptr()), *arguments)
        torch.cuda.synchronize()
        if code != 0:
            raise RuntimeError(f"the reference was not launched: CUDA error {code}")
        return
    library = build.plain_library(f"reference_{real}", file, [f"-DREAL={real}", *(["-std=c++20"] if file.suffix == ".cpp" else [])])
    library.reference(*arguments)


def python_reference(workload, inputs):
    """The outputs by name, by reference.py as it stands."""
    spec = importlib.util.spec_from_file_location("reference_of_the_task", HERE / TASK["reference"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    outputs = [one["name"] for one in workload["tensors"] if one["part"] in ("output", "inout")]
    returned = module.run(*[value.clone() if isinstance(value, torch.Tensor) else value for value in inputs.values()])
    if isinstance(returned, dict):
        return {name: returned[name] for name in outputs}
    return dict(zip(outputs, returned if isinstance(returned, (tuple, list)) else [returned]))


def expected(workload, inputs):
    """The outputs in double and in single precision."""
    if TASK["reference"].endswith(".py"):
        out = python_reference(workload, inputs)
        return out, out
    return reference(workload, inputs, torch.float64), reference(workload, inputs, torch.float32)


def compare(spec, exact, single, actual):
    """Raises AssertionError where the output is wrong."""
    name, dtype = spec["name"], getattr(torch, spec["dtype"])
    assert actual.dtype == dtype and list(actual.shape) == spec["shape"], f"{name} is {actual.dtype} {list(actual.shape)}"
    if not dtype.is_floating_point:
        assert torch.equal(actual.to(exact.device, exact.dtype), exact), f"{name} has other values"
        return
    exact, single, actual = (value.to("cuda", torch.float64) for value in (exact, single, actual))
    finite = exact.isfinite()
    assert torch.equal(torch.where(finite, 0, exact.nan_to_num(nan=3)), torch.where(actual.isfinite(), 0, actual.nan_to_num(nan=3))), \
        f"{name}: NaN or infinity in other places"
    exact, single, actual = (torch.where(finite, value, 0) for value in (exact, single, actual))
    norm = exact.norm().clamp_min(1e-300)
    scale = exact.abs().clamp_min(max((norm / math.sqrt(max(exact.numel(), 1))).item(), 1e-300))
    least = max(2 * torch.finfo(dtype).eps, TASK["least"])
    off = actual - exact
    error, worst = (off.norm() / norm).item(), (off.abs() / scale).max().item()
    allowed = max(TASK["normwise"], least) if TASK["normwise"] else max(4 * ((single - exact).norm() / norm).item(), least)
    allowed_worst = max(8 * ((single - exact).abs() / scale).max().item(), 8 * least, 8 * TASK["normwise"])
    print(f"  {name}: error {error:.2g} of {allowed:.2g} allowed, of a single element {worst:.2g} of {allowed_worst:.2g}")
    assert error <= allowed and worst <= allowed_worst, f"{name} is off by {error:.3g}"


def check(operator, workload):
    """Calls the operator on the workload and compares with the reference."""
    print(workload["name"])
    inputs = inputs_of(workload)
    exact, single = expected(workload, inputs)
    outputs = operator(workload, inputs)
    for spec in workload["tensors"]:
        if spec["part"] in ("output", "inout"):
            compare(spec, exact[spec["name"]], single[spec["name"]], outputs[spec["name"]])
