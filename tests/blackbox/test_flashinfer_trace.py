# SPDX-License-Identifier: Apache-2.0
"""A dataset of FlashInfer Trace in and out: imported, completed by hand, measured, searched, exported, imported again."""

import json
import struct

import support
from support import BASELINE, REFERENCE

MATMUL = {
    "name": "matmul_n96_k96", "op_type": "matmul", "description": "y = lhs @ rhs",
    "axes": {"M": {"type": "var"}, "N": {"type": "const", "value": 96}, "K": {"type": "const", "value": 96}},
    "inputs": {"lhs": {"shape": ["M", "K"], "dtype": "float32"}, "rhs": {"shape": ["K", "N"], "dtype": "float32"}},
    "outputs": {"y": {"shape": ["M", "N"], "dtype": "float32"}},
    "reference": "import torch\n\ndef run(lhs, rhs):\n    return lhs @ rhs\n",
}

SEGMENTS = {
    "name": "segment_sums", "op_type": "segment", "axes": {
        "len_indptr": {"type": "var"}, "segments": {"type": "var"}, "pool_size": {"type": "var"}, "picked": {"type": "var"}},
    "inputs": {"x": {"shape": ["pool_size"], "dtype": "float32"}, "indptr": {"shape": ["len_indptr"], "dtype": "int32"},
               "pool_indices": {"shape": ["picked"], "dtype": "int32"}, "scale": {"shape": None, "dtype": "float32"}},
    "outputs": {"sums": {"shape": ["segments"], "dtype": "float32"}, "chosen": {"shape": ["picked"], "dtype": "float32"}},
    "reference": "def run(x, indptr, pool_indices, scale):\n    return sums, x[pool_indices]\n",
    "constraints": ["len_indptr == segments + 1", "pool_size == indptr[-1].item()"],
}

# It relies on what the structure promises: offsets that do not decrease and end at `pool_size`, and indices below it.
SEGMENT_KERNEL = """\
#include "task.h"

extern "C" void kernel(const float* x, const int32_t* indptr, const int32_t* pool_indices, float scale, float* sums,
                       float* chosen, int64_t len_indptr, int64_t segments, int64_t pool_size, int64_t picked) {
  if (indptr[0] != 0 || indptr[len_indptr - 1] != pool_size) __builtin_trap();
  for (int64_t s = 0; s < segments; ++s) {
    if (indptr[s + 1] < indptr[s]) __builtin_trap();
    float sum = 0.0f;
    for (int64_t i = indptr[s]; i < indptr[s + 1]; ++i) sum += x[i];
    sums[s] = scale * sum;
  }
  for (int64_t i = 0; i < picked; ++i) chosen[i] = x[pool_indices[i]];
}
"""
SEGMENT_REFERENCE = """\
#include "task.h"

extern "C" void reference(const real* x, const int32_t* indptr, const int32_t* pool_indices, real scale, real* sums,
                          real* chosen, int64_t len_indptr, int64_t segments, int64_t pool_size, int64_t picked) {
  for (int64_t s = 0; s < segments; ++s) {
    sums[s] = 0;
    for (int64_t i = indptr[s]; i < indptr[s + 1]; ++i) sums[s] += scale * x[i];
  }
  for (int64_t i = 0; i < picked; ++i) chosen[i] = x[pool_indices[i]];
}
"""


def tensors(**values):
    """A safetensors file of int32 vectors."""
    header, data = {}, b""
    for name, numbers in values.items():
        begin, data = len(data), data + struct.pack(f"<{len(numbers)}i", *numbers)
        header[name] = {"dtype": "I32", "shape": [len(numbers)], "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


class FlashinferTrace(support.TestCase):
    def setUp(self):
        super().setUp()
        self.data, self.tasks = self.folder / "data", self.folder / "tasks"

    def put(self, name, content):
        path = self.data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content) if isinstance(content, bytes) else path.write_text(content, encoding="utf-8")

    def put_definition(self, definition, kernel, workloads):
        name = definition["name"]
        self.put(f"definitions/{definition['op_type']}/{name}.json", json.dumps(definition))
        self.put(f"solutions/hand/{definition['op_type']}/{name}/{name}_cpp.json", json.dumps(
            {"name": f"{name}_cpp", "definition": name, "author": "hand", "sources": [{"path": "kernel.cpp", "content": kernel}],
             "spec": {"language": "cpp", "target_hardware": ["CPU"], "entry_point": "kernel.cpp::kernel"}}))
        lines = [{"definition": name, "solution": None, "evaluation": None,
                  "workload": {"uuid": uuid, "axes": axes, "inputs": inputs}} for uuid, axes, inputs in workloads]
        self.put(f"workloads/{definition['op_type']}/{name}.jsonl", "\n".join(map(json.dumps, lines)))

    def import_all(self, *options, code=0):
        finished = self.accelopt("import", "flashinfer-trace", self.data, "--output", self.tasks, *options)
        self.assertEqual(finished.code, code, finished)
        return finished

    def test_structure_reaches_the_kernel(self):
        stored = {"type": "safetensors", "path": "blob/a.safetensors"}
        missing = {"type": "safetensors", "path": "blob/gone.safetensors"}
        inputs = lambda blob: {"x": {"type": "random"}, "indptr": {**blob, "tensor_key": "indptr"},
                               "pool_indices": {"type": "random"}, "scale": {"type": "scalar", "value": 0.5}}
        self.put("blob/a.safetensors", tensors(indptr=[0, 5, 5, 40, 41]))
        self.put_definition(SEGMENTS, SEGMENT_KERNEL, [
            ("stored-1", {"len_indptr": 5, "segments": 4, "pool_size": 41, "picked": 9}, inputs(stored)),
            ("drawn-01", {"len_indptr": 9, "segments": 8, "pool_size": 3000, "picked": 70}, inputs(missing)),
            ("broken-1", {"len_indptr": 9, "segments": 3, "pool_size": 30, "picked": 70}, inputs(missing))])
        said = self.import_all().out
        self.assertIn("2 of 3 workloads", said)
        self.assertIn('lost: workload broken-1: the constraint "len_indptr == segments + 1" does not hold', said)
        self.assertIn("indptr: its file is not in the dataset; drawn as indptr(pool_size)", said)
        self.assertIn("drawn as distinct(0, pool_size)", said)
        self.assertIn("to be filled in: reference.cpp", said)
        task = self.tasks / "segment_sums"
        unfinished = self.accelopt("lint", task)
        self.assertEqual(unfinished.code, 5, unfinished)
        self.assertIn('is not complete: #error "write what the Python below computes', unfinished.out)
        (task / "reference.cpp").write_text(SEGMENT_REFERENCE, encoding="utf-8")
        self.succeed("lint", task)
        passed = self.accelopt("eval", task)
        self.assertEqual(passed.code, 0, passed)
        self.assertIn("PASSED", passed.out)
        wrong = self.file("wrong.cpp", SEGMENT_KERNEL.replace("i < indptr[s + 1]; ++i", "i + 1 < indptr[s + 1]; ++i"))
        self.assertIn("INCORRECT_NUMERICAL", self.accelopt("eval", task, wrong).out)

    def test_nothing_is_written_through_a_link(self):
        self.put_definition(MATMUL, BASELINE, [("m", {"M": 13}, {"lhs": {"type": "random"}, "rhs": {"type": "random"}})])
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        (self.tasks / "matmul_n96_k96").mkdir(parents=True)
        (self.tasks / "matmul_n96_k96" / "solutions").symlink_to(elsewhere)
        said = self.import_all("--force", code=5).said
        self.assertIn("is a symbolic link", said)
        self.assertEqual(list(elsewhere.iterdir()), [])

    def test_a_dataset_runs_as_it_is(self):
        triton = {"name": "halves", "op_type": "elementwise", "axes": {"N": {"type": "var"}},
                  "inputs": {"x": {"shape": ["N"], "dtype": "float32"}}, "outputs": {"y": {"shape": ["N"], "dtype": "float32"}},
                  "reference": "def run(x):\n    return x * 0.5\n"}
        self.put("definitions/elementwise/halves.json", json.dumps(triton))
        self.put("solutions/hand/halves.json", json.dumps(
            {"name": "halves_triton", "definition": "halves", "author": "hand",
             "sources": [{"path": "main.py", "content": "def run(x, y):\n    pass\n"}],
             "spec": {"language": "triton", "target_hardware": ["H100"], "entry_point": "main.py::run"}}))
        self.put("workloads/halves.jsonl", json.dumps({"definition": "halves", "solution": None, "evaluation": None, "workload": {
            "uuid": "first", "axes": {"N": 64}, "inputs": {"x": {"type": "random"}}}}))
        self.put_definition(MATMUL, BASELINE, [("m", {"M": 13}, {"lhs": {"type": "random"}, "rhs": {"type": "random"}})])
        finished = self.accelopt("bench", self.data, "--workspace", self.workspace, *support.steady_worker(), "--iterations", 1)
        self.assertIn("left out: matmul_n96_k96: reference.cpp: what the operator computes", finished.err)
        # It is begun, for a worker that has no such device.
        self.assertRegex(finished.out, r"halves .*the task is for target triton")
        task = next(self.workspace.glob("datasets/*/halves"))
        self.assertEqual((task / "reference.py").read_text(encoding="utf-8"), triton["reference"])
        self.succeed("lint", task)

    def test_a_winner_goes_back(self):
        workloads = [(f"{m:08}-0000-4000-8000-000000000000", {"M": m}, {"lhs": {"type": "random"}, "rhs": {"type": "random"}})
                     for m in (48, 31, 13)]
        self.put_definition(MATMUL, BASELINE, workloads)
        self.import_all("--definition", "matmul_n96_k96")
        task = self.tasks / "matmul_n96_k96"
        (task / "reference.cpp").write_text(REFERENCE, encoding="utf-8")
        self.succeed("run", task, "--workspace", self.workspace, "--iterations", 1)
        exported = self.folder / "exported"
        said = self.succeed("export", "flashinfer-trace", "--workspace", self.workspace, "--output", exported).out
        self.assertIn("only accelopt runs it", said)
        name = said.split()[-1]
        solution = json.loads((exported / f"solutions/accelopt/matmul/matmul_n96_k96/{name}.json").read_text(encoding="utf-8"))
        self.assertEqual(solution["spec"]["language"], "cpp")
        traces = [json.loads(line) for line in (exported / "traces/accelopt/matmul/matmul_n96_k96.jsonl").read_text(encoding="utf-8").splitlines()]
        self.assertEqual({trace["workload"]["uuid"] for trace in traces}, {workloads[0][0], workloads[1][0]}, "those that were timed")
        for trace in traces:
            self.assertEqual((trace["solution"], trace["evaluation"]["status"]), (name, "PASSED"))
            self.assertGreater(trace["evaluation"]["performance"]["latency_ms"], 0)
            self.assertGreater(trace["evaluation"]["correctness"]["extra"]["speedup_over_baseline"]["estimate"], 1)
        record = json.loads((exported / "accelopt" / f"{name}.json").read_text(encoding="utf-8"))
        self.assertEqual((record["type"], record["outcome"]), ("result", "improved"))
        # What was exported is a dataset, whose fastest solution on record is the winner.
        self.data, self.tasks = exported, self.folder / "again"
        self.assertIn("3 of 3 workloads, 2 solutions", self.import_all().out)
        self.assertEqual((self.tasks / "matmul_n96_k96" / "baseline.cpp").read_text(encoding="utf-8"), solution["sources"][0]["content"])

    def test_what_cannot_be_had_is_said(self):
        self.put_definition(MATMUL, BASELINE, [("u", {"M": 3}, {})])
        self.put("definitions/bad.json", "{")
        self.put("definitions/fp4.json", json.dumps(MATMUL).replace("matmul_n96_k96", "fp4").replace("float32", "float4_e2m1", 1))
        finished = self.import_all(code=5)
        self.assertRegex(finished.out, r"refused: \S*bad\.json: bad: no JSON that can be read")
        self.assertIn("fp4: refused: input lhs: accelopt has no dtype float4_e2m1", finished.out)
        self.assertIn("1 of 2 definitions written", finished.out)
        self.import_all("--definition", "matmul_n96_k96", code=5)  # its folder holds a task now
        forced = self.import_all("--definition", "matmul_n96_k96", "--force")
        self.assertIn("refused, elsewhere in the data set: ", forced.out)
        self.assert_says(self.accelopt("import", "flashinfer-trace", self.data, "--output", self.tasks, "--definition", "matmul"), 1,
                         'no definition "matmul"')
        self.assert_says(self.accelopt("import", "flashinfer-trace", self.folder / "none", "--output", self.tasks), 1, "no such folder")
        self.assert_says(self.accelopt("import"), 2, "--help")
        self.assert_says(self.accelopt("export", "flashinfer-trace", "--output", self.folder / "x", "--workspace", self.workspace), 1,
                         "accelopt run")


if __name__ == "__main__":
    support.main()
