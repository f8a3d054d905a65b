# SPDX-License-Identifier: Apache-2.0
"""What is shared while a solution runs: where its ops go, what was read, chosen and found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .storage import Storage

# An H100 SXM, where a request does not say otherwise. The names are PyTorch's.
H100 = {
    "name": "NVIDIA H100 80GB HBM3", "multi_processor_count": 132, "total_memory": 85_017_493_504, "L2_cache_size": 52_428_800,
    "warp_size": 32, "max_threads_per_multi_processor": 2048, "regs_per_multiprocessor": 65536,
    "shared_memory_per_block": 49152, "shared_memory_per_block_optin": 232_448, "shared_memory_per_multiprocessor": 233_472,
    "is_integrated": 0, "is_multi_gpu_board": 0, "gcnArchName": "",
}


@dataclass
class Session:
    sink: Any  # a plan that is recorded, or memory that is computed in
    device: dict[str, Any] = field(default_factory=lambda: dict(H100, major=9, minor=0))
    configurations: Any = "all"
    most_configurations: int = 64
    choosing: bool = False  # inside an alternative: what is written there is not known afterwards
    reads: dict[str, int] = field(default_factory=dict)
    choices: list[dict[str, Any]] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)
    tuners: list[tuple[Any, str]] = field(default_factory=list)  # autotuners that were used, with their functions' names

    def place(self, storage: Storage) -> None:
        self.sink.place(storage)

    def read(self, storage: Storage, count: int) -> None:
        if storage.counted:
            self.reads[storage.name] = self.reads.get(storage.name, 0) + count

    def find(self, file: str, line: int, message: str) -> None:
        finding = {"file": file, "line": line, "message": message}
        if finding not in self.findings and len(self.findings) < 100:
            self.findings.append(finding)


class NoPlan:
    """Before a workload begins: imports may allocate and compute on the host."""

    def place(self, storage: Storage) -> None:
        storage.address = 1 << 40

    def __getattr__(self, name: str) -> Any:
        from .errors import refuse
        refuse(name, "on the device while the module is imported")
