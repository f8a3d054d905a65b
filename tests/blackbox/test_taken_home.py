# SPDX-License-Identifier: Apache-2.0
"""Winners as packages (`accelopt best --as`): each builds as its README says, without accelopt, and its test tells right from wrong. What
needs a GPU is in tests/gpu/taken_home.py."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import support

ROOT = pathlib.Path(__file__).resolve().parents[2]
CUDA = ROOT / "suites" / "nkibench-cuda"
RECORDED = ROOT / "examples" / "recorded" / "nkibench-cuda"
TRITON = ROOT / "suites" / "flashinfer-bench" / "rmsnorm_h128"
TOOLKITS = sorted(ROOT.glob("build/python/lib/python3*/site-packages/nvidia/cu13"))

TUNED = """
#include "task.h"
//@ tune STEP in {4}
//@ flags -funroll-loops
extern "C" void kernel(const float* x, float* y, int64_t N) {
  for (int64_t i = 0; i < N; i += STEP)
    for (int64_t k = i; k < i + STEP && k < N; ++k) y[k] = 2.0f * x[k] + y[k];
}
"""
INOUT = """
schema = 2
name = "axpy_in_place"
op_type = "axpy"
description = "y = 2 x + y"
target = "cpu"
[axes]
N = "var"
[[inputs]]
name = "x"
shape = ["N"]
dtype = "float32"
init = "normal(0, 1)"
[[inout]]
name = "y"
shape = ["N"]
dtype = "float32"
init = "normal(0, 1)"
[[workloads]]
name = "some"
axes = { N = 1000 }
role = "race"
weight = 1.0
[[workloads]]
name = "odd"
axes = { N = 37 }
role = "check"
[[workloads]]
name = "other"
axes = { N = 333 }
role = "held_out"
[cost]
flops = "2*N"
bytes = "12*N"
"""
REFERENCE = """
#include "task.h"
extern "C" void reference(const real* x, real* y, int64_t N) {
  for (int64_t i = 0; i < N; ++i) y[i] = 2 * x[i] + y[i];
}
"""


TANH = """
#include "task.h"
#include <math.h>
float fast_tanh(float v) { return tanhf(v); }
void kernel(const float* x, float* y, int64_t N) {
  for (int64_t i = 0; i < N; ++i) y[i] = fast_tanh(x[i]);
}
"""
TANH_REFERENCE = """
#include "task.h"
#include <cmath>
extern "C" void reference(const real* x, real* y, int64_t N) {
  for (int64_t i = 0; i < N; ++i) y[i] = std::tanh(x[i]);
}
"""
PROJECT = """
cmake_minimum_required(VERSION 3.16)
project(both LANGUAGES C CXX)
add_subdirectory(tanh)
add_subdirectory(silu)
add_executable(both main.cpp)
target_link_libraries(both PRIVATE fast_fast_tanh silu m)
"""
BOTH = """
#include "fast_fast_tanh.h"
#include "silu.h"
extern "C" float fast_tanh(float) { return 7; }
int main() {
  const float x[1] = {0};
  float y[1] = {1};
  fast_fast_tanh(x, y, 1);
  return y[0] != 0 || fast_tanh(1) != 7 || reinterpret_cast<void*>(&silu) == nullptr;
}
"""


class TakenHome(support.TestCase):
    def packed(self, form, *of, to="package"):
        folder = self.folder / to
        self.succeed("best", "--as", form, "--output", folder, *of)
        for file in folder.rglob("*"):
            if file.is_file():
                self.assertNotIn("accelopt", file.read_text(encoding="utf-8").lower(), file)
        return folder

    def tool(self, *words, code=0, cwd=None):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, cwd=cwd or self.folder, check=False, timeout=300,
                              env={"PATH": os.environ["PATH"], "HOME": str(self.folder)})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def built_and_tested(self, folder, code=0):
        """As README.md says."""
        if not shutil.which("cmake"):
            self.skipTest("no cmake")
        self.tool("cmake", "-B", "build", cwd=folder)
        self.tool("cmake", "--build", "build", cwd=folder)
        return self.tool("ctest", "--test-dir", "build", "--output-on-failure", "--verbose", cwd=folder, code=code)

    def test_a_run_s_winner(self):
        worker, run = support.program_folder() / "recorded_worker", RECORDED / "silu"
        if not worker.exists():
            self.skipTest(f"{worker} is not there; build the target recorded_worker")
        settings = json.loads((run / "measurements.json").read_text(encoding="utf-8"))["settings"]
        self.succeed("run", CUDA / "silu", "--workspace", self.workspace, "--replay", run / "answers", "--worker", f"{worker} {run}/measurements.json",
                     *[word for name, value in settings.items() for word in (f"--{name}", value)])
        folder = self.packed("torch", "--workspace", self.workspace)
        self.assertRegex((folder / "README.md").read_text(encoding="utf-8"), r"Confirmed 1.70x \[1.66, 1.75\] as fast as the baseline")
        self.assertIn("ld.global.nc.L1::no_allocate", (folder / "silu" / "kernels.cu").read_text(encoding="utf-8"))
        exported = self.folder / "trace"
        self.succeed("best", "--as", "flashinfer-trace", "--output", exported, "--workspace", self.workspace)
        self.assertEqual(len(list(exported.glob("solutions/*/*/silu/*.json"))), 1)
        self.assert_says(self.accelopt("best", "--as", "patch", "-o", "x", "--workspace", self.workspace), 1, r"no \[entry\]")
        self.assert_says(self.accelopt("best", "--as", "cpp", "-o", "x", "--workspace", self.workspace), 1, "cannot be written as cpp")

    def test_a_kernel_in_c_plus_plus(self):
        self.assertIn("passed", self.built_and_tested(self.packed("cpp", "--task", support.SUITE / "adamw")))

    def test_a_wrong_kernel_fails_the_package_s_test(self):
        folder = self.packed("cpp", "--task", support.SUITE / "silu")
        # Both have an inline function of that name, of which the linker would keep one.
        for source, value in ((folder / "silu.cpp", "1.001f"), (folder / "test/reference.cpp", "1.0f")):
            text = source.read_text(encoding="utf-8").replace("1.0f +", "one() +").replace("real(1) +", "one() +")
            text = text.replace('extern "C"', f'[[gnu::noinline]] inline float one() {{ return {value}; }}\nextern "C"')
            source.write_text(text, encoding="utf-8")
        self.assertIn("FAILED", self.built_and_tested(folder, code=8))

    def test_a_tuned_kernel_that_works_in_place(self):
        task = self.task(definition=INOUT, baseline=TUNED, reference=REFERENCE)
        folder = self.packed("cpp", "--task", task)
        self.assertIn("passed", self.built_and_tested(folder))
        self.assertIn("-funroll-loops", (folder / "CMakeLists.txt").read_text(encoding="utf-8"))
        self.assertIn("void axpy_in_place(const float* x, float* y, int64_t N);", (folder / "axpy_in_place.h").read_text(encoding="utf-8"))

    def test_names_that_others_have_and_two_packages_in_a_project(self):
        definition = INOUT.replace("axpy_in_place", "tanh").replace("[[inout]]", "[[outputs]]").replace('init = "normal(0, 1)"\n[[workloads]]', "[[workloads]]", 1)
        task = self.task(definition=definition, baseline=TANH, reference=TANH_REFERENCE)
        (task / "baseline.cpp").rename(task / "baseline.c")
        folder = self.packed("cpp", "--task", task, to="both/tanh")
        self.assertTrue((folder / "fast_fast_tanh.h").exists(), "tanh is the C library's, and fast_tanh the kernel's own")
        self.assertIn("passed", self.built_and_tested(folder))
        shutil.rmtree(folder / "build")
        self.packed("cpp", "--task", support.SUITE / "silu", to="both/silu")
        project = self.folder / "both"
        (project / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
        (project / "main.cpp").write_text(BOTH, encoding="utf-8")
        self.tool("cmake", "-B", "build", cwd=project)
        self.tool("cmake", "--build", "build", cwd=project)
        self.tool(project / "build" / "both")

    def launches(self, folder, call):
        """What the package's launcher asks of the driver."""
        (folder / "kernels.bin").write_bytes(b"?ELF")
        (header,) = folder.glob("*.h")
        (folder / "main.cpp").write_text(f'#include "{header.name}"\nint main() {{ return {header.stem}{call}; }}\n', encoding="utf-8")
        self.tool("g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f'-DKERNELS="{folder}/kernels.bin"', f"-I{folder}", f"-I{TOOLKITS[0]}/include",
                  "-o", folder / "main", folder / "main.cpp", folder / "launcher.cpp", "-x", "c++", "-Wno-unused-parameter",
                  ROOT / "tests" / "fakes" / "cuda" / "launch_log.cpp")
        return self.tool(folder / "main").splitlines()

    def need_cuda_headers(self):
        if not TOOLKITS:
            self.skipTest("no CUDA headers: make fetch")

    def test_launchers_launch_what_the_directives_say(self):
        self.need_cuda_headers()
        folder = self.packed("cuda", "--task", CUDA / "matmul", "--solution", RECORDED / "matmul" / "winner.cu", to="matmul")
        words = (folder / "task.cuh").read_text(encoding="utf-8").split()
        k, n = (int(words[words.index(axis) + 2].strip(",")) for axis in ("K", "N"))
        said = self.launches(folder, "(nullptr, (void*)4096, (void*)64, (void*)64, (void*)64, 1000)")
        self.assertEqual(said[0], "load ELF")
        self.assertIn(f"launch split {4 * 2 * (k // 64) + (k // 64) * (n // 192)} 1 1 / 512 1 1 / 98304 first 64", said)
        self.assertIn("launch matmul 132 1 1 / 384 1 1 / 206080 first 4096", said)
        self.assertIn("attribute matmul 8 206080", said)
        rounded = lambda size: (size + 255) // 256 * 256  # noqa: E731
        scratch = sum(rounded(4 * size) for size in (1024 * k, k * n, 1024 * k // 64, n // 192 * k // 64))
        self.assertEqual(self.launches(folder, f"_scratch_bytes(1000) != {scratch}"), [])

    def test_tensor_maps_and_clusters(self):
        self.need_cuda_headers()
        folder = self.packed("cuda", "--task", ROOT / "exploits" / "cuda" / "tasks" / "matmul", "--solution",
                             ROOT / "exploits" / "cuda" / "honest" / "multicast_in_a_cluster.cu", to="matmul")
        words = (folder / "task.cuh").read_text(encoding="utf-8").split()
        k, n = (int(words[words.index(axis) + 2].strip(",")) for axis in ("K", "N"))
        said = self.launches(folder, "(nullptr, nullptr, (void*)64, (void*)64, (void*)64, 100)")
        self.assertIn(f"cluster matmul {n // 32} 4 1 / 1 2 1", said)
        self.assertRegex("\n".join(said), rf"map 7 of 2: {n} {k} / {4 * n} / ")

    def test_kernels_and_tests_compile_with_nvcc(self):
        self.need_cuda_headers()
        nvcc = TOOLKITS[0] / "bin" / "nvcc"
        if not nvcc.exists():
            self.skipTest("no nvcc: make fetch")
        folder = self.packed("cuda", "--task", CUDA / "silu", "--solution", RECORDED / "silu" / "winner.cu")
        include = f"-I{TOOLKITS[0]}/include"
        self.tool(nvcc, "-cubin", "-std=c++20", "-arch=sm_90a", include, "-o", "kernels.cubin", "kernels.cu", cwd=folder)
        test = folder / "test"
        self.tool(nvcc, "-cubin", "-std=c++20", "-arch=sm_90a", include, "-DREAL=double", "-fmad=false", "-o", "reference.cubin", "reference.cu", cwd=test)
        self.tool("g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", include, test / "test.cpp", test / "reference_float.cpp",
                  '-DKERNELS="reference.cubin"', cwd=test)

    def test_operators_and_triton_are_python_that_compiles(self):
        for form, to, of in (("torch", "a", ("--task", CUDA / "adamw", "--solution", RECORDED / "adamw" / "winner.cu")),
                             ("torch", "b", ("--task", TRITON)), ("triton", "c", ("--task", TRITON))):
            folder = self.packed(form, *of, to=to)
            self.tool(sys.executable, "-m", "compileall", "-q", folder)
        self.assertIn("rmsnorm_h128(Tensor hidden_states, Tensor weight) -> Tensor", (self.folder / "b/README.md").read_text(encoding="utf-8"))

    def test_an_autotuned_kernel_keeps_the_measured_configuration(self):
        source = (TRITON / "baseline.py").read_text(encoding="utf-8")
        solution = self.file("tuned.py", source + "\n# accelopt configuration: 128 4\n")
        folder = self.packed("triton", "--task", TRITON, "--solution", solution)
        self.file("stand_in.py", """
import sys, types
class Config:
    def __init__(self, kwargs, num_warps): self.kwargs, self.num_warps, self.num_stages, self.num_ctas = kwargs, num_warps, 3, 1
class Tuned:
    configs = [Config({"BLOCK": block}, warps) for block in (64, 128) for warps in (2, 4)]
text = open(sys.argv[1]).read()
names = {"kernel": Tuned()}
exec(text[text.index("def _keep_configuration"):], names)
(kept,) = names["kernel"].configs
print(kept.kwargs, kept.num_warps)
""")
        self.assertEqual(self.tool(sys.executable, "stand_in.py", folder / "rmsnorm_h128.py"), "{'BLOCK': 128} 4\n")

    def test_several_autotuned_kernels_keep_theirs(self):
        """By the values alone where they tell the kernels apart, else by who is used first; values that fit nobody are refused."""
        source = (TRITON / "baseline.py").read_text(encoding="utf-8")
        stand_in = self.file("stand_in.py", """
import sys
class Config:
    def __init__(self, kwargs, num_warps): self.kwargs, self.num_warps, self.num_stages, self.num_ctas = kwargs, num_warps, 3, 1
class Tuned:
    def __init__(self, name, sizes): self.configs = [Config({name: size}, warps) for size in sizes for warps in (2, 4)]
    def run(self): return [(one.kwargs, one.num_warps) for one in self.configs]
class Wrapper:
    def __init__(self, fn): self.fn = fn
text = open(sys.argv[1]).read()
first, second = Tuned("BLOCK", (64, 128)), Tuned("BLOCK" if sys.argv[2] == "alike" else "TILE", (64, 128) if sys.argv[2] == "alike" else (16, 32))
exec(text[text.index("def _keep_configuration"):], {"second": Wrapper(second), "first": first})
if sys.argv[2] != "apart":
    print(*[one.run() for one in (second, first)], *[one.run() for one in (second, first)])
print(*[len(one.configs) for one in (first, second)], first.run(), second.run())
""")

        def kept(values, how):
            solution = self.file("tuned.py", source + f"\n# accelopt configuration: {values}\n")
            folder = self.packed("triton", "--task", TRITON, "--solution", solution, to=values.replace(" ", "-") + how)
            return subprocess.run([sys.executable, stand_in, folder / "rmsnorm_h128.py", how], capture_output=True, text=True, check=False, timeout=60)

        self.assertEqual(kept("128 4 16 2", "apart").stdout, "1 1 [({'BLOCK': 128}, 4)] [({'TILE': 16}, 2)]\n")
        used = "[({'BLOCK': 64}, 2)] [({'BLOCK': 128}, 4)]"
        self.assertEqual(kept("64 2 128 4", "alike").stdout, f"{used} {used}\n1 1 [({{'BLOCK': 128}}, 4)] [({{'BLOCK': 64}}, 2)]\n")
        wrong = kept("128 4 17 2", "apart")
        self.assertIn("are not those that were measured: [128, 4, 17, 2]", wrong.stderr)

    def test_what_cannot_be_is_refused_by_name(self):
        task = support.SUITE / "silu"
        self.assert_says(self.accelopt("best", "--as", "fortran", "-o", "x"), 2, "fortran: there is no such form; known are patch, cpp, cuda")
        self.assert_says(self.accelopt("best", "--as", "cpp", "--task", task), 2, "--as needs --output")
        self.assert_says(self.accelopt("best", "--task", task, "-o", "x"), 2, "--task needs --as")
        self.assert_says(self.accelopt("best", "--as", "torch", "-o", "x", "--task", task), 1, "cannot be written as torch; it can be as patch, cpp")
        self.assert_says(self.accelopt("best", "--as", "patch", "-o", "x", "--task", task), 2, "needs what a run confirmed")
        full = self.folder / "full"
        full.mkdir()
        (full / "mine").write_text("", encoding="utf-8")
        self.assert_says(self.accelopt("best", "--as", "cpp", "-o", full, "--task", task), 1, "is not empty; name another folder")
        opened = self.file("open.cu", (RECORDED / "silu" / "winner.cu").read_text(encoding="utf-8").replace("BLOCK in {128}", "BLOCK in {128, 256}"))
        self.assert_says(self.accelopt("best", "--as", "cuda", "-o", "x", "--task", CUDA / "silu", "--solution", opened), 1, "BLOCK has 2 values")


if __name__ == "__main__":
    support.main()
