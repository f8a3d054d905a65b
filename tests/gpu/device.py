# SPDX-License-Identifier: Apache-2.0
"""The device of this machine, for the tests beside this file; `python3 device.py` prints its compute capability."""

import ctypes
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "blackbox"))

TASK = ROOT / "suites" / "nkibench-cuda" / "silu"
PASSED_ON = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV")


def environment():
    """What a program needs of this one's environment to find driver and compiler."""
    return {name: os.environ[name] for name in PASSED_ON if name in os.environ}


def capability(test):
    """The compute capability, as in (9, 0); skips the test where there is no device."""
    # A process of its own: one that asked CUDA would itself be on the device.
    asked = subprocess.run([sys.executable, __file__], capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        test.skipTest((asked.stdout + asked.stderr).strip())
    return tuple(map(int, asked.stdout.split()))


def ask():
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as problem:
        raise SystemExit(f"no CUDA driver: {problem}") from None
    number, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    code = cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(number), 0)
    code = code or cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, number)
    code = code or cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, number)
    if code != 0:
        raise SystemExit(f"no CUDA device: CUDA error {code}")
    print(major.value, minor.value)


if __name__ == "__main__":
    ask()
