"""Compiles kernels and their launcher, once for an architecture, and opens the library."""

import ctypes
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

import torch


def cuda_home():
    """The folder of the CUDA toolkit."""
    from torch.utils.cpp_extension import CUDA_HOME
    found = shutil.which("nvcc")
    for home in (os.environ.get("CUDA_HOME"), CUDA_HOME, pathlib.Path(found).resolve().parents[1] if found else None, "/usr/local/cuda"):
        if home and (pathlib.Path(home) / "bin" / "nvcc").exists():
            return pathlib.Path(home)
    raise RuntimeError("nvcc is needed to compile the kernels: install the CUDA toolkit, or set CUDA_HOME to its folder")


def includes(home):
    return [folder for folder in (home / "include", home / "targets" / "x86_64-linux" / "include") if (folder / "cuda.h").exists()][:1]


def architecture():
    major, minor = torch.cuda.get_device_capability()
    return f"sm_{major}{minor}" + ("a" if major >= 9 else "")


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{words[0]} failed:\n{done.stderr or done.stdout}")


def place_of(name, texts):
    """Where what these texts make is kept. A folder of the user's own: what lies in it is loaded."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "cuda-kernels"
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    key = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
    return cache / f"{name}-{key}.so"


def library(name, source, launcher, flags):
    """The launcher's library with the kernels in it."""
    home, folder = cuda_home(), source.parent
    sources = [file.read_text(encoding="utf-8") for file in sorted(folder.iterdir()) if file.suffix in (".cu", ".cuh", ".cpp", ".h")]
    place = place_of(name, [architecture(), str(home), launcher.name, *flags, *sources])
    if not place.exists():
        with tempfile.TemporaryDirectory(dir=place.parent) as work:
            image, made = pathlib.Path(work) / "kernels.cubin", pathlib.Path(work) / place.name
            near = [f"-I{path}" for path in [*includes(home), folder]]
            run(home / "bin" / "nvcc", "-cubin", "-std=c++20", f"-arch={architecture()}", *near, *flags, "-o", image, source)
            run(os.environ.get("CXX", "c++"), "-std=c++17", "-O2", "-shared", "-fPIC", *near, f'-DKERNELS="{image}"', "-o", made, launcher)
            made.replace(place)
    ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)  # the launcher calls it
    return ctypes.CDLL(str(place))


def plain_library(name, source, flags):
    """A C or C++ file as a library."""
    folder = source.parent
    place = place_of(name, [*flags, *[file.read_text(encoding="utf-8") for file in sorted(folder.iterdir()) if file.suffix in (".c", ".cpp", ".h")]])
    if not place.exists():
        with tempfile.TemporaryDirectory(dir=place.parent) as work:
            made = pathlib.Path(work) / place.name
            run(os.environ.get("CXX", "c++"), "-O2", "-ffp-contract=off", "-shared", "-fPIC", *flags, "-o", made, source)
            made.replace(place)
    return ctypes.CDLL(str(place))
