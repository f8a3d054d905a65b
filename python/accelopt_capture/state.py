# SPDX-License-Identifier: Apache-2.0
"""What the stand-in torch and the hooks in Triton share while a solution runs: one session per process."""

from __future__ import annotations

from typing import Any

_session: Any = None


def session() -> Any:
    """The session of this process. @error RuntimeError: no solution is being captured."""
    if _session is None:
        raise RuntimeError("no solution is being captured")
    return _session


def begin(session: Any) -> None:
    global _session
    _session = session
