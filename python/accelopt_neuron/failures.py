# SPDX-License-Identifier: Apache-2.0
"""What a failure of the vendor's package means: the kernel's fault, or the device's."""

from __future__ import annotations

import re
import traceback
from typing import Any

# NRT_STATUS of the runtime's nrt_status.h.
LOST = {6: "NRT_HW_ERROR", 13: "NRT_UNINITIALIZED", 14: "NRT_CLOSED", 101: "NRT_EXEC_UNIT_UNRECOVERABLE", 1200: "NRT_EXEC_HW_ERR_COLLECTIVES",
        1201: "NRT_EXEC_HW_ERR_HBM_UE", 1202: "NRT_EXEC_HW_ERR_NC_UE", 1203: "NRT_EXEC_HW_ERR_DMA_ABORT", 1205: "NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE"}
BUSY = {4: "NRT_RESOURCE", 9: "NRT_LOAD_NOT_ENOUGH_NC", 1005: "NRT_EXEC_NC_BUSY"}
STATUS = re.compile(r"(?:nrt\w*[^\n]{0,80}?|\bNRT_STATUS\b\W*)\b(?:status|error|code|returned)\W{0,10}(\d{1,4})\b", re.IGNORECASE)
MOST_TEXT = 4000


def told(text: str, statuses: dict[int, str]) -> str:
    """The status among these that the text names; empty: it names none of them."""
    for number, name in statuses.items():
        if name in text:
            return name
    return next((statuses[int(number)] for number in STATUS.findall(text) if int(number) in statuses), "")


def line_of(problem: BaseException, file: str) -> int:
    """The kernel's line that it stopped at; 0: it stopped elsewhere."""
    if isinstance(problem, SyntaxError) and problem.filename == file:
        return problem.lineno or 0
    lines = [frame.lineno or 0 for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == file]
    return lines[-1] if lines else 0


def failure(kind: str, problem: BaseException, file: str) -> dict[str, Any]:
    text = str(problem).strip() or type(problem).__name__
    named = text if type(problem).__name__ in ("Exception", "RuntimeError") or text.startswith("err_") else f"{type(problem).__name__}: {text}"
    return {"kind": kind, "message": named[:MOST_TEXT], "line": line_of(problem, file)}


def classified(problem: BaseException, compiled: bool, file: str) -> dict[str, Any]:
    """`compiled`: whether the compiler was done before. Kinds: compile, run, lost (the device), busy (somebody else has it)."""
    text = f"{problem}"
    for kind, statuses in (("lost", LOST), ("busy", BUSY)):
        if status := told(text, statuses):
            return {**failure(kind, problem, file), "status": status}
    return failure("run" if compiled else "compile", problem, file)
