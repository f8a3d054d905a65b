# SPDX-License-Identifier: Apache-2.0
"""A SurrealDB engine behind its protocol (tests/fakes/surreal) for black-box tests, killed and started again on the same data."""

import os
import pathlib
import re
import shutil
import subprocess

import support

SERVER = support.ROOT / "tests/fakes/surreal/server.mjs"
PACKAGES = pathlib.Path(os.environ.get("ACCELOPT_SURREAL_PACKAGES", support.ROOT / "build/surreal"))
PASSWORD = "correct:horse battery"


def missing():
    """Why there is no engine here; nothing: there is one."""
    if shutil.which("node") is None:
        return "node is not installed"
    if not (PACKAGES / "node_modules/@surrealdb/node").is_dir():
        return f"the npm package @surrealdb/node is not in {PACKAGES} (make fetch fetches it)"
    return None


class SurrealServer:
    """On a port that is free at its first start, and the same one later."""

    def __init__(self, data):
        self.data, self.port, self.process = data, 0, None
        self.start()

    @property
    def address(self):
        return f"surreal://root@127.0.0.1:{self.port}/team/knowledge"

    def start(self):
        self.process = subprocess.Popen(
            ["node", SERVER, "--packages", PACKAGES, "--data", self.data, "--port", str(self.port), "--namespace", "team", "--database",
             "knowledge"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "SURREAL_PASS": PASSWORD})
        said = self.process.stdout.readline()
        if not re.fullmatch(r"listening \d+\n", said):
            raise AssertionError(f"the server said: {said!r}")
        self.port = int(re.search(r"\d+", said).group())

    def kill(self):
        """kill -9, unless it is dead."""
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process = None
