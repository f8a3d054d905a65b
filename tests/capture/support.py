# SPDX-License-Identifier: Apache-2.0
"""A client of python/accelopt_capture, for tests: starts the server, asks it, and makes requests short to write."""

import base64
import json
import os
import pathlib
import struct
import subprocess
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "accelopt_capture"
ANSWER_S = 120


def site_packages():
    """The folder that has Triton: ACCELOPT_TRITON, or the project's own environment; none where neither has it."""
    folders = [pathlib.Path(os.environ["ACCELOPT_TRITON"])] if os.environ.get("ACCELOPT_TRITON") else []
    folders += sorted((ROOT / "build" / "python" / "lib").glob("python3*/site-packages"))
    return next((folder for folder in folders if (folder / "triton" / "_C").is_dir()), None)


def python():
    """One that can load the wheel: the environment's, which is the version that the wheel was fetched for."""
    own = ROOT / "build" / "python" / "bin" / "python"
    return str(own) if own.exists() and not os.environ.get("ACCELOPT_TRITON") else sys.executable


class Server:
    def __init__(self, *options, triton=None, wrapper=(), **environment):
        command = [*wrapper, python(), "-I", "-S", str(PACKAGE), "--triton", str(triton or site_packages()), *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **environment})
        self.first = json.loads(self.process.stdout.readline())
        self.ready = self.first.get("ready")
        self.count = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def line(self, text):
        """The answer to a line as it is."""
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the server ended with {self.process.wait()}")
        return json.loads(answer)

    def ask(self, **request):
        self.count += 1
        answer = self.line(json.dumps({"id": self.count, **request}))
        assert answer.pop("id") == self.count
        return answer

    def capture(self, source, inputs=(), outputs=(), **options):
        """Of one file and one workload."""
        return self.ask(**request(source, inputs, outputs, **options))

    def close(self):
        self.process.stdin.close()
        self.process.wait(ANSWER_S)
        self.process.stdout.close()


def request(source, inputs=(), outputs=(), op="capture", entry="run", **options):
    return {"op": op, "files": [{"name": "main.py", "content": source}], "entry": f"main.py::{entry}",
            "workloads": [{"name": "w", "inputs": list(inputs), "outputs": list(outputs)}], **options}


def tensor(name, *shape, dtype="float32", **more):
    return {"name": name, "dtype": dtype, "shape": list(shape), **more}


def scalar(name, value, dtype="float32"):
    return {"name": name, "dtype": dtype, "value": value}


def visible(name, values, dtype="int32"):
    data = struct.pack(f"<{len(values)}{'i' if dtype == 'int32' else 'q'}", *values)
    return tensor(name, len(values), dtype=dtype, visible=base64.b64encode(data).decode())


def now():
    return time.monotonic()


def main(module):
    """Runs a file's tests; without Triton says so and skips."""
    if site_packages() is None:
        print("skipped: no Triton in build/python (make fetch), and ACCELOPT_TRITON names no folder that has it")
        sys.exit(0)
    unittest.main(module)
