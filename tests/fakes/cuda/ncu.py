# SPDX-License-Identifier: Apache-2.0
"""Nsight Compute without a device: MODE LOG and the arguments of ncu. Runs the program and prints a row for every kernel
that it launched while the driver's profiler was on.

Modes: usual; refused (no permission); full (too little device memory at the first time); unknown (does not know the
metrics of matrix pipes, and names one at a time); strange (knows no metric, likewise); half (fails behind the first
kernel); hang; keep (hangs while the program runs in a session of its own); leave (ends there, and the program does not);
environment (logs the names of its variables); crash (says nothing).
"""

import os
import sys

import tool_support

VALUES = {
    "gpu__time_duration.sum": "12,345",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "41.5",
    "dram__bytes_read.sum": "1,048,576",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "n/a",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "62.25",
    "smsp__inst_executed.sum": "2,000",
    "sm__inst_executed_pipe_fma.sum": "1,000",
    "sm__inst_executed_pipe_lsu.sum": "250",
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": "6",
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio": "3",
    "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio": "1",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "32,000",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "1,000",
}
HEADER = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size",
          "Device", "CC"]


def row(cells: list[str]) -> None:
    print(",".join(f'"{cell}"' for cell in cells))


def profile(metrics: list[str], command: list[str], most: int | None) -> int:
    print("==PROF== Connected to process 4711 (/somewhere/accelopt-device)", flush=True)
    code, trace = tool_support.run(command)
    counted: list[str] = []
    on = False
    for line in trace:
        if line.startswith("profiler"):
            on = line.endswith("on")
        elif line.startswith("launch") and on:
            counted.append(line.split()[1])
    for number, kernel in enumerate(counted):
        print(f'==PROF== Profiling "{kernel}" - {number}: 0%....50%....100% - 8 passes')
    print("==PROF== Disconnected from process 4711")
    if code != 0:
        print(f"==ERROR== The application returned an error code ({code}).")
        return 1
    if not counted:
        print("==WARNING== No kernels were profiled.")
        return 0
    row(HEADER + metrics)
    row([""] * len(HEADER) + ["%"] * len(metrics))
    for number, kernel in enumerate(counted[:most]):
        row([str(number), "4711", "accelopt-device", "127.0.0.1", kernel, "1", "7", "(64, 1, 1)", "(47, 1, 1)", "0", "9.0"] +
            [VALUES.get(metric, "n/a") for metric in metrics])
    if most is not None and most < len(counted):
        print("==ERROR== The application returned an error code (11).")
        return 1
    return 0


def main() -> int:
    mode, log, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
    if arguments == ["--version"]:
        print("NVIDIA (R) Nsight Compute Command Line Profiler\nCopyright (c) 2018-2025 NVIDIA Corporation\n"
              "Version 2025.3.1.0 (build 36398880) (public-release)")
        return 0
    known, command = tool_support.options(arguments, {"--csv"})
    tool_support.log(log, " ".join(known[name] for name in ("--cache-control", "--clock-control", "--profile-from-start")))
    metrics = known["--metrics"].split(",")
    if mode == "hang":
        tool_support.hang()
    if mode in ("keep", "leave"):
        tool_support.log(log, str(tool_support.start_apart(command)))
        if mode == "keep":
            tool_support.hang()
        return 1
    if mode == "environment":
        for name in sorted(os.environ):
            tool_support.log(log, name)
        return 1
    if mode == "crash":
        return 134
    if mode == "full":
        with open(log, encoding="utf-8") as file:
            if len(file.readlines()) == 1:
                print("accelopt-device: allocating 12 MiB of device memory: CUDA_ERROR_OUT_OF_MEMORY: out of memory")
                return 1
    if mode == "refused":
        print("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on "
              "the target device 0.")
        return 1
    if mode in ("unknown", "strange"):
        for metric in metrics:
            if "tensor" in metric or mode == "strange":
                base = metric.split(".")[0]
                print(f"==ERROR== Failed to find metric regex:^{base}\\.(sum|min|max|avg|pct|ratio|max_rate)$")
                return 1
    return profile(metrics, command, 1 if mode == "half" else None)


if __name__ == "__main__":
    sys.exit(main())
