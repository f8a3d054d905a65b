# SPDX-License-Identifier: Apache-2.0
"""Compiles kernels with Triton, one fork each, so many at a time."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import selectors
import signal
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any

from . import frames
from .errors import Failure, solution_files

PTXAS_CHARACTERS = 8192
STDERR_BYTES = 16384
CLOCK_FACTOR = 4  # limits count processor time; on a busy machine the clock may go this much further
METADATA = ("num_warps", "num_ctas", "shared", "global_scratch_size", "global_scratch_align", "profile_scratch_size",
            "profile_scratch_align", "launch_cooperative_grid", "launch_pdl", "tensordesc_meta", "name")


@dataclass
class Job:
    """A kernel to compile: one function, one specialization, one configuration."""

    source: Any
    target: Any
    options: dict[str, Any]


@dataclass
class Compiled:
    metadata: dict[str, Any]
    ptxas: str
    cubin: bytes


@dataclass
class Running:
    place: int
    pid: int
    pipe: int
    until: float
    data: bytearray = field(default_factory=bytearray)


def compile_all(jobs: list[Job], limits: dict[str, int], folder: str, shared_limit: int, deadline: float) -> list[Compiled | Failure]:
    """In the order of the jobs. What is not compiled by the deadline fails; the rest is kept."""
    results: list[Compiled | Failure | None] = [None] * len(jobs)
    waiting = list(range(len(jobs)))[::-1]
    running: dict[int, Running] = {}
    with selectors.DefaultSelector() as selector:
        while waiting or running:
            if time.monotonic() > deadline:
                for place in waiting:
                    results[place] = Failure("limit", f"not compiled within the request's {limits['wall_s']} s", call="wall_s")
                waiting.clear()
            while waiting and len(running) < limits["jobs"]:
                place = waiting.pop()
                child = start(jobs[place], place, limits, os.path.join(folder, f"{os.urandom(8).hex()}"), shared_limit, deadline)
                running[child.pipe] = child
                selector.register(child.pipe, selectors.EVENT_READ)
            soonest = min((child.until for child in running.values()), default=0.0)
            for key, _ in selector.select(max(0.0, min(soonest - time.monotonic(), 1.0))):
                child = running[key.fd]
                chunk = os.read(child.pipe, 1 << 20)
                child.data += chunk
                if not chunk or len(child.data) > limits["cubin_bytes"] + frames.MOST_JSON:
                    results[child.place] = reap(child, limits)
                    selector.unregister(child.pipe)
                    os.close(running.pop(child.pipe).pipe)
            for child in [child for child in running.values() if child.until <= time.monotonic()]:
                child.data.clear()
                results[child.place] = too_slow(child, limits)
                selector.unregister(child.pipe)
                os.close(running.pop(child.pipe).pipe)
    for job, result in zip(jobs, results):
        if isinstance(result, Failure):
            result.where = {**where(job), **result.where}
    return [result if result is not None else Failure("internal", "a kernel was not compiled") for result in results]


def start(job: Job, place: int, limits: dict[str, int], cache: str, shared_limit: int, deadline: float) -> Running:
    reader, writer = os.pipe()
    until = min(time.monotonic() + CLOCK_FACTOR * limits["compile_s"], deadline + 0.5)
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(reader)
            confine(limits["compile_s"], max(until - time.monotonic(), 0.1))
            frames.write_all(writer, compiled_frame(job, cache, shared_limit))
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    return Running(place, pid, reader, until)


def limit_time(seconds: float, clock_s: float) -> None:
    """Ends this process after so much processor time, or clock."""
    for number, timer, value in ((signal.SIGPROF, signal.ITIMER_PROF, seconds), (signal.SIGALRM, signal.ITIMER_REAL, clock_s)):
        signal.signal(number, signal.SIG_DFL)
        signal.setitimer(timer, value)


def confine(seconds: float, clock_s: float) -> None:
    """One kernel's share: it is enforced from within as well, where its parent may not kill."""
    with contextlib.suppress(OSError):
        os.setpgid(0, 0)
    limit_time(seconds, clock_s)
    with contextlib.suppress(OSError, ValueError):  # ptxas, which inherits this and no timer
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))


def reap(child: Running, limits: dict[str, int]) -> Compiled | Failure:
    _, status = os.waitpid(child.pid, 0)
    try:
        value, blobs = frames.unpacked(bytes(child.data), limits["cubin_bytes"])
        if "error" in value:
            return Failure(value["error"].pop("kind"), value["error"].pop("message"), **value["error"])
        return Compiled(value["metadata"], value["ptxas"], blobs[0])
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        pass
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if number in (signal.SIGALRM, signal.SIGPROF, signal.SIGXCPU):
        return slow(limits)
    how = f"by signal {signal.Signals(number).name}" if number else f"with status {os.waitstatus_to_exitcode(status)}"
    return Failure("crashed", f"Triton's compiler died {how}")


def slow(limits: dict[str, int]) -> Failure:
    return Failure("limit", f"compiling takes over {limits['compile_s']} s of processor time", call="compile_s")


def too_slow(child: Running, limits: dict[str, int]) -> Failure:
    for kill, number in ((os.killpg, child.pid), (os.kill, child.pid)):
        with contextlib.suppress(OSError):
            kill(number, signal.SIGKILL)
    os.waitpid(child.pid, 0)  # its own alarm ends it where kill is refused
    return slow(limits)


def compiled_frame(job: Job, cache: str, shared_limit: int) -> bytes:
    """In a process of its own: the result or the error, packed."""
    file = tempfile.TemporaryFile()  # in the private folder: files in memory are refused
    log = file.fileno()
    for descriptor in (1, 2):  # MLIR and LLVM write there
        os.dup2(log, descriptor)
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            kernel = compile_job(job, cache)
        metadata = {name: getattr(kernel.metadata, name, None) for name in METADATA}
        if metadata["shared"] > shared_limit:
            raise Failure("compile", f"the kernel {metadata['name']} needs {metadata['shared']} bytes of shared memory; a block has "
                          f"at most {shared_limit}")
        return frames.packed({"metadata": metadata, "ptxas": without_times(printed.getvalue())[:PTXAS_CHARACTERS]}, [kernel.asm["cubin"]])
    except BaseException as error:
        text = os.pread(log, STDERR_BYTES, 0).decode("utf-8", "replace")
        return frames.packed({"error": compile_failure(job, error, text).json()})


def compile_job(job: Job, cache: str) -> Any:
    from triton import knobs
    from triton.compiler.compiler import compile as triton_compile
    for name in [name for name in os.environ if name.startswith(("TRITON", "MLIR", "LLVM", "PTXAS"))]:
        del os.environ[name]
    knobs.cache.dir = cache  # nobody has known this folder before: nothing can be planted in it
    knobs.nvidia.dump_ptxas_log = True
    knobs.compilation.store_binary_only = True
    return triton_compile(job.source, target=job.target, options=job.options)


def without_times(text: str) -> str:
    """The same kernel gives the same text."""
    return "\n".join(line for line in text.strip().splitlines() if "Compile time" not in line)


def where(job: Job) -> dict[str, Any]:
    code = job.source.fn.fn.__code__
    return {"file": code.co_filename, "line": code.co_firstlineno, "call": job.source.fn.__name__}


def compile_failure(job: Job, error: BaseException, log: str) -> Failure:
    """Triton's error, cut to the solution's lines."""
    from triton.compiler.errors import CompilationError
    if isinstance(error, Failure):
        return error
    if isinstance(error, MemoryError) or "bad_alloc" in log:
        return Failure("limit", "compiling needs more memory than memory_bytes", call="memory_bytes")
    innermost = error
    while isinstance(innermost.__cause__, CompilationError):
        innermost = innermost.__cause__
    if isinstance(innermost, CompilationError):
        cause = innermost.__cause__
        message = innermost.error_message or (f"{type(cause).__name__}: {cause}" if cause else type(innermost).__name__)
        return Failure("compile", message, **line_of(job, innermost), text=str(innermost))
    lines = [line for line in log.splitlines() if line.startswith(tuple(solution_files)) or "error" in line]
    message = str(error).split("\n`ptxas` stderr", 1)[0].split("Repro command", 1)[0]
    ptxas = str(error).partition("`ptxas` stderr:\n")[2].partition("Repro command")[0]
    if lines:
        message = f"{lines[0]} ({message})"
    return Failure("compile", message or type(error).__name__, text=ptxas or "\n".join(lines) or None)


def line_of(job: Job, error: Any) -> dict[str, Any]:
    """Where in the solution's file: Triton counts from the function's def."""
    import gc
    from triton.runtime.jit import JITCallable
    for function in [job.source.fn] + [thing for thing in gc.get_objects() if isinstance(thing, JITCallable)]:
        if error.src is not None and function.src == error.src and hasattr(error.node, "lineno"):
            lead = next((i for i, line in enumerate(function.raw_src) if line.lstrip().startswith("def ")), 0)
            file = function.fn.__code__.co_filename
            if file in solution_files:
                return {"file": file, "line": function.starting_line_number + lead + error.node.lineno - 1}
    return {}
