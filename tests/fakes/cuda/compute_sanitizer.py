# SPDX-License-Identifier: Apache-2.0
"""compute-sanitizer without a device: MODE LOG and the arguments of compute-sanitizer. Runs the program over the fake
driver with guarded memory; memcheck finds what a guard stopped, and is told of nothing.

Modes: usual; unsupported (no device that it knows); hang; initcheck, racecheck (that tool has a finding); warning
(racecheck warns); crash (the tool itself fails).
"""

import sys

import tool_support


def say(*lines: str) -> None:
    for line in lines:
        print("=========" + (" " + line if line else ""))


def summary(tool: str, errors: int) -> None:
    if tool == "racecheck":
        say(f"RACECHECK SUMMARY: {errors} hazards displayed ({errors} errors, 0 warnings)")
    else:
        say(f"ERROR SUMMARY: {errors} error{'' if errors == 1 else 's'}")


def found(tool: str, kernel: str) -> None:
    if tool == "memcheck":
        say("Invalid __global__ read of size 4 bytes", f"    at {kernel}(const float *, float *)+0x1b0 in /home/u/k.cu:7",
            "    by thread (55,0,0) in block (46,0,0)", "    Address 0x7f64b3a5dc00 is out of bounds",
            "    and is 1 bytes after the nearest allocation at 0x7f64b3a00000 of size 384,000 bytes",
            "    Saved host backtrace up to driver entry point at kernel launch time",
            "    Host Frame:main [0x4711]", "")
    elif tool == "initcheck":
        say("Uninitialized __global__ memory read of size 4 bytes", f"    at {kernel}+0x90",
            "    by thread (0,0,0) in block (0,0,0)", "    Address 0x7f64b3a00000", "")
    else:
        say(f"Error: Race reported between Write access at {kernel}+0x70", f"    and Read access at {kernel}+0x100 "
            "[128 hazards]", "")
    summary(tool, 1)


def main() -> int:
    mode, log, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
    if arguments == ["--version"]:
        print("NVIDIA (R) Compute Sanitizer\nCopyright (c) 2020-2025 NVIDIA Corporation\nVersion 2025.3.1")
        return 0
    known, command = tool_support.options(arguments, set())
    tool = known["--tool"]
    tool_support.log(log, tool)
    say("COMPUTE-SANITIZER")
    if mode == "hang":
        sys.stdout.flush()
        tool_support.hang()
    if mode == "unsupported":
        say("Error: Device not supported. Please refer to the \"Supported Devices\" section of the sanitizer documentation",
            "")
        return 1
    if mode == "crash":
        say("Internal Sanitizer Error: the tool gave up", "")
        return 1
    code, trace = tool_support.run(command, guard=True)
    kernels = [line.split()[1] for line in trace if line.startswith("launch")]
    own = [kernel for kernel in kernels if not kernel.startswith("accelopt_")]
    tool_support.log(log, "allocated " + " ".join(line.split()[1] for line in trace if line.startswith("alloc")))
    tool_support.log(log, "launched " + " ".join(kernels))
    if tool == "memcheck" and code == -11:
        found(tool, own[-1])
        return 1
    if code != 0:
        say("Error: Target application returned an error", "")
        summary(tool, 0)
        return 1
    if mode == tool:
        found(tool, own[-1])
        return 0
    if mode == "warning" and tool == "racecheck":
        say(f"Warning: Race reported between Write access at {own[-1]}+0x70", f"    and Read access at {own[-1]}+0x100 [2 "
            "hazards]", "", "RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)")
        return 0
    summary(tool, 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
