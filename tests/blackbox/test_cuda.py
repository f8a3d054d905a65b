# SPDX-License-Identifier: Apache-2.0
"""CUDA kernels on a machine with NVRTC and without a device: built, and not measured."""

import json
import pathlib
import shutil

import support

SUITE = pathlib.Path(__file__).resolve().parents[2] / "suites" / "nkibench-cuda"


class CudaWithoutADevice(support.TestCase):
    def setUp(self):
        super().setUp()
        self.need_tools("nvrtc", no_device=True)

    def evaluation(self, *arguments):
        finished = self.accelopt("eval", *arguments, "--device", "cuda:0", "--json")
        self.assertEqual(finished.code, 5, finished)
        return json.loads(finished.out.strip().splitlines()[-1])

    def test_a_baseline_is_built_and_not_measured(self):
        self.assertEqual(self.accelopt("lint", SUITE / "silu").code, 0)
        evaluation = self.evaluation(SUITE / "silu")
        self.assertEqual(evaluation["status"], "NOT_MEASURED", evaluation)
        self.assertIn("no CUDA driver", evaluation["reason"])
        self.assertTrue(any("registers a thread" in remark for remark in evaluation["profile"]["remarks"]), evaluation)
        said = self.accelopt("eval", SUITE / "silu", "--device", "cuda:0").out
        self.assertIn("trust: device-code\n", said)  # nothing was isolated, for nothing ran

    def test_a_kernel_that_does_not_build_says_where(self):
        kernel = self.folder / "wrong.cu"
        text = (SUITE / "silu" / "baseline.cu").read_text(encoding="utf-8")
        kernel.write_text(text.replace("expf(-x[i])", "expf(-z[i])"), encoding="utf-8")
        evaluation = self.evaluation(SUITE / "silu", kernel)
        self.assertEqual(evaluation["status"], "COMPILE_ERROR", evaluation)
        self.assertRegex(evaluation["reason"], r'^kernel\.cu:\d+:\d+: error: identifier "z" is undefined')
        kernel.write_text(text.replace("cdiv(M*N, 256)", "cdiv(M*P, 256)"), encoding="utf-8")
        self.assertIn('unknown name "P"', self.evaluation(SUITE / "silu", kernel)["reason"])

    def test_a_reference_for_the_processor_is_built(self):
        task = self.folder / "silu"
        shutil.copytree(SUITE / "silu", task)
        (task / "reference.cu").unlink()
        text = (support.SUITE / "silu" / "reference.cpp").read_text(encoding="utf-8")
        (task / "reference.cpp").write_text(text, encoding="utf-8")
        self.succeed("lint", task)
        self.assertEqual(self.evaluation(task)["status"], "NOT_MEASURED")
        (task / "reference.cpp").write_text(text.replace("std::exp(", "nothing("), encoding="utf-8")
        finished = self.accelopt("eval", task, "--device", "cuda:0", "--json")
        self.assertNotEqual(finished.code, 0, finished)
        self.assertRegex(finished.said, r"reference\.cpp:\d+:\d+: error: .*nothing")

    def test_a_reference_that_the_memory_does_not_hold_is_refused_at_once(self):
        task = self.folder / "silu"
        shutil.copytree(SUITE / "silu", task)
        (task / "reference.cu").unlink()
        shutil.copy(support.SUITE / "silu" / "reference.cpp", task)
        definition = (task / "task.toml").read_text(encoding="utf-8")
        (task / "task.toml").write_text(definition.replace("M = 4096, N = 7168", "M = 524288, N = 524288"), encoding="utf-8")
        finished = self.accelopt("eval", task, "--device", "cuda:0")
        self.assertEqual(finished.code, 1, finished)
        self.assertRegex(finished.said, r"reference\.cpp: on the processor, workload large takes about \d+ GiB of memory")


class TheWrongDevice(support.TestCase):
    def test_a_cuda_task_without_a_cuda_device_says_what_to_choose(self):
        finished = self.accelopt("eval", SUITE / "silu")
        self.assertEqual(finished.code, 1, finished)
        self.assertIn("the task is for target cuda, and what was chosen measures on cpu: choose --device cuda:0", finished.said)
        self.assertNotIn("worker --device", finished.said)


class ToolsOfNvidia(support.TestCase):
    def tool(self, *lines):
        path = self.folder / "a tool"
        path.write_text("\n".join(["#!/bin/sh", *lines]) + "\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    def check(self, value):
        self.environment["ACCELOPT_NCU"] = value
        self.environment["ACCELOPT_COMPUTE_SANITIZER"] = "off"
        finished = self.accelopt("doctor", "--json")
        return next(line for line in finished.lines if line["type"] == "check" and line["name"] == "nsight compute")

    def test_one_that_runs_is_told_with_its_version(self):
        path = self.tool('test -z "$ACCELOPT_NCU$BLACKBOX_KEY" || exit 1', "echo Version 7.5.1")
        self.environment["BLACKBOX_KEY"] = "secret"
        check = self.check(path)
        self.assertEqual((check["state"], check["detail"]), ("ok", "7.5.1, " + path))

    def test_one_that_fails_is_not_said_to_be_there(self):
        path = self.tool("printf 'no such \\033[31mtoolkit\\n' >&2", "exit 3")
        check = self.check(path)
        self.assertEqual(check["state"], "degraded", check)
        self.assertIn(f"{path} --version ended with exit code 3 and said: no such ?[31mtoolkit", check["detail"])

    def test_a_value_that_is_no_program_is_named(self):
        for value in ("ncu", "OFF", "/", "/nowhere/ncu", " " + self.tool("echo Version 1")):
            check = self.check(value)
            self.assertEqual(check["state"], "degraded", check)
            self.assertIn(f'ACCELOPT_NCU is "{value}", which names no program that can be run', check["detail"])


if __name__ == "__main__":
    support.main()
