# SPDX-License-Identifier: Apache-2.0
"""Hooks in Triton, set from outside: a driver without a device, kernels that are queued instead of compiled, all
configurations of an autotuner in place of the fastest. No file of Triton is changed."""

from __future__ import annotations

import hashlib
import sys
from typing import Any, Callable

from . import describing, state
from .compiling import Job
from .errors import Failure, from_exception, refuse, solution_line
from .plan import Plan
from .tensor import Address, Tensor

REFUSED_OPTIONS = ("extern_libs", "ir_override", "ptx_options", "instrumentation_mode", "ptx_version", "arch")
# In a Config's dict they are overridden by the configuration's own, silently.
OVERRIDDEN = ("num_warps", "num_stages", "num_ctas", "maxnreg")


class Utils:
    def get_device_properties(self, _: Any = 0) -> dict[str, Any]:
        device = state.session().device
        return {"max_shared_mem": device["shared_memory_per_block_optin"], "max_num_regs": device["regs_per_multiprocessor"],
                "multiprocessor_count": device["multi_processor_count"], "warpSize": 32, "sm_clock_rate": 1_980_000,
                "mem_clock_rate": 2_619_000, "mem_bus_width": 5120}

    def __getattr__(self, name: str) -> Any:
        refuse(f"triton.runtime.driver.active.utils.{name}", "there is no device while a plan is captured")


class Driver:
    """What Triton asks of a device before it launches."""

    def __init__(self, target: Any) -> None:
        self.target = target
        self.utils = Utils()

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, _: Any = 0) -> int:
        return 0

    def get_current_target(self) -> Any:
        return self.target

    def get_active_torch_device(self) -> Any:
        import torch
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        import torch
        return torch.cuda

    def set_current_device(self, _: Any) -> None:
        return None

    def get_benchmarker(self) -> Any:
        refuse("do_bench", "measuring is the harness's")

    get_empty_cache_for_benchmark = clear_cache = get_benchmarker

    def launcher_cls(self, *_: Any) -> Any:
        refuse("CompiledKernel", "kernels are launched by the harness")


class Jobs:
    """The kernels of a request, each once."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.functions = describing.Functions()
        self.jobs: list[Job] = []
        self.keys: list[str] = []  # of the jobs: the same function, specialization and options in any other request
        self._known: dict[str, int] = {}

    def add(self, source: Any, target: Any, options: dict[str, Any]) -> int:
        key = f"{source.hash()} {sorted((name, str(value)) for name, value in options.items())}"
        if key not in self._known:
            if len(self.jobs) >= self.most:
                refuse("kernel launch", f"more than {self.most} kernels, counting configurations and specializations", "limit")
            self._known[key] = len(self.jobs)
            self.keys.append(hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest())
            self.jobs.append(Job(source, target, options))
        return self._known[key]


class Queued:
    """In place of a compiled kernel: launching it adds to the plan."""

    function = packed_metadata = None

    def __init__(self, job: int, source: Any, options: dict[str, Any], functions: describing.Functions) -> None:
        self._job, self._source, self._options, self._functions = job, source, options, functions

    def launch_metadata(self, *_: Any) -> None:
        return None

    def run(self, x: int, y: int, z: int, _stream: Any, _function: Any, _packed: Any, _metadata: Any, _enter: Any, _exit: Any,
            *values: Any) -> None:
        session = state.session()
        plan: Plan = session.sink
        grid = [int(x), int(y), int(z)]
        for value in values:
            make_ready(value)
        arguments = [parameter for (type_name, value) in zip(self._source.signature.values(), values)
                     for parameter in plan.argument(type_name, value)]
        if 0 in grid:  # Triton launches nothing
            return
        if min(grid) < 0 or grid[0] >= 1 << 31 or max(grid[1:]) >= 1 << 16:
            raise ValueError(f"a grid of {grid}: 1 to 2147483647 blocks in x, 1 to 65535 in y and z")
        plan.launch(self._job, grid, solution_line(sys._getframe()).get("line"), arguments,
                    self._functions.launch(plan, self._source.fn, values, self._options))
        for value in values:
            make_ready(value, lambda tensor: tensor.storage_.forget())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "result":
            raise AttributeError(name)
        refuse(f"CompiledKernel.{name}", "kernels are compiled after the host function has run")


def make_ready(value: Any, act: Callable[[Tensor], None] = lambda tensor: tensor.storage_.ready()) -> None:
    """Applies to every tensor in an argument."""
    if isinstance(value, Tensor):
        act(value)
    elif isinstance(value, (tuple, list)):
        for inner in value:
            make_ready(inner, act)
    elif isinstance(getattr(value, "base", None), Tensor):  # descriptors, reinterpreted tensors
        act(value.base)


def queueing_compile(jobs: Jobs) -> Callable[..., Queued]:
    def compile(src: Any, target: Any = None, options: Any = None, _env_vars: Any = None) -> Queued:
        from triton.compiler import ASTSource
        if not isinstance(src, ASTSource):
            refuse("triton.compile", "of something else than a @triton.jit function")
        options = dict(options or {})
        return Queued(jobs.add(src, target, options), src, options, jobs.functions)
    return compile


def guarded_run(original: Callable) -> Callable:
    """JITFunction.run, which refuses some options and addresses as numbers."""
    def run(self: Any, *arguments: Any, grid: Any, warmup: bool, **options: Any) -> Any:
        for name in REFUSED_OPTIONS:
            if options.get(name) and name not in self.arg_names:
                refuse(f"the option {name}", "the compiler's input and flags are the harness's")
        if warmup:
            refuse("JITFunction.warmup", "kernels are compiled after the host function has run; launch with kernel[grid](...), and choose the number "
                                         "of programs from torch.cuda.get_device_properties(device).multi_processor_count")
        for value in (*arguments, *options.values()):
            if isinstance(value, Address):
                refuse("kernel launch", "an address as a number holds for one call only; pass the tensor itself")
        return original(self, *arguments, grid=grid, warmup=False, **options)
    return run


# Autotuners.
def choice_of(tuner: Any) -> int:
    """This autotuner's place in the answer's list; entered when it is first used."""
    session = state.session()
    for index, (known, _) in enumerate(session.tuners):
        if known is tuner:
            return index
    name = tuner.base_fn.__name__
    taken = sum(1 for _, other in session.tuners if other == name)
    session.tuners.append((tuner, name))
    session.choices.append({"name": f"{name}#{taken + 1}" if taken else name,
                            "configurations": [named_values(config) for config in tuner.configs]})
    for config in tuner.configs:
        lint(tuner, config)
    lint_measuring(tuner)
    return len(session.choices) - 1


def named_values(config: Any) -> dict[str, Any]:
    values = {}
    for name, value in config.all_kwargs().items():
        plain = isinstance(value, (int, float, str)) or value is None
        values[str(name)] = value if plain and value == value else str(value)[:200]
    return values


def lint(tuner: Any, config: Any) -> None:
    code = tuner.base_fn.__code__
    for name in OVERRIDDEN:
        if name in config.kwargs and config.all_kwargs()[name] != config.kwargs[name]:
            state.session().find(code.co_filename, code.co_firstlineno,
                                 f"{name} inside a Config's dict has no effect: the configuration's own, {config.all_kwargs()[name]}, "
                                 f"overrides it; write triton.Config({{...}}, {name}={config.kwargs[name]})")


def lint_measuring(tuner: Any) -> None:
    """What Triton does around the calls that it measures, and in no other call; nothing is measured here."""
    code = tuner.base_fn.__code__
    given = {"reset_to_zero": bool(tuner.reset_to_zero), "restore_value": bool(tuner.restore_value),
             "pre_hook": tuner.user_defined_pre_hook, "post_hook": tuner.user_defined_post_hook}
    for name in (name for name, is_given in given.items() if is_given):
        state.session().find(code.co_filename, code.co_firstlineno,
                             f"{name} of triton.autotune acts only while Triton measures configurations, not in the calls after that, and "
                             "not here; what every call needs belongs in the host function or in a Config's pre_hook")


def wanted(tuner: Any, choice: int, kwargs: dict[str, Any]) -> list[int]:
    """Which configurations to record, by their places in the autotuner's own list."""
    session = state.session()
    if len(tuner.configs) > session.most_configurations:
        refuse("triton.autotune", f"{len(tuner.configs)} configurations; the limit is {session.most_configurations}", "limit")
    pruned = tuner.prune_configs(kwargs) if len(tuner.configs) > 1 else tuner.configs
    places = [place for config in pruned for place, other in enumerate(tuner.configs) if other is config]
    if len(places) < len(pruned):
        refuse("triton.autotune", "prune_configs_by makes configurations that the decorator does not list")
    if isinstance(session.configurations, dict):
        name = session.choices[choice]["name"]
        if name not in session.configurations:
            return places[:1]
        place = session.configurations[name]
        if not 0 <= place < len(tuner.configs):
            raise Failure("request", f"configurations: {name} has {len(tuner.configs)}, there is no {place}")
        return [place]
    return places[:1] if session.configurations == "first" else places


def one_configuration(tuner: Any, config: Any, arguments: tuple, kwargs: dict[str, Any]) -> Any:
    """What Autotuner.run does once it has chosen."""
    conflicts = kwargs.keys() & config.kwargs.keys()
    if conflicts:
        raise ValueError(f"Conflicting meta-parameters: {', '.join(conflicts)}. "
                         "Make sure that you don't re-define auto-tuned symbols.")
    if config.pre_hook is not None:
        config.pre_hook({**tuner.nargs, **kwargs, **config.all_kwargs()})
    return tuner.fn.run(*arguments, **kwargs, **config.all_kwargs())


def run_all(tuner: Any, *arguments: Any, **kwargs: Any) -> Any:
    """Autotuner.run for a plan: every configuration as an alternative."""
    session, plan = state.session(), state.session().sink
    tuner.nargs = dict(zip(tuner.arg_names, arguments))
    choice = choice_of(tuner)
    places = wanted(tuner, choice, kwargs)
    if session.choosing:
        refuse("triton.autotune", "inside an autotuned kernel's hook")
    for value in (*arguments, *kwargs.values()):
        make_ready(value)
    alternatives, result = [], None
    session.choosing = True
    try:
        for place in places:
            plan.into = []
            try:
                result = one_configuration(tuner, tuner.configs[place], arguments, kwargs)
                alternatives.append({"configuration": place, "ops": plan.into})
            except Exception as error:  # the others may do
                alternatives.append({"configuration": place, "error": failure_json(error)})
    finally:
        session.choosing, plan.into, tuner.nargs = False, plan.ops, None
    if all("error" in alternative for alternative in alternatives):
        first = alternatives[0]["error"]
        raise Failure(first.pop("kind"), first.pop("message"), **first)
    if any(alternative.get("ops") for alternative in alternatives):
        plan.add({"op": "choose", "choice": choice, "alternatives": alternatives})
    return result


def failure_json(error: Exception) -> dict[str, Any]:
    return (error if isinstance(error, Failure) else from_exception(error)).json()


def refuse_measuring() -> None:
    import triton.testing
    for name in ("do_bench", "do_bench_cudagraph", "perf_report", "Benchmark", "assert_close", "get_dram_gbps"):
        if hasattr(triton.testing, name):
            setattr(triton.testing, name, lambda *_, name=name, **__: refuse(f"triton.testing.{name}", "measuring is the harness's"))


def install(jobs: Jobs, arch: int) -> None:
    """For this process: launches of kernels are recorded from now on."""
    import triton
    import triton.compiler
    from triton.backends.compiler import GPUTarget
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.driver import driver
    from triton.runtime.jit import JITFunction
    driver.set_active(Driver(GPUTarget("cuda", arch, 32)))
    triton.compiler.compile = queueing_compile(jobs)
    triton.compile = triton.compiler.compile
    JITFunction.run = guarded_run(JITFunction.run)
    Autotuner.run = run_all
    refuse_measuring()
