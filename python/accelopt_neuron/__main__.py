# SPDX-License-Identifier: Apache-2.0
"""python3 -I -B FOLDER-OF-THIS-PACKAGE FOLDER [RULES]. RULES, {"readable": [...], "writable": [...]}, are the files that it confines itself to,
beside those of this Python, before it imports the vendor's package."""

from __future__ import annotations

import json
import os
import pathlib
import platform
import sys
from typing import Any

PACKAGE = pathlib.Path(__file__).resolve().parent


def confine(rules: dict[str, list[str]]) -> None:
    from accelopt_neuron import landlock
    own = [os.path.realpath(place) for place in sys.path if place]
    landlock.restrict(readable=rules["readable"] + own, writable=rules["writable"])


def machine() -> str:
    """The instance's type where it is one of Amazon's, "trn1.32xlarge"."""
    try:
        return pathlib.Path("/sys/devices/virtual/dmi/id/product_name").read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def answer(folder: pathlib.Path) -> dict[str, Any]:
    from accelopt_neuron import PROTOCOL
    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    if request["protocol"] != PROTOCOL:
        return {"error": {"kind": "setup", "message": f"a request of version {request['protocol']}", "line": 0}}
    try:
        import neuronxcc
        import numpy
        from neuronxcc import nki
    except Exception as problem:  # pylint: disable=broad-except
        return {"error": {"kind": "setup", "message": f"the vendor's package does not start: {problem}", "line": 0}}
    if not hasattr(nki, "baremetal"):
        return {"error": {"kind": "setup", "line": 0, "message": f"neuronxcc {getattr(neuronxcc, '__version__', '?')} has no nki.baremetal; SDK 2.25 to 2.29 have"}}
    if request["operation"] == "describe":
        return {"ok": {"neuronxcc": str(getattr(neuronxcc, "__version__", "?")), "numpy": numpy.__version__, "python": platform.python_version(),
                       "machine": machine()}}
    from accelopt_neuron import running
    return running.run(folder, request)


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    sys.path.insert(0, str(PACKAGE.parent))
    if len(sys.argv) > 2:
        confine(json.loads(sys.argv[2]))
    left = folder / "answer.json.part"
    left.write_text(json.dumps(answer(folder)), encoding="utf-8")
    left.rename(folder / "answer.json")
    sys.stdout.flush()
    os._exit(0)  # threads of the runtime do not keep the device


main()
