# SPDX-License-Identifier: Apache-2.0
"""python3 -I -B FOLDER-OF-THIS-PACKAGE FOLDER [RULES]: serves one request a line until its input ends. Tensors lie in FOLDER.
RULES, {"readable": [...], "writable": [...]}, are the files that it confines itself to before anything else."""

from __future__ import annotations

import json
import os
import pathlib
import platform
import sys
import traceback
from typing import Any

PACKAGE = pathlib.Path(__file__).resolve().parent


def shortened(problem: BaseException) -> str:
    """The exception and the lines that are not ours."""
    own = [line for line in traceback.format_exception(problem)[1:] if f'File "{PACKAGE}' not in line]
    return "".join(own)[-6000:].strip()


class Server:
    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.reference: Any = None
        self.solution: Any = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        from accelopt_torch.reference import Reference
        from accelopt_torch.solution import Solution

        operation = request["op"]
        if operation == "load_reference":
            self.reference = Reference(request["text"], request["name"])
        elif operation == "reference":
            self.reference.outputs(self.folder, request)
        elif operation == "load_solution":
            self.solution = Solution(self.folder / "solution", request["files"], request["function"])
            self.solution.fix(request["configurations"] or {})
        elif operation == "call":
            return {"microseconds": self.solution.call(self.folder, request)}
        else:
            raise ValueError(f"unknown operation {operation}")
        return {}


def device_of(torch: Any) -> tuple[str | None, str]:
    """The device's name; without one, what the driver says of that."""
    try:
        if torch.cuda.is_available():
            return torch.cuda.get_device_name(), ""
        torch.cuda.init()  # is_available keeps the reason to itself
    except Exception as problem:  # pylint: disable=broad-except
        return None, str(problem).splitlines()[0] if str(problem) else type(problem).__name__
    return None, ""


def main() -> None:
    # What a reference or a solution prints does not get between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path.insert(0, str(PACKAGE.parent))

    def send(answer: dict[str, Any]) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    if len(sys.argv) > 2:
        from accelopt_torch import landlock
        landlock.restrict(**json.loads(sys.argv[2]))

    from accelopt_torch import PROTOCOL
    try:
        import torch
    except Exception as problem:  # pylint: disable=broad-except
        send({"error": {"message": f"PyTorch does not start: {problem}"}})
        raise SystemExit(1) from None
    device, problem = device_of(torch)
    send({"ready": {"protocol": PROTOCOL, "torch": torch.__version__, "interpreter": platform.python_version(), "device": device,
                    "problem": problem}})
    from accelopt_torch.tensors import BadRequest

    server = Server(pathlib.Path(sys.argv[1]))
    for line in sys.stdin:
        request = json.loads(line)
        try:
            send({"id": request["id"], "ok": server.answer(request)})
        except BadRequest as problem:
            send({"id": request["id"], "error": {"message": str(problem)}})
        except BaseException as problem:  # pylint: disable=broad-except
            send({"id": request["id"], "error": {"message": shortened(problem)}})


main()
